"""Walks by a reservoir, of which a block of a GPU draws each step together: the bits of a CPU, from rows of lengths
at which a lane, a warp or a block has one edge more or less, and of equal keys the first."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.kernels.choice import pick
from graphdask.kernels.choice.keys import exponential_key
from graphdask.kernels.common.hash import hashed
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import DRAW_KEY, DRAW_WALK, philox
from graphdask.kernels.walks.second_order_pack import PartSecondWalks, WholeSecondWalks
from graphdask.kernels.walks.walk_pack import PartWalks, WholeWalks
from graphdask.sample.tuning import SAMPLE

CPU, u64 = get_backend("cpu"), np.uint64
SEED, FIRST, POISON = u64(2**64 - 5), 11, -77
HALF, NEVER = u64(1 << 62), u64(0)
DEGREES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025)
NOTHING = (1, 33, 1025)
"""Lengths of more rows, none of whose edges have a bias above 0."""
TYPES = [
    (np.int32, np.int32), (np.int32, np.int64), (np.int32, np.float32), (np.int32, np.float64),
    (np.int64, np.int32), (np.int64, np.float64),
]  # fmt: skip

every_type = pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(np.dtype(kind).name for kind in types))
every_launch = pytest.mark.parametrize(
    "launch",
    [{"per_item": 32 * warps, "threads": 32 * warps} for warps in (1, 3, 8)],
    ids=("1 warp", "3 warps", "8 warps"),
)


class Rows:
    """A row of each length, and what kernels are told of them."""

    def __init__(self, rng, index, bias, degrees=DEGREES + NOTHING):
        self.index, self.bias, self.count = np.dtype(index), np.dtype(bias), len(degrees)
        self.indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        self.indices = np.concatenate(
            [np.sort(rng.integers(0, self.count, degree)) for degree in degrees]
        ).astype(index)  # fmt: skip
        values = rng.integers(1, 50, len(self.indices)) if self.bias.kind == "i" else rng.random(len(self.indices)) ** 4
        self.values = values.astype(bias)
        self.values[rng.random(len(values)) < 0.2] = 0
        for row, degree in enumerate(degrees):
            begin, end = self.indptr[row], self.indptr[row + 1]
            if degree and row < len(DEGREES):
                if rng.random() < 0.5:
                    self.values[begin] = 0
                self.values[begin + rng.integers(degree)] = 10**6 if rng.random() < 0.3 else 1
            else:
                self.values[begin:end] = 0

    @property
    def totals(self):
        """Which rows have an edge with a bias."""
        return np.add.reduceat(np.append(self.values > 0, False), self.indptr[:-1], dtype=np.uint64) * (
            np.diff(self.indptr) > 0
        )

    @property
    def biases(self):
        totals = self.totals.astype(np.uint64)
        none = np.empty(0, np.int32)
        greatest = np.empty(0, self.bias)
        tables = {"greatest": greatest, "totals": totals, "shifts": none, "table": totals, "other": none}
        return {"method": pick.RESERVOIR, "values": self.values, **tables}

    def run(self, backend, family, name, out, arguments, kind, launch=None, **fields):
        """What a kernel makes of `out`, arrays among the fields of its pack, which is of some kind."""
        fields = {"seed": SEED, "indptr": self.indptr, "indices": self.indices, **self.biases, **fields}
        arrays = {
            id(a): backend.from_host(a.copy() if any(a is one for one in out) else a)
            for a in fields.values()
            if isinstance(a, np.ndarray)
        }
        pack = kind(**{field: arrays.get(id(a), a) for field, a in fields.items()})
        kernels = backend.kernels(family, index_t=self.index, bias_t=self.bias)
        getattr(kernels, name)(*arguments, pack, **(launch or {}))
        backend.synchronize()
        return [backend.to_host(arrays[id(one)]) for one in out]


def moving(restart=NEVER, leave=NEVER, dead=NEVER):
    """How often a walk does something else than to go on, as fields of a pack."""
    return {"restart": restart, "leave": leave, "dead": dead}


FACTORS = {"back": HALF >> u64(1), "common": HALF + HALF, "distant": HALF}
"""Of second-order walks, as fields of a pack."""


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@every_launch
@every_type
@pytest.mark.parametrize("leaves", [False, True], ids=["", "restart and jump"])
def test_walks_in_several_launches(backend, types, launch, leaves, rng):
    made = Rows(rng, *types)
    n, length = made.count + 9, 5
    starts = rng.permutation(np.arange(n) % made.count).astype(made.index)
    moves = moving(HALF >> u64(1), HALF, HALF) if leaves else moving()

    def drawn(where, name, cuts, **options):
        walks, lengths = np.full((n, length + 1), POISON, made.index), np.full(n, POISON, np.int32)
        for begin, end in cuts:
            walks, lengths = made.run(
                where, "walk", name, [walks, lengths], (n, FIRST, begin, end), WholeWalks, options, length=length,
                **moves, vertices=made.count, starts=starts, degrees=np.zeros(1, np.int64), walks=walks,
                lengths=lengths,
            )  # fmt: skip
        return walks, lengths

    expected = drawn(CPU, "walk", [(0, length)])
    same(drawn(backend, "walk_reservoir", [(0, 2), (2, 3), (3, length)], **launch), expected)
    walks, lengths = expected
    assert (lengths < length).any() != leaves
    assert ((walks >= 0).sum(axis=1) == lengths + 1).all()


@every_launch
@every_type
def test_walks_over_a_part_of_the_rows(backend, types, launch, rng):
    made = Rows(rng, *types)
    n, budget, length = 40, 3, 6
    ids = (3 * np.arange(made.count + 4)).astype(made.index)
    made.indices[rng.random(len(made.indices)) < 0.1] = made.count + 3  # of another rank
    instance = rng.permutation(n) + FIRST
    starts, step = rng.integers(0, 50, n).astype(made.index), rng.integers(0, length, n).astype(np.int32)
    at = rng.permutation(np.arange(n) % made.count).astype(made.index)
    path, count = np.full((n, budget), POISON, made.index), np.full(n, POISON, np.int32)
    for moves in (moving(), moving(HALF >> u64(2), HALF >> u64(1), HALF)):
        fields = dict(
            first_instance=FIRST, instance=instance, step=step, at=at, budget=budget, length=length, **moves,
            vertices=60, starts=starts, degrees=np.zeros(1, np.int64), ids=ids, owned=made.count, path=path, made=count,
        )  # fmt: skip
        out = [step, at, path, count]
        expected = made.run(CPU, "walk", "walk_part", out, [n], PartWalks, **fields)
        same(made.run(backend, "walk", "walk_part_reservoir", out, [n], PartWalks, launch, **fields), expected)
        assert expected[3].max() > 1
        assert (expected[3].min() == 0) == (moves["leave"] == NEVER)


@every_launch
@every_type
@pytest.mark.parametrize("undirected", [0, 1])
def test_second_order_walks_in_several_launches(backend, types, launch, undirected, rng):
    made = Rows(rng, *types)
    n, length = made.count, 7
    starts = rng.permutation(n).astype(made.index)

    def drawn(where, name, cuts, **options):
        walks, lengths = np.full((n, length + 1), POISON, made.index), np.full(n, POISON, np.int32)
        for begin, end in cuts:
            walks, lengths = made.run(
                where, "second_order", name, [walks, lengths], (n, FIRST, begin, end), WholeSecondWalks, options,
                length=length, **FACTORS, undirected=undirected, starts=starts, walks=walks, lengths=lengths,
            )  # fmt: skip
        return walks, lengths

    expected = drawn(CPU, "second_order", [(0, length)])
    same(drawn(backend, "second_order_reservoir", [(0, 1), (1, 4), (4, length)], **launch), expected)
    assert len(np.unique(expected[1])) > 2


@every_launch
@every_type
@pytest.mark.parametrize("undirected", [0, 1])
def test_second_order_walks_and_questions_over_a_part_of_the_rows(backend, types, launch, undirected, rng):
    made = Rows(rng, *types)
    n, budget, length = 40, 3, 6
    ids = (3 * np.arange(made.count + 4)).astype(made.index)
    made.indices[rng.random(len(made.indices)) < 0.1] = made.count + 3
    made.indices = np.concatenate([np.sort(row) for row in np.split(made.indices, made.indptr[1:-1])])
    instance, step = rng.permutation(n), rng.integers(0, length, n).astype(np.int32)
    draw, at = rng.integers(0, 3, n).astype(np.int32), rng.integers(0, made.count, n).astype(made.index)
    slot = rng.integers(-1, made.count + 4, n).astype(made.index)
    previous = np.where(slot < 0, -1, ids[slot]).astype(made.index)
    asks = (rng.random(n) < 0.3) & (previous >= 0)
    slot[slot >= made.count] = -1
    here = np.where(asks, ids[rng.integers(0, made.count, n)], -1).astype(made.index)
    candidate = np.where(asks, ids[at], -1).astype(made.index)
    path, count = np.full((n, budget), POISON, made.index), np.full(n, POISON, np.int32)
    target = np.full(n, POISON, made.index)
    fields = dict(
        instance=instance, step=step, draw=draw, at=at, previous=previous, previous_slot=slot, here=here,
        candidate=candidate, budget=budget, length=length, **FACTORS, undirected=undirected, ids=ids, owned=made.count,
        path=path, made=count, target=target,
    )  # fmt: skip
    out, kind = [step, draw, previous, here, candidate, path, count, target], PartSecondWalks
    expected = made.run(CPU, "second_order", "second_order_part", out, [n], kind, **fields)
    same(made.run(backend, "second_order", "second_order_part_reservoir", out, [n], kind, launch, **fields), expected)
    assert len(np.unique(expected[6])) > 2


@every_launch
@pytest.mark.parametrize("rare", [False, True])
def test_the_smallest_key_and_the_first_of_equal_ones(backend, launch, rare, rng):
    """By the numbers of each edge; of biases as small as floats can be keys are infinite."""
    made = Rows(rng, np.int32, np.float64, DEGREES)
    made.indices = np.arange(len(made.values), dtype=np.int32)  # so that a step says which edge was drawn
    some = rng.random(len(made.values)) < (0.02 if rare else 0.6)
    made.values = np.where(some, 5e-324 if rare else rng.random(len(some)), 0.0 if rng.random() < 0.5 else 5e-324)
    walks, lengths = np.full((made.count, 2), POISON, np.int32), np.full(made.count, POISON, np.int32)
    walks, lengths = made.run(
        backend, "walk", "walk_reservoir", [walks, lengths], (made.count, FIRST, 0, 1), WholeWalks, launch, length=1,
        **moving(), vertices=made.count, starts=np.arange(made.count, dtype=np.int32), degrees=np.zeros(1, np.int64),
        walks=walks, lengths=lengths,
    )  # fmt: skip
    key = u64(keyed(SEED, DRAW_WALK, 0))
    of_draw = u64(hashed(u64(keyed(key, DRAW_KEY, 0)), u64(keyed(key, DRAW_KEY, 1)), u64(0)))
    for row in range(made.count):
        keys = []
        for place, bias in enumerate(made.values[made.indptr[row] : made.indptr[row + 1]].tolist()):
            number = philox(of_draw, u64(FIRST + row), u64(1), u64(place >> 1))[place & 1]
            keys.append((exponential_key(u64(number), bias) if bias > 0 else np.inf, bias == 0, place))
        least = min(keys, default=(np.inf, True, 0))
        assert walks[row].tolist() == [row, -1 if least[1] else made.indptr[row] + least[2]]
        assert lengths[row] == (not least[1])


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("resident", [0, 1 << 20], ids=["1 warp", "8 warps"])
@pytest.mark.parametrize("directed", [False, True])
def test_walks_of_a_graph_with_hubs(device, resident, directed, monkeypatch, rng, tuned):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    tuned(SAMPLE, walk_warps=resident, walk_launch=(30, 4))
    src = np.concatenate([np.zeros(1500, np.int64), np.full(140, 1), rng.integers(0, 60, 300)])
    dst = rng.integers(0, 60, len(src))
    graph = gd.from_edges(src, dst, rng.integers(0, 4, len(src)), num_vertices=60, directed=directed)
    starts = [0, 1, 0, 7, 59, 8, 8]
    for draw in (
        lambda G, **o: gd.sample.random_walk(G, starts, 9, bias="weight", method="reservoir", jump=0.1, seed=3, **o),
        lambda G, **o: gd.sample.random_walk(G, starts, 9, bias="degree", method="reservoir", restart=0.2, **o),
        lambda G, **o: gd.sample.node2vec(G, starts, 9, 0.5, 3, method="reservoir", seed=4, **o),
    ):
        expected = draw(graph.partition(1, device="cpu"))
        for parts, placement in ((1, "replicated"), (3, "partitioned")):
            found = draw(graph.partition(parts, "random", device="cuda"), placement=placement)
            same((found.walks, found.lengths), (expected.walks, expected.lengths))
            found.verify()
