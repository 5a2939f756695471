"""What the kernels share: the comparison, twin of compared.cuh."""

from graphdask.kernels.common.twin import twin


@twin
def is_higher(one, other):
    return one > other
