"""Graphs whose edges change in batches."""
