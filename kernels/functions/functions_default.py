"""Twins of functions_default.cuh: what the kernels of functions.py and functions_walk.py call where the caller gave no
function, and what both share."""

from graphdask.kernels.common.hash import inlined

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


@inlined
def vertex_bias(names, base, vertex, degree, depth, instance, place, failure):
    return 1


@inlined
def neighbor_size(names, base, vertex, degree, depth, instance, place, random, failure):
    return -1


@inlined
def edge_bias(
    indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, row, slot, source,
    destination, previous, near, depth, instance, seed, failure,
):  # fmt: skip
    return 1


@inlined
def edge_bias_if(
    indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, row, slot, source,
    destination, previous, near, depth, instance, seed, assumed, failure,
):  # fmt: skip
    return 1


ASKS_NEAR = False


@inlined
def update(
    indptr, indices, weights, degrees, mapped, names, base, near_indptr, near_indices, edge, row, slot, source,
    destination, previous, near, depth, instance, seed, random, failure,
):  # fmt: skip
    return destination
