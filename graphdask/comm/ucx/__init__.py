"""Ranks that exchange over UCX."""
