"""Edges as arrays and in blocks: always the same edges, never more memory than two blocks."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from edge_sets import GRAPHS, attached, counted, edges_of

import graphdask as gd
from graphdask.errors import InputError, OverBudget
from graphdask.partition.blocks import parse_size


@pytest.mark.parametrize("name", GRAPHS)
def test_all_edges_are_those_that_the_graph_was_made_of(name):
    known = GRAPHS[name]()
    assert edges_of(known.graph) == known.edges


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("size", [1024, "1MiB"])
def test_blocks_of_any_size_hold_the_same_edges(name, size):
    known = GRAPHS[name]()
    blocks = list(known.graph.edge_blocks(size, device="cpu"))
    assert all(len(block.src) for block in blocks)
    total = sum((counted(*block, known.graph.directed) for block in blocks), start=type(known.edges)())
    assert total == known.edges


def test_blocks_of_a_merged_graph_come_from_all_its_partitions():
    known = attached(200, 4, merge=True, p=0.2)
    parted = known.graph.partition(parts=3, device="cpu")
    assert edges_of(parted) == known.edges
    assert sum(len(block.src) for block in parted.edge_blocks(1024)) == known.edges.total()


def test_edges_stand_in_the_same_order_however_they_are_cut():
    G = gd.generate.preferential_attachment(500, degree=3)
    src, dst, _ = G.edges("cpu")
    for size in (1024, 3000):
        blocks = list(G.edge_blocks(size, device="cpu"))
        assert np.array_equal(np.concatenate([block.src for block in blocks]), src)
        assert np.array_equal(np.concatenate([block.dst for block in blocks]), dst)


def test_a_block_is_the_callers_own():
    G = gd.from_edges([0, 1], [1, 2], [1.0, 2.0])
    for block in G.edge_blocks(device="cpu"):
        block.src[:], block.weights[:] = 2, 0
    assert G.edges().src.tolist() == [0, 1]
    assert G.edges().weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("start", [0, 7])
@pytest.mark.usefixtures("alone")
def test_two_blocks_at_most_are_in_memory(start):
    size = 4 << 20
    G = gd.generate.preferential_attachment(1_000_000, degree=4)
    if start:  # ids that have to be translated
        ids = np.arange(start, 1_000_000, dtype=np.int64)
        G = gd.from_edges(ids[:-1], ids[1:])
    next(G.edge_blocks(1024, device="cpu"))  # what is loaded once
    tracemalloc.start()
    count = 0
    for block in G.edge_blocks(size, device="cpu"):
        count += len(block.src)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == G.num_edges
    assert peak < 2.4 * size


def test_a_graph_of_a_trillion_vertices_is_iterated_over_without_making_it():
    blocks = gd.generate.preferential_attachment(2**40, degree=4, seed=1).edge_blocks("1MiB", device="cpu")
    first, second = next(blocks), next(blocks)
    assert first.src.dtype == np.int64
    assert first.src.nbytes + first.dst.nbytes <= 2**20 + 64
    assert first.src[-1] <= second.src[0] <= first.src[-1] + 1
    assert (second.dst < second.src).all()


@pytest.mark.parametrize("size", [0, -1, 100, True, None, "much", "12 parsecs", float("nan"), [1]])
def test_a_size_that_is_none_is_refused_before_any_work(size):
    with pytest.raises(InputError, match="max_bytes"):
        gd.from_edges([0], [1]).edge_blocks(size)


def test_a_size_is_a_number_or_has_a_unit():
    assert parse_size("1MiB", "x") == parse_size(2**20, "x") == 2**20


def test_an_unknown_device_is_refused_before_any_work():
    with pytest.raises(InputError, match="device='tpu'"):
        gd.from_edges([0], [1]).edge_blocks(device="tpu")


def test_arrays_that_do_not_fit_are_refused_with_what_does(free_memory):
    free_memory(1 << 20)
    with pytest.raises(OverBudget, match=r"400,000 edges need .* GiB.*edge_blocks\(\)"):
        gd.from_edges(np.arange(400_000), np.arange(400_000)).edges()


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in GRAPHS if "names" not in name])
def test_a_gpu_gives_the_same_edges(name):
    known = GRAPHS[name]()
    src, dst, weights = known.graph.edges("cuda")
    if len(src):
        assert type(src).__module__.startswith("cupy")
    host = [None if array is None else array.get() for array in (src, dst, weights)]
    assert counted(*host, known.graph.directed) == known.edges
    assert edges_of(known.graph) == counted(*known.graph.edges("auto"), known.graph.directed)


@pytest.mark.gpu
def test_names_are_refused_on_a_gpu():
    with pytest.raises(InputError, match="strings"):
        gd.from_edges(["a"], ["b"]).edges("cuda")
