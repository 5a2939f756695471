"""Kernels that call functions of the user, and what makes these."""
