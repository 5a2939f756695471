"""Graphs that change: rows in place, batches, and PageRank that follows them."""
