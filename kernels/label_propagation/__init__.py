"""Label propagation (CDLP)."""
