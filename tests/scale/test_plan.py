"""What a scaling experiment measures: the paper's graphs, its algorithms' names, each thing once."""

from __future__ import annotations

import pytest

from graphdask.bench.analysis.algorithms import measured
from graphdask.errors import InputError, Unsupported
from graphdask.scale.plan import KINDS, NAMES, Settings, measurements
from graphdask.scale.speed import efficiency, speed_up

CPU, GPU = (Settings(device, 4, 3, 0, 255) for device in ("cpu", "cuda"))


def planned(settings=CPU, workers=(1, 2), kinds=("strong",), names=("bfs",), scales=(), factor=None, over=("auto",)):
    return measurements(settings, workers, kinds, names, scales, factor, over)


def test_the_graphs_are_those_of_the_papers_figure_5():
    found = planned(GPU, (1, 2, 4), KINDS)
    assert [(one.case.scaling, one.workers, one.case.scale, one.case.edge_factor) for one in found] == [
        ("strong", 1, 24, 32), ("strong", 2, 24, 32), ("strong", 4, 24, 32),
        ("weak-edge", 1, 19, 256), ("weak-edge", 2, 19, 512), ("weak-edge", 4, 19, 1024),
        ("weak-vertex", 1, 19, 256), ("weak-vertex", 2, 20, 256), ("weak-vertex", 4, 21, 256),
    ]  # fmt: skip


def test_names_are_the_papers_and_weights_come_last():
    found = {one.algorithm.name: one.algorithm for one in planned(names=("sssp", "dobfs", "bfs"))}
    assert list(found) == ["bfs", "dobfs", "sssp"]
    assert found["bfs"].options == {"direction": "push"}
    assert found["dobfs"].options == {}
    assert set(NAMES.values()) <= {algorithm.name for algorithm in measured()}


def test_one_worker_is_measured_once_for_all_transports_and_sizes_once_each():
    found = planned(workers=(2, 1, 2), over=("shm", "tcp", "shm"), scales=(10, 10, 11))
    assert [(one.case.scale, one.workers, one.transport) for one in found] == [
        (10, 1, "single"), (10, 2, "shm"), (10, 2, "tcp"), (11, 1, "single"), (11, 2, "shm"), (11, 2, "tcp"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ("dijkstra",)}, "algorithms='dijkstra' is not one of bfs, dobfs"),
        ({"names": ()}, r"algorithms=\(\) is empty"),
        ({"kinds": ("weak",)}, "kinds='weak' is not one of strong, weak-edge, weak-vertex"),
        ({"workers": (0,)}, "workers=0 must be at least 1"),
        ({"workers": (3,), "kinds": ("weak-vertex",)}, "workers=3 is no power of two"),
        ({"over": ("mpi",)}, "transports='mpi' is not one of auto, shm"),
        ({"scales": (0,)}, "scale=0 must be at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        planned(**arguments)
    with pytest.raises(Unsupported, match="transports='nccl' needs GPUs"):
        planned(over=("nccl",))


def record(kind, workers, seconds, *, scale=10, factor=16, transport="shm", edges=100):
    same = {"algorithm": "bfs", "device": "cpu", "sources": 4, "repeats": 3, "seed": 0, "max_weight": None}
    return same | {
        "kind": kind, "workers": workers, "seconds": seconds, "scale": scale, "edge_factor": factor,
        "transport": "single" if workers == 1 else transport, "runs": [{"edges_reached": edges}],
    }  # fmt: skip


def test_speed_up_is_of_time_for_strong_and_of_rate_for_weak_scaling():
    strong = [record("strong", 1, 8.0), record("strong", 2, 5.0), record("strong", 2, 4.0, transport="tcp")]
    assert [speed_up(one, strong) for one in strong] == [None, 1.6, 2.0]
    assert [efficiency(one, strong) for one in strong] == [None, 0.8, 1.0]
    weak = [record("weak-vertex", 1, 8.0), record("weak-vertex", 4, 10.0, scale=12, edges=400)]
    assert speed_up(weak[1], weak) == pytest.approx(3.2)  # four times the edges in 10 s instead of 8 s
    assert efficiency(weak[1], weak) == pytest.approx(0.8)
    others = [record("weak-edge", 1, 8.0, scale=9), record("weak-edge", 2, 8.0, factor=32, edges=200)]
    assert speed_up(others[1], others) is None  # another graph for one worker
    assert speed_up({**strong[1], "failed": "OverBudget"}, strong) is None
