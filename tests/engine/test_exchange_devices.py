"""Messages of a GPU, emulated or real, say to every rank what those of a CPU say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from covering import pairs
from emulated import EmulatedCuda, emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask.comm.threads import run_threads
from graphdask.comm.tuning import COMM
from graphdask.device.backend import get_backend
from graphdask.engine.exchange import Exchanger
from graphdask.engine.loop import ALL, Messages
from graphdask.errors import KernelError
from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.levels_pack import COUNTS as LEVEL_COUNTS
from graphdask.partition.ghosts import mirrors

COLUMNS = {
    "none": {},
    "int32": {"one": np.int32},
    "int64": {"one": np.int64},
    "float64": {"one": np.float64},
    "several": {"one": (np.float64, (3,)), "two": np.float32},
}
KINDS = ("none", "one", "some", "all", "some")


@cache
def parts_of(size, ghosts, device):
    n, src, dst, _ = GRAPHS["sparse random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=True)
    graph = graph.partition(size, by="random", ghosts=ghosts, device=device)
    gd.bfs(graph, 0, direction="push")  # partitions are made for the first algorithm
    return graph.built.parts.values


def subset(rng, kind, things):
    share = {"none": 0, "one": 1, "some": len(things) // 3, "all": len(things)}[kind]
    return np.sort(rng.permutation(things)[:share]) if kind == "all" else rng.permutation(things)[:share]


def conversation(device, size, ghosts, exchange, to, columns):
    """Per rank and superstep what arrived, on the host, in the order of the slots."""
    backend, parts = get_backend(device), parts_of(size, ghosts, device)

    def body(comm, rank):
        part = parts[rank]
        exchanger = Exchanger(backend, comm, part, exchange, columns, columns, mirrors(comm, backend, part))
        rng = np.random.default_rng([rank, size])
        values = {}
        for name, of in columns.items():
            of = np.dtype(of)
            values[name] = backend.from_host(rng.integers(0, 99, (part.num_slots, *of.shape)).astype(of.base))
        heard, addresses = [], set()
        for kind in KINDS:
            dtype = part.vertex_map.dtype
            own = backend.from_host(subset(rng, kind, np.arange(part.num_owned)).astype(dtype))
            reported = backend.from_host(subset(rng, kind, np.arange(part.num_owned, part.num_slots)).astype(dtype))
            if to == "ghosts":
                reported = reported[:0]
                own = ALL if kind == "all" and columns else own
            sends, meta, codes = exchanger.pack(Messages(own, reported, values, False, to=to))
            assert len(codes) == sum(payload is not None for payload in sends)
            if device == "cuda":
                memory = comm.outgoing(backend, 1)
                addresses.add(memory.data.array.ctypes.data if isinstance(backend, EmulatedCuda) else memory.data.ptr)
            received = comm.exchange(sends, meta)
            inbox = exchanger.unpack(received.payloads, received.meta, np.zeros((size, 0)))
            count = len(inbox)
            bits = set()
            for message in inbox.received:
                if message.bits is not None:
                    words = backend.to_host(message.bits).view(np.uint8)
                    here = np.flatnonzero(np.unpackbits(words, bitorder="little"))
                    assert here.max(initial=0) < message.universe
                    bits.update((here + message.first).tolist())
            slots = backend.to_host(inbox.slots)
            assert len(slots) == count
            assert slots.dtype == dtype
            assert bits <= set(slots.tolist())
            for message in inbox.received:
                assert len(message.slots) == message.count
            taken = {name: backend.to_host(column) for name, column in inbox.columns.items()}
            rows = [(int(slot), *(column[i].tobytes() for column in taken.values())) for i, slot in enumerate(slots)]
            heard.append(sorted(rows))
        backend.synchronize()
        assert len(addresses) <= 1
        return heard

    return run_threads(size, body, [backend] * size, deadline=60.0)


@pytest.fixture
def codes(request, tuned):
    if request.param != "as they are":
        tuned(COMM, counted=0, searched=1, bitmap_saves=0, head=40)


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    parts_of.cache_clear()
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    yield
    parts_of.cache_clear()


@pytest.mark.parametrize(
    ("size", "ghosts", "to", "columns", "codes"),
    pairs([2, 3, 4, 7], ["all", "1-hop"], ["owners", "ghosts"], COLUMNS, ["as they are", "by their bitmaps"]),
    indirect=["codes"],
)
def test_owners_and_ghosts_hear_the_same(gpu, codes, size, ghosts, to, columns):
    expected = conversation("cpu", size, ghosts, "selective", to, COLUMNS[columns])
    found = conversation("cuda", size, ghosts, "selective", to, COLUMNS[columns])
    assert found == expected
    assert any(any(step) for rank in expected for step in rank)


@pytest.mark.parametrize(("size", "ghosts", "columns"), pairs([2, 4], ["all", "1-hop"], ["none", "several"]))
def test_everyone_hears_the_same(gpu, size, ghosts, columns):
    expected = conversation("cpu", size, ghosts, "broadcast", "owners", COLUMNS[columns])
    assert conversation("cuda", size, ghosts, "broadcast", "owners", COLUMNS[columns]) == expected


def test_kernels_that_take_slots_unchecked_find_those_outside(gpu):
    backend, index = get_backend("cuda"), np.int32
    xp, slots = backend.xp, backend.from_host(np.array([0, 5], index))
    values = backend.from_host(np.array([3, 3], index))
    next_ = xp.zeros(len(LEVEL_COUNTS), np.int64)
    search = Search(
        out_indptr=xp.zeros(5, np.int64), depth=xp.full(4, -1, index), parent=xp.full(4, -1, index),
        seen=xp.zeros(1, np.uint32), owned=4, own_queue=xp.zeros(4, index), next=next_,
    )  # fmt: skip
    backend.kernels("bfs", index_t=index).bfs_visit(2, slots, values, 1, 4, search)
    with pytest.raises(KernelError, match="out of range"):
        backend.synchronize()
    assert int(next_[0]) == 1
