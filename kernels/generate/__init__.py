"""Generators: preferential attachment, R-MAT, Erdos-Renyi."""
