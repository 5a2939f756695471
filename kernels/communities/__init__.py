"""Louvain and Leiden."""
