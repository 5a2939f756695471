"""Choosing by bias: selection without replacement, alias tables, keys."""
