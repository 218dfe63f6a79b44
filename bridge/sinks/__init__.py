"""Sinks: what the journal holds, carried to other programs and files."""
