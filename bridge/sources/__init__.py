"""Where moves are looked up before an engine is asked: books, tablebases, and sites that know positions."""
