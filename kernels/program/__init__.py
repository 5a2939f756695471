"""Vertex programs."""
