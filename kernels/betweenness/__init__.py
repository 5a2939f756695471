"""Betweenness, by hops and by weight."""
