"""All hops of small instances in two launches: the same edges as hop by hop, however many instances a warp takes."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import device_backend, emulated, stand_in

import graphdask as gd
from graphdask.kernels.neighbors.hops_pack import NeighborHops, PlacedHops
from graphdask.sample.tuning import SAMPLE

N = 120
DEVICES = ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)]


def graph(weights=True):
    """Hubs, isolated vertices, parallel edges, and edges of bias 0."""
    rng = np.random.default_rng(11)
    src = np.concatenate([np.zeros(90, np.int64), rng.integers(0, N - 9, 700)])
    dst = rng.integers(0, N - 9, len(src))
    made = rng.integers(1, 7, len(src)) if weights else None
    return gd.from_edges(src, dst, made, num_vertices=N)


def shared_bytes(together, expanded, slots):
    """Shared memory that the four warps of a block need, as hops.cu lays it out: per lane 16 neighbours, and per
    instance the vertices that it expands, and slots of four bytes."""
    return 4 * (-(-((32 * 16 + together * expanded) * 4 + together * 4 * slots) // 8) * 8)


def pulled(device, found, seeds, fanouts, together, replace, method, numbers=None, kept=None):
    """What the kernels give for instances of one or more seeds, by rows that are read from the graph.

    With `numbers` of edges, these too, and what edges are called by `kept` places.
    """
    backend = device_backend(device)
    rows = [np.sort(found.dst[found.src == v]) for v in range(N)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    kernels, given = backend.kernels("hops", index_t=np.int32), backend.from_host
    sizes = [len(of_one) for of_one in seeds]
    bounds = None if set(sizes) == {1} else given(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    frontiers = max(sizes) * np.cumprod([1, *fanouts])
    expanded = int(frontiers[:-1].sum())
    slots = 2 * expanded * (len(fanouts) > 1)
    packed = np.uint64(sum(fanout << 8 * hop for hop, fanout in enumerate(fanouts)))
    n, most, hops = len(seeds), int(frontiers[1:].sum()), len(fanouts)
    src, dst, upto, starts = (given(np.full(n * each, -7, np.int32)) for each in (most, most, hops, hops))
    draws = NeighborHops(
        seeds=given(np.concatenate(seeds).astype(np.int32)), bounds=bounds, indptr=given(indptr),
        indices=given(np.concatenate(rows).astype(np.int32)), fanouts=packed, hops=hops, replace=replace, method=method,
        seed=np.uint64(5), together=together, places=expanded, slots=slots, most=most, src=src,
        dst=dst, upto=upto, starts=starts, counts=given(np.full(n, -7, np.int64)), placed=int(numbers is not None),
    )  # fmt: skip
    alike = kernels.hops_draw if numbers is None else kernels.hops_draw_places
    draw = alike if method < 0 else kernels.hops_draw_biased
    draw(n, 3, draws, per_item=32 // together, threads=128, shared=shared_bytes(together, expanded, slots))
    ends = np.cumsum(backend.to_host(draws.counts))
    out = [given(np.full(ends[-1], -7, dtype)) for dtype in (np.int32, np.int32, np.int32, np.int64)]
    placed = PlacedHops(
        hops=hops, together=together, most=most, src=src, dst=dst, upto=upto, starts=starts, ends=given(ends),
        out_src=out[0], out_dst=out[1], out_hop=out[2], out_instance=out[3],
    )  # fmt: skip
    if numbers is not None:
        out.append(given(np.full(ends[-1], -7, np.int64)))
        placed.assign(indices=draws.indices, kept=None if kept is None else given(kept), out_edge=out[-1])
        placed.assign(**{"rows" if numbers.dtype == np.int32 else "long_rows": given(numbers)})
    kernels.hops_place(n, 3, placed, per_item=32 // together)
    backend.synchronize()
    return [backend.to_host(column) for column in out]


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, 2, 8, 32])
@pytest.mark.parametrize("device", DEVICES)
def test_kernels_draw_what_goes_hop_by_hop(device, together):
    made = graph(weights=False).partition(1, device="cpu")
    everything = gd.sample.snowball(made, np.arange(N), 1)
    one, many = [[v] for v in range(0, N, 5)], [[7, 0], [], [N - 1], [3, 4, 5, 6]]
    for seeds, fanouts, options, number in (
        (one, [9, 3], {}, -1),
        (many, [2, 20], {}, -1),
        (one, [3, 0, 2], {}, -1),
        (many, [40], {"replace": True}, -1),
        (many, [3, 2, 2], {"method": "bipartite"}, 3),
    ):
        # three instances come before, for numbers of instances decide what is drawn
        expected = gd.sample.neighbors(made, [[1]] * 3 + seeds, fanouts, seed=5, **options)
        mine = expected.instance >= 3
        found = pulled(device, everything, seeds, fanouts, together, int("replace" in options), number)
        for name, column in zip(("src", "dst", "hop", "instance"), found, strict=True):
            np.testing.assert_array_equal(column, getattr(expected, name)[mine], err_msg=f"{name}, {fanouts}")
        with_rows = gd.sample.neighbors(made, [[1]] * 3 + seeds, fanouts, seed=5, edge_rows=True, **options)
        src, dst, _ = made.edges()
        order = np.lexsort((np.arange(len(src)), dst, src))  # parallel edges in the caller's order
        for numbers, kept in ((order.astype(np.int32), None), (np.sort(order), order)):
            again = pulled(
                device, everything, seeds, fanouts, together, int("replace" in options), number, numbers, kept
            )
            for column, of_vertex in zip(again[:4], found, strict=True):
                np.testing.assert_array_equal(column, of_vertex)
            np.testing.assert_array_equal(again[4], with_rows.edge[mine])


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_launch_after_launch_and_only_where_instances_are_small(device, monkeypatch, tuned):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    tuned(SAMPLE, edge_launch=60)
    on_cpu, on_gpu = (graph().partition(1, device=device) for device in ("cpu", "cuda"))
    seeds = np.arange(20)
    for fanouts, options, small in (
        ([4, 3], {"bias": "weight"}, True),
        ([4, 3], {"bias": "weight", "replace": True, "direction": "in"}, True),
        ([2, 2], {"bias": "degree", "seed": 2**63}, True),
        ([33], {}, False),
        ([-1, 1], {}, False),
        ([32, 32, 1], {}, False),
        ([1] * 9, {}, False),
        ([], {}, False),
    ):
        expected, found = (gd.sample.neighbors(of, seeds, fanouts, **options) for of in (on_cpu, on_gpu))
        assert (len(found.stats) < len(expected.stats)) == small, fanouts
        assert expected.stats.edges == found.stats.edges
        for name in ("src", "dst", "hop", "instance"):
            one, other = getattr(expected, name), getattr(found.verify(), name)
            np.testing.assert_array_equal(one, other, err_msg=f"{name}, {fanouts}, {options}")
            assert one.dtype == other.dtype
        expected, found = (
            gd.sample.neighbors(of, seeds, fanouts, edge_rows=True, **options) for of in (on_cpu, on_gpu)
        )
        assert (len(found.stats) < len(expected.stats)) == small, fanouts
        for name in ("src", "dst", "hop", "instance", "edge"):
            one, other = getattr(expected, name), getattr(found.verify(), name)
            np.testing.assert_array_equal(one, other, err_msg=f"{name} with rows, {fanouts}, {options}")
            assert one.dtype == other.dtype


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("kind", ["random", "first", "last", "steep", "steps"])
def test_where_a_number_is_among_sums_is_found_however_they_rise(device, kind, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    n, place = 5000, np.arange(5000)
    weights = {
        "random": np.random.default_rng(3).integers(1, 65, n), "first": np.where(place == 0, 10**9, 1),
        "last": np.where(place == n - 1, 10**9, 1), "steep": 1 + place**3,
        "steps": np.where(place % 1000 < 3, 10**6, 1),
    }[kind]  # fmt: skip
    star = gd.from_edges(np.zeros(n, np.int64), place + 1, weights.astype(np.int64), num_vertices=n + 1)
    on_cpu, on_gpu = (star.partition(1, device=of) for of in ("cpu", "cuda"))
    starts = np.zeros(200, np.int64)
    for call in (
        lambda G: gd.sample.neighbors(G, starts, [9], bias="weight", replace=True).dst,
        lambda G: gd.sample.neighbors(G, starts, [5], bias="weight").dst,
        lambda G: gd.sample.random_walk(G, starts, 1, bias="weight", method="inverse").walks,
        lambda G: gd.sample.random_walk(G, starts, 1, bias="weight", method="rejection").walks,
    ):
        np.testing.assert_array_equal(call(on_gpu), call(on_cpu))
