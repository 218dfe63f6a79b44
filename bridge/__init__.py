"""KiriChess on ordinary chess sites: rules, referee, bot and local arena."""
