"""PageRank: sums of rows, and rows in bins and slices."""
