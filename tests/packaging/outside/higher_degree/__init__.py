"""An algorithm for graphdask, in a distribution of its own: how many neighbours of a vertex have a higher degree."""

from higher_degree.algorithm import HigherNeighbors, HigherNeighborsResult, higher_neighbors

__all__ = ["HigherNeighbors", "HigherNeighborsResult", "higher_neighbors"]
