"""Vertex programs: a user's functions translated for CPU and GPU, and the runs of them over a graph."""
