"""Values that owners tell to the ghosts of their vertices, numbers that all ranks hear, and what a run hands back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.device.backend import get_backend
from graphdask.engine.loop import ALL, Messages, Primitive
from graphdask.engine.tuning import ENGINE
from graphdask.results.result import Result


class TellResult(Result):
    columns = ("seen",)


class Tell(Primitive):
    """Every owner tells a function of the id; a vertex then sums it over its out-neighbours."""

    name = "tell"
    columns = {"wide": np.float64, "small": np.int16}  # noqa: RUF012
    result_type = TellResult
    notifies_ghosts = True
    votes = 2

    def __init__(self, every):
        self.every = every  # 0: all vertices in one word

    def memory(self, part, allocation):
        return 64 * part.num_slots

    def init(self, part, env):
        xp = env.xp
        wide = xp.full(part.num_slots, np.nan)
        small = xp.full(part.num_slots, -1, np.int16)
        wide[: part.num_owned] = part.ids * 0.5
        small[: part.num_owned] = part.ids % 1000
        state = SimpleNamespace(wide=wide, small=small, reported=0, heard=None)
        return state, self._messages(part, state, env)

    def _messages(self, part, state, env):
        slots = env.xp.arange(part.num_owned, dtype=part.vertex_map.dtype)
        own = ALL if self.every == 0 else slots[part.ids % self.every == state.reported][::-1]
        state.reported += 1
        votes = (float(part.num_owned), 0.1 * env.rank)
        values = {"wide": state.wide, "small": state.small}
        return Messages(own, slots[:0], values, state.reported < self.every, to="ghosts", votes=votes)

    def superstep(self, part, state, inbox, env):
        assert inbox.votes.shape == (part.size, 2)
        state.heard = inbox.votes.sum(axis=0)
        inbox.put("wide", state.wide)
        inbox.put("small", state.small)
        np.testing.assert_array_equal(state.wide[inbox.slots], inbox.columns["wide"])
        if state.reported >= self.every:
            none = inbox.slots[:0]
            return Messages(none, none, {"wide": state.wide, "small": state.small}, False, to="ghosts")
        return self._messages(part, state, env)

    def result(self, part, state, env):
        assert not np.isnan(state.wide).any() or part.ghosts is None
        np.testing.assert_array_equal(state.small, (state.wide * 2) % 1000)
        gathered = np.add.reduceat(np.append(state.wide[part.out.indices], 0.0), part.out.indptr[:-1])
        seen = np.where(np.diff(part.out.indptr) > 0, gathered, 0.0)
        return {"seen": seen, "vertices": None if state.heard is None else int(state.heard[0])}


@pytest.mark.parametrize("exchange", ["selective", "broadcast"])
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("every", [0, 1, 5])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_owners_tell_the_ghosts_of_their_vertices(parts, every, ghosts, exchange):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=True)
    graph = graph.partition(parts, by="random", ghosts=ghosts, device="cpu")
    result = execute.run(graph, Tell(every), exchange=exchange)
    expected = np.bincount(src, weights=np.asarray(dst) * 0.5, minlength=n)
    np.testing.assert_allclose(result._internal("seen"), expected, rtol=1e-12)
    assert result.stats.memory == max(64 * part.num_slots for part in graph.built.parts.values)
    if len(result.stats) > 1:
        assert result._value("vertices") == n
    if parts > 1 and every == 0 and exchange == "selective":
        assert result.stats[0]["codes"] == ["all"]
        held = sum(part.num_slots - part.num_owned for part in graph.built.parts.values)
        assert result.stats[0]["messages"] == held


def test_a_few_vertices_are_looked_up_in_a_mirror_of_many(tuned):
    tuned(ENGINE, sparse=0)
    test_owners_tell_the_ghosts_of_their_vertices(3, 5, "1-hop", "selective")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_vertices_are_found_in_a_mirror(dtype, rng):
    owned = 200
    mirror = np.flatnonzero(rng.random(owned) < 0.4).astype(dtype)
    marks, find = np.zeros(owned, np.uint8), get_backend("cpu").kernels("mirrors").mirrors_find
    for own in (mirror[:0], mirror, rng.permutation(owned)[:90].astype(dtype)):
        place = np.full(len(mirror), -1, dtype)
        found = find(len(mirror), mirror, len(own), own, marks, place)
        np.testing.assert_array_equal(place[:found], np.flatnonzero(np.isin(mirror, own)))
        assert not marks.any()
    assert find(0, mirror[:0], len(own), own, marks, mirror[:0]) == 0


@pytest.mark.parametrize("parts", [2, 3])
def test_a_floating_column_becomes_a_dask_array_of_its_own_dtype(parts):
    graph = gd.from_edges([0, 1, 2], [1, 2, 0]).partition(parts, device="cpu")
    column = execute.run(graph, Tell(0)).to_dask()["seen"]
    assert column.dtype == np.float64
    assert sorted(column.compute().tolist()) == [0.0, 0.5, 1.0]


def test_ghosts_that_in_edges_add_are_reported_too():
    graph = gd.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0], num_vertices=9).partition(3, device="cpu", ghosts="1-hop")
    execute.run(graph, Tell(0))
    gd.connected_components(graph)
    assert len(execute.run(graph, Tell(2)).stats) == 3
