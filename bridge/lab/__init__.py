"""The laboratory: engine against engine under KiriChess rules, and what can be concluded from it."""
