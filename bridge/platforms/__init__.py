"""Adapters of chess sites; none imports another."""
