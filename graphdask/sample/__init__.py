"""Sampling and random walks: `gd.sample`."""
