"""Twins of functions_default.cuh: what the kernels of functions.py call where the caller gave no function."""

from graphdask.kernels.hash import inlined


@inlined
def vertex_bias(vertex, degree, depth, instance, place, failure):
    return 1


@inlined
def neighbor_size(vertex, degree, depth, instance, place, random, failure):
    return -1


@inlined
def edge_bias(
    indptr, indices, weights, degrees, mapped, edge, row, slot, source, destination, previous, depth, instance, seed,
    failure,
):  # fmt: skip
    return 1


@inlined
def update(
    indptr, indices, weights, degrees, mapped, edge, row, slot, source, destination, previous, depth, instance, seed,
    random, failure,
):  # fmt: skip
    return destination
