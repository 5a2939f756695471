"""Ranks that exchange over TCP."""
