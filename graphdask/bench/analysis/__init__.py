"""The parts of `graphdask bench analytics`: graphs, algorithms, timing, other libraries, the GAP suite."""
