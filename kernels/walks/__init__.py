"""Random walks, their check, and frontier sampling."""
