"""Results, statistics, BSP terms, and writing a graph's edges."""
