"""Edges between vertices of sets against plain Python: rows of all lengths, marks of each set and of all together."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from kernel_launch import Packed, rows_of_all_lengths

import graphdask as gd
from graphdask.kernels.subgraphs.selected_pack import SelectedEdges
from graphdask.subgraphs.tuning import SUBGRAPHS


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(("undirected", "named"), [(False, True), (True, False), (True, True)])
def test_edges_are_those_of_plain_python(backend, dtype, rng, apart, undirected, named):
    slots = 700
    names = rng.permutation(slots) if named else np.arange(slots)
    indptr, indices = rows_of_all_lengths(rng, dtype, slots)
    for row in range(len(indptr) - 1):
        some = slice(indptr[row], indptr[row + 1])
        indices[some] = sorted(indices[some], key=lambda slot: names[slot])
    owned, words = len(indptr) - 1, -(-slots // 32)
    sets = [sorted(rng.choice(slots, size, replace=False).tolist()) for size in (0, 1, 300, 0, 60, slots)]
    slot_of = np.argsort(names)
    known = rng.random(slots) < 0.9
    items = [(k, id_) for k, ids in enumerate(sets) for id_ in ids if slot_of[id_] < owned]
    expected = [
        (k, id_, int(names[indices[place]]), place)
        for k, id_ in items
        for place in range(indptr[slot_of[id_]], indptr[slot_of[id_] + 1])
        if names[indices[place]] in sets[k] and (not undirected or id_ <= names[indices[place]])
    ]
    # a member without a slot here is one to which no edge leads; the rows keep theirs
    known[indices] = True
    members = np.concatenate([np.array(each, dtype) for each in sets])
    marked = np.where(known[slot_of[members]], slot_of[members], -1).astype(dtype)
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in sets])]).astype(np.int64)
    d = Packed(
        backend, SelectedEdges, indptr=indptr, indices=indices, named=int(named),
        names=names.astype(dtype) if named else np.zeros(0, dtype), undirected=int(undirected), marked=marked,
        marked_set=np.repeat(np.arange(len(sets)), np.diff(bounds)),
        marks=np.zeros(words * (len(sets) if apart else 1), np.uint32), stride=words if apart else 0,
        searched=int(not apart), members=members, bounds=bounds, items=len(items),
        rows=np.array([slot_of[id_] for _, id_ in items], dtype), ids=np.array([id_ for _, id_ in items], dtype),
        sets=np.array([k for k, _ in items], np.int64), begins=np.zeros(len(items), np.int64),
        ends=np.zeros(len(items), np.int64),
    )  # fmt: skip
    kernels, found = backend.kernels("selected", index_t=dtype), []
    kernels.selected_mark(len(members), d.pack)
    kernels.selected_rows(len(items), d.pack)
    d.pack.ends = backend.from_host(np.cumsum(d.host("ends")))
    last = -(-int(d.host("ends")[-1]) // 256)
    for first in range(0, last, 31):
        tiles = min(31, last - first)
        some = {"masks": np.full(tiles * 8, 7, np.uint32), "counts": np.full(tiles, 7, np.int32)}
        d.pack.assign(first=first, placed=1, **{name: backend.from_host(array) for name, array in some.items()})
        kernels.selected_count(tiles, d.pack)
        upto = np.cumsum(d.host("counts"), dtype=np.int64)
        types = {"src": dtype, "dst": dtype, "instance": np.int64, "places": np.int64}
        out = {name: backend.from_host(np.full(upto[-1], -1, kind)) for name, kind in types.items()}
        d.pack.assign(upto=backend.from_host(upto), **out)
        kernels.selected_write(tiles, d.pack)
        found += zip(*(d.host(name).tolist() for name in ("instance", "src", "dst", "places")), strict=True)
    assert found == expected


def expected_edges(graph, src, dst, sets):
    rows = [
        (k, *sorted((u, v)), row) if not graph.directed else (k, u, v, row)
        for k, members in enumerate(map(set, sets))
        for row, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True))
        if u in members and v in members
    ]
    return sorted(rows)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("words", "tiles"), [(0, 1 << 22), (1 << 26, 1), (8, 2)])
def test_sets_that_overlap_are_taken_apart_or_together(monkeypatch, rng, device, directed, words, tiles, tuned):
    tuned(SUBGRAPHS, marks=words, tiles=tiles)
    if device == "cuda":
        stand_in(monkeypatch, emulated())
    n = 60
    src, dst = rng.integers(0, n, (2, 900)) ** 2 // n
    src[:40], dst[40:80] = 3, 3
    sets = [rng.choice(n, size, replace=False) for size in (0, 7, n, 0, 20, 20)] + [np.array([], int)]
    graph = gd.from_edges(src, dst, rng.random(900), num_vertices=n, directed=directed)
    wanted, first = expected_edges(graph, src, dst, sets), None
    for parts, by in ((1, "range"), (1, "random"), (2, "random"), (3, "range"), (4, "random"), (7, "random")):
        if device == "cuda" and parts in (2, 4):
            continue
        s = gd.subgraph(graph.partition(parts, by, device=device), sets, edge_rows=True)
        found = [s.instance, s.src, s.dst, s.edge]
        assert sorted(zip(*(each.tolist() for each in found), strict=True)) == wanted
        found.append(s.weight)
        first = first or found
        for a, b in zip(found, first, strict=True):
            np.testing.assert_array_equal(a, b)
    s.verify()
