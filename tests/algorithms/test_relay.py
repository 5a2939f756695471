"""GPUs that share no memory go through supersteps together, by their hosts, and give what one gives."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from graphs import GRAPHS
from memory import DevicePeak
from ranks import needs_ucx
from relayed import UcxCarriers, relay_between

import graphdask as gd
from graphdask.comm import relay
from graphdask.comm.tuning import COMM
from graphdask.errors import InputError

NAMES = ["one vertex", "only self-loops", "duplicates both ways", "star around the last", "short path", "scale-free"]


@pytest.fixture
def runs(watched):
    """The launches that hosts carried messages for: the number of ranks."""
    return watched(relay.RelayPeers, "run", lambda peers, row, launch: peers.comm.size)


def compared(name, parts, ghosts, directions):
    """A graph in parts on the device and whole on the host, and a source, once the answers of both were compared."""
    n, src, dst, directed = GRAPHS[name]()
    source = n // 2
    weights = np.random.default_rng(parts).integers(0, 9, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    divided, whole = graph.partition(parts, "random", ghosts, device="cuda"), graph.partition(device="cpu")
    found, expected = gd.sssp(divided, source), gd.sssp(whole, source)
    np.testing.assert_array_equal(found.distance, expected.distance)
    np.testing.assert_array_equal(found.parent, expected.parent)
    found, expected = gd.connected_components(divided), gd.connected_components(whole)
    np.testing.assert_array_equal(found.label, expected.label)
    for direction in directions:
        found, expected = (gd.bfs(each, source, direction=direction) for each in (divided, whole))
        np.testing.assert_array_equal(found.depth, expected.depth)
        np.testing.assert_array_equal(found.parent, expected.parent)
    return divided, whole, source


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_hosts_carry_what_kernels_tell_each_other(name, parts, ghosts, runs, monkeypatch, tmp_path):
    relay_between(monkeypatch, tmp_path, parts)
    divided, whole, source = compared(name, parts, ghosts, ("auto", "push", "pull"))
    found, expected = (gd.betweenness(each, weight=None, sources=[source]) for each in (divided, whole))
    np.testing.assert_allclose(found.score, expected.score, rtol=1e-12, atol=1e-12)
    assert len(runs) >= 4 * parts
    assert set(runs) == {parts}


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", [None, {"least": ("min", lambda old, new: new.x)}])
def test_hosts_carry_the_messages_of_programs(aggregate, runs, monkeypatch, tmp_path):
    relay_between(monkeypatch, tmp_path, 2)
    program = gd.Program(
        state={"x": (int, lambda v: v.id)}, message=(int, "min"), send=lambda e: e.source.x,
        apply=lambda v, m: m < v.x and {"x": m}, aggregate=aggregate,
    )  # fmt: skip
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    found, expected = (
        gd.run(graph.partition(parts, device=device), program) for parts, device in ((2, "cuda"), (1, "cpu"))
    )
    np.testing.assert_array_equal(found.x, expected.x)
    assert found.iterations == expected.iterations
    assert len(runs) == 2


@pytest.mark.parametrize("compiled", [False, True])
def test_hosts_carry_aggregates(compiled, carriers, runs, monkeypatch, tmp_path):
    """`until` needs the sums of all ranks, and its answer is that of one rank."""
    relay_between(monkeypatch, tmp_path, 3, **({"carrier": carriers(3)} if compiled else {}))
    program = gd.Program(
        state={"x": (int, lambda v: v.id)}, message=(int, "min"), send=lambda e: e.source.x,
        apply=lambda v, m: m < v.x and {"x": m}, until=lambda a: a.changed < 4 and a.least < 3,
        aggregate={
            "changed": ("sum", lambda old, new: int(new.x != old.x)), "least": ("min", lambda old, new: new.x),
            "most": ("max", lambda old, new: float(new.x)),
        },
    )  # fmt: skip
    n, src, dst, _ = GRAPHS["short path"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    divided, whole = (
        gd.run(graph.partition(parts, device=device), program) for parts, device in ((3, "cuda"), (1, "cpu"))
    )
    np.testing.assert_array_equal(divided.x, whole.x)
    assert divided.iterations == whole.iterations
    assert divided.aggregates == whole.aggregates
    assert len(runs) == 3


@pytest.fixture
def carriers():
    """Of two or three ranks, over UCX."""
    needs_ucx()
    with ExitStack() as stack:
        yield lambda size: UcxCarriers(size, stack)


@pytest.mark.parametrize("name", ["star around the last", "scale-free"])
@pytest.mark.parametrize(("parts", "ghosts"), [(2, "1-hop"), (3, "all")])
def test_hosts_carry_messages_over_ucx(name, parts, ghosts, carriers, runs, monkeypatch, tmp_path):
    relay_between(monkeypatch, tmp_path, parts, carrier=carriers(parts))
    compared(name, parts, ghosts, ("push", "pull"))
    assert len(runs) >= 3 * parts


def test_an_error_of_a_host_ends_the_kernels_of_all(monkeypatch, tmp_path, fault):
    devices, met = relay_between(monkeypatch, tmp_path, 2), []

    def third(carrier, *meeting):
        met.append(carrier.comm.rank)
        return carrier.comm.rank == 1 and met.count(1) == 3

    fault(relay.Carrier, "meet", InputError("a message that cannot be carried"), third)
    n, src, dst, _ = GRAPHS["short path"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(2, device="cuda")
    with pytest.raises(InputError, match="cannot be carried"):
        gd.bfs(graph, 0)
    assert met.count(1) == 3
    for device in devices:
        device.finish()  # no kernel waits any longer


def test_memory_is_announced_once(monkeypatch, tmp_path, watched):
    """What a rank needs for messages is exchanged by the first run, and anew only for longer ones."""
    relay_between(monkeypatch, tmp_path, 2, lasting=True)
    warmed = watched(relay.RelayPeers, "_warm_up", lambda peers, lengths: sum(lengths))
    n, src, dst, _ = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, np.ones(len(src)), num_vertices=n, directed=False)
    divided = graph.partition(2, device="cuda")
    expected = gd.bfs(graph, 1).depth
    for _ in range(2):
        np.testing.assert_array_equal(gd.bfs(divided, 1).depth, expected)
        assert len(warmed) == 2
    gd.sssp(divided, 1)  # labels of 64 bits
    assert len(warmed) == 4
    np.testing.assert_array_equal(gd.bfs(divided, 1).depth, expected)
    assert len(warmed) == 4
    assert min(warmed) > 0


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("parts", "ghosts"), [(2, "all"), (3, "1-hop")])
def test_the_memory_is_what_was_announced(parts, ghosts, rng, monkeypatch, tmp_path, tuned):
    relay_between(monkeypatch, tmp_path, parts)
    tuned(COMM, first_buffer=1 << 10)
    n, m = 3_000, 9_000
    src, dst = rng.integers(0, n, (2, m))
    graph = gd.from_edges(src, dst, rng.integers(1, 9, m), num_vertices=n, directed=False)
    graph, shares = graph.partition(parts, "random", ghosts, device="cuda").persist(), {}
    for search in (gd.bfs, gd.sssp, lambda *of: gd.betweenness(graph, src[:1], weight=None)):
        search(graph, src[0])  # makes what is kept: mirrors and tables
        with DevicePeak(monkeypatch) as memory:
            found = search(graph, src[0])
        shares[found.stats.algorithm] = memory.bytes / parts / found.stats.memory
    assert all(0.8 < share < 1.05 for share in shares.values()), shares
