"""Lichess, and every server that speaks its API."""
