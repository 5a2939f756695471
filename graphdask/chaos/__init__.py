"""Drills: calls on a real Dask cluster whose processes are killed and stopped meanwhile.

`graphdask chaos` runs them. A case is a cluster and some steps (`plan.py`), drawn from a seed and made small where it
fails as those of `graphdask fuzz` are (`graphdask/selftest/`).
"""
