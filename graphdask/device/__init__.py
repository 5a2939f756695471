"""Devices: arrays and kernels of a CPU or a GPU, launching, compiling, and the memory of both."""
