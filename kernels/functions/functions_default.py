"""Twins of functions_default.cuh: what the kernels of functions.py and functions_walk.py call where the caller gave no
function, and what both share."""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.functions.functions_pack import FunctionGraph, Names

MACROS = [
    {"index_t": index, "weight_t": weight, "bias_t": bias}
    for index, weight, bias in (
        ("int", "int", "long long"),
        ("int", "float", "double"),
        ("int", "double", "double"),
        ("long long", "long long", "long long"),
        ("long long", "double", "double"),
    )
]
"""What the kernels are compiled for."""

HAS_VERTEX_BIAS = HAS_UPDATE = False
"""Whether there is a function of the caller: functions/inserted.py says so where there is one."""
gd_how = 0
"""How edges are drawn, UNIFORM where there is no function: a number for which kernels are compiled, as in CUDA C++."""


@twin
def vertex_bias(vertex, degree, depth, instance, place, failure, a: Names):
    return 1


@twin
def neighbor_size(vertex, degree, depth, instance, place, random, failure, a: Names):
    return -1


@twin
def edge_bias(edge, row, slot, source, destination, previous, near, depth, instance, seed, failure, a: FunctionGraph):
    return 1


@twin
def edge_bias_if(
    edge, row, slot, source, destination, previous, depth, instance, seed, assumed, failure, a: FunctionGraph
):
    return 1


ASKS_NEAR = False


@twin
def update(edge, row, slot, source, destination, previous, near, depth, instance, seed, random, a: FunctionGraph):
    return destination
