"""Games and verdicts as text: PGN, Lichess exports, game records, verdicts, tables."""
