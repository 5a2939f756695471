"""Layered edge lists of graphs larger than memory."""
