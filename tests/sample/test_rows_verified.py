"""`verify` proves the rows of sampled edges against what the graph was made of, and finds one that is another's."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import VerificationError

S = gd.sample
N, M = 40, 300
RNG = np.random.default_rng(5)
SRC, DST, WEIGHTS = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(0, 4, M)
SRC[50:60], DST[50:60], WEIGHTS[50:60] = 3, 4, np.arange(10) + 1  # parallel ones
WEIGHTS[7] = 0
SEEDS = np.arange(N)
SAMPLERS = {
    "neighbors": lambda G, **how: S.neighbors(G, SEEDS, [4, 2], edge_rows=True, **how),
    "in-neighbors by weight": lambda G, **how: S.neighbors(
        G, SEEDS, [3, 2], bias="weight", direction="in", edge_rows=True, **how
    ),
    "walk": lambda G, **how: S.random_walk(G, SEEDS, 6, edge_rows=True, **how),
    "walk by weight": lambda G, **how: S.random_walk(G, SEEDS, 6, bias="weight", edge_rows=True, **how),
    "restart": lambda G, **how: S.random_walk_with_restart(G, SEEDS, 6, 0.3, edge_rows=True, **how),
    "jump": lambda G, **how: S.random_walk_with_jump(G, SEEDS, 6, 0.3, edge_rows=True, **how),
    "node2vec": lambda G, **how: S.node2vec(G, SEEDS, 6, p=0.5, q=2, edge_rows=True, **how),
    "metapath": lambda G, **how: S.metapath_walk(G, SEEDS, 6, metapath=[1, 2], edge_rows=True, **how),
    "layer": lambda G, **how: S.layer(G, SEEDS, [3, 2], **how).with_edges(),
    "frontier": lambda G, **how: S.frontier_sampling(G, [list(range(5))] * 4, 20, **how).with_edges(),
    "edges": lambda G, **how: S.random_edges(G, 50, **how).with_edges(),
    "saint": lambda G, **how: S.saint_walks(G, 3, 4, instances=5, **how).with_edges(),
}


def graph(parts, directed=True, by="range"):
    return gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed).partition(parts, by=by)


def rows_of(s):
    """The columns of the worker that has most rows."""
    return max((kept.columns for kept in s.parts.values), key=lambda columns: int((columns["edge"] >= 0).sum()))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_row_of_another_edge_is_found(name, directed):
    for parts, placement in ((1, "replicated"), (3, "partitioned")):
        s = SAMPLERS[name](graph(parts, directed, "range" if parts == 1 else "random"), placement=placement)
        s.verify()
        edge = rows_of(s)["edge"]
        place = tuple(axis[0] for axis in np.nonzero(edge >= 0))
        was = int(edge[place])
        pair = {int(SRC[was]), int(DST[was])}
        other = next(row for row in range(M) if {int(SRC[row]), int(DST[row])} != pair)
        for wrong, message in (
            (other, rf"has no edge from \w+ to \w+ in row {other}"),
            (M, "has a row that what the caller gave has not"),
            (-5, "has a row that what the caller gave has not"),
        ):
            edge[place] = wrong
            with pytest.raises(VerificationError, match=message):
                s.verify()
        edge[place] = was
        s.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_a_row_that_is_missing_or_given_for_nothing_is_found(parts):
    s = SAMPLERS["walk"](graph(parts), placement="partitioned")
    edge = rows_of(s)["edge"]
    was = int(edge[0, 0])
    edge[0, 0] = -1
    with pytest.raises(VerificationError, match="has no row"):
        s.verify()
    edge[0, 0] = was
    walks = gd.sample.random_walk(gd.from_edges([0, 1], [1, 2]), [0, 1], 3, edge_rows=True)
    assert walks.edge.tolist() == [[0, 1, -1], [1, -1, -1]]
    rows_of(walks)["edge"][1, 2] = 0
    with pytest.raises(VerificationError, match="a row is given where no edge was taken"):
        walks.verify()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["neighbors", "edges", "saint", "layer"])
def test_a_row_given_for_two_parallel_edges_is_found(name, parts):
    G = gd.from_edges([0, 0, 0, 1], [1, 1, 1, 2], num_vertices=3).partition(parts)
    s = {
        "neighbors": lambda: S.neighbors(G, [0], [3], edge_rows=True, placement="partitioned"),
        "edges": lambda: S.random_edges(G, 4, placement="partitioned").with_edges(),
        "saint": lambda: S.saint_walks(G, 9, 2, placement="partitioned").with_edges(),
        "layer": lambda: S.layer(G, [0], [3], placement="partitioned").with_edges(),
    }[name]().verify()
    columns = rows_of(s)
    columns["edge"][columns["edge"] == 2] = 1
    with pytest.raises(VerificationError, match="row 1 is given twice in one draw"):
        s.verify()


def test_a_parallel_edge_of_weight_0_or_of_another_type_is_found():
    G = gd.from_edges([0, 0, 1, 1], [1, 1, 0, 0], [0, 5, 5, 7])
    s = S.random_walk(G, [0], 1, bias="weight", edge_rows=True).verify()
    assert s.edge.tolist() == [[1]]
    rows_of(s)["edge"][0, 0] = 0
    with pytest.raises(VerificationError, match="row 0 has no weight above 0"):
        s.verify()
    s = S.metapath_walk(G, [1], 1, metapath=[7], edge_rows=True).verify()
    assert s.edge.tolist() == [[3]]
    rows_of(s)["edge"][0, 0] = 2
    with pytest.raises(VerificationError, match="row 2 is an edge of another type"):
        s.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_rows_that_partitions_keep_wrongly_are_found(parts):
    """What a sampler reads is not what it is proved by."""
    G = graph(parts)
    S.neighbors(G, SEEDS, [-1], edge_rows=True, placement="partitioned").verify()
    rows = max((part.out.rows for part in G.built.parts), key=len)
    rows[:] = np.roll(rows, 1)
    with pytest.raises(VerificationError, match=r"has no edge from \w+ to \w+ in row"):
        S.neighbors(G, SEEDS, [-1], edge_rows=True, placement="partitioned").verify()


def test_rows_that_were_asked_for_later_are_proved_with_the_samples():
    s = S.snowball(graph(1), [0, 1], 2)
    assert len(s.edge) > 2
    rows_of(s._with_edges)["edge"][0] = (s.edge[0] + 1) % M
    with pytest.raises(VerificationError, match=r"in row|told twice"):
        s.verify()


def test_rows_are_proved_of_string_ids_dropped_loops_and_files(tmp_path):
    src, dst = [*"abcab"], [*"bcabb"]
    G = gd.from_edges(src, dst, self_loops="drop")
    s = S.neighbors(G, [*"abc"], [-1], edge_rows=True).verify()
    assert sorted(s.edge.tolist()) == [0, 1, 2, 3]
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in zip(src, dst, strict=True)))
    s = S.random_walk(gd.read_graph(path, directed=True), [*"abc"], 5, edge_rows=True).verify()
    assert (np.array(src)[s.edge] == s.walks[:, :-1]).all()
    assert (np.array(dst)[s.edge] == s.walks[:, 1:]).all()


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_workers_of_a_cluster_prove_rows(placement, two_workers):
    s = SAMPLERS["walk by weight"](graph(3, by="random"), placement=placement, client=two_workers).verify()
    edge = s.edge
    there = edge >= 0
    assert (SRC[edge[there]] == s.walks[:, :-1][there]).all()
    assert (DST[edge[there]] == s.walks[:, 1:][there]).all()
