"""What kernels of several families share: rows, scans, hashes, random numbers, the grid, teams of GPUs, twins."""
