"""A scaling experiment on two workers: what it writes, that it goes on where it ended, and what it says of failures."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from gangs import dask_cluster

import graphdask as gd
from graphdask import scale
from graphdask.cli import cli
from graphdask.device.backend import cuda_device_count
from graphdask.errors import GraphdaskWarning, InputError, PeerLost
from graphdask.gang import in_memory
from graphdask.scale import experiment

SMALL = {"sources": 2, "repeats": 2, "scales": (5,), "edge_factor": 4, "device": "cpu"}


@pytest.fixture(scope="module")
def client():
    with dask_cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def measured(client, tmp_path_factory):
    """BFS and SSSP of every kind, over two transports, with a graph that no memory holds."""
    path = tmp_path_factory.mktemp("scale") / "scale.jsonl"
    arguments = SMALL | {"algorithms": ("bfs", "sssp"), "kinds": ("strong", "weak-edge", "weak-vertex")}
    first = scale.run(path, client=client, workers=(1, 2), transports=("shm", "tcp"), **arguments)
    scale.run(path, client=client, workers=(2,), **SMALL | {"algorithms": ("bfs",), "scales": (45,)})
    return path, arguments, first


def call(*arguments):
    return CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["scale", "run", *map(str, arguments)])


def test_each_measurement_is_a_line_with_all_of_its_runs(measured):
    path, _, records = measured
    assert records == scale.read(path)[:-1]
    assert len(records) == 3 * 2 * 3  # kinds, algorithms, one worker or two over each transport
    for record in records:
        two = record["workers"] == 2
        assert record["data_plane"] == (record["transport"] if two else "single")
        assert len(record["runs"]) == 4
        assert {run["source"] for run in record["runs"]} == {0, 1}
        assert all(run["seconds"] > 0 for run in record["runs"])
        assert record["bsp"]["supersteps"] == len(record["steps"])
        assert sum(step[2] for step in record["steps"]) == record["bsp"]["volume_bytes"]
        assert (record["bsp"]["volume_bytes"] > 0) == two
        assert record["machine"]["versions"]["graphdask"]
        assert len(record["devices"]) == 1 + two


def test_graphs_grow_with_the_workers_and_sources_stay(measured):
    _, _, records = measured
    bfs = {(r["kind"], r["workers"]): r for r in records if r["algorithm"] == "bfs" and r["transport"] != "tcp"}
    graphs = {key: (record["vertices"], record["scale"], record["edge_factor"]) for key, record in bfs.items()}
    assert graphs["strong", 1] == graphs["strong", 2] == (32, 5, 4)
    assert (graphs["weak-edge", 2], graphs["weak-vertex", 2]) == ((32, 5, 8), (64, 6, 4))
    whole = gd.generate.rmat(5, 4, 0, self_loops="drop", multi_edges="merge")
    whole.persist(progress=False)
    for workers in (1, 2):
        record = bfs["strong", workers]
        assert record["edges"] == whole.num_edges
        assert sum(total for _, total in record["degrees"]) == 2 * whole.num_edges
        assert [run["edges_looked"] for run in record["runs"]] == [
            run["edges_looked"] for run in bfs["strong", 1]["runs"]
        ]


def test_what_is_in_the_file_is_not_measured_again(measured, client, tmp_path):
    path, arguments, records = measured
    lines = path.read_text().splitlines(keepends=True)
    copy = tmp_path / "copy.jsonl"
    copy.write_text("".join(lines[:17]) + lines[17][:60])  # ended within the last measurement
    said, new = [], []
    again = scale.run(
        copy, client=client, workers=(1, 2), transports=("shm", "tcp"), say=said.append, each=new.append, **arguments
    )
    assert [record["time"] for record in again[:17]] == [record["time"] for record in records[:17]]
    assert (len(new), len(scale.read(copy))) == (1, 18)
    assert "its last line was not written to its end" in said[0]
    assert "17 of 18 measurements are in it already" in said[1]
    new.clear()
    everything = scale.run(copy, client=client, workers=(1, 2), transports=("shm", "tcp"), each=new.append, **arguments)
    assert (len(everything), new) == (18, [])


@pytest.mark.slow
def test_a_graph_is_built_once_for_each_number_of_workers(client, tmp_path, watched):
    built = watched(in_memory, "build_all", lambda *given: given[1].size)
    arguments = SMALL | {"algorithms": ("bfs", "components"), "transports": ("shm", "tcp")}
    scale.run(tmp_path / "a.jsonl", client=client, workers=(1, 2), **arguments)
    assert built == [1, 2]


def test_a_graph_too_large_is_recorded_and_can_be_asked_for_again(measured, client):
    path, *_ = measured
    arguments = SMALL | {"workers": (2,), "algorithms": ("bfs",), "scales": (45,), "client": client}
    [failed] = scale.run(path, **arguments)
    assert failed["failed"] == "OverBudget"
    assert "GiB" in failed["reason"]
    before = path.read_text().count("\n")
    new = []
    scale.run(path, retry_failed=True, each=new.append, **arguments)
    assert (len(new), path.read_text().count("\n")) == (1, before + 1)


def test_a_failure_starts_the_workers_anew_and_the_next_measurement_is_made(client, tmp_path, monkeypatch, host, fault):
    started = []

    @contextmanager
    def cluster(workers, device):
        started.append((workers, device))
        yield client

    # Workers take seconds to start, and only how often is asked.
    monkeypatch.setattr("graphdask.cluster.local.local_cluster", cluster)
    host.cores(2)
    fault(experiment, "_runs", PeerLost("a worker died"), lambda one, *rest: one.transport == "tcp")
    arguments = SMALL | {"algorithms": ("bfs",), "kinds": ("strong", "weak-edge")}
    found = scale.run(tmp_path / "a.jsonl", workers=(2,), transports=("tcp", "shm"), **arguments)
    assert [(one["kind"], one["transport"], one.get("failed")) for one in found] == [
        ("strong", "tcp", "PeerLost"), ("strong", "shm", None),
        ("weak-edge", "tcp", "PeerLost"), ("weak-edge", "shm", None),
    ]  # fmt: skip
    assert started == [(2, "cpu")] * 2  # shm is measured first; the second failure is the last measurement


def test_an_interrupt_leaves_what_was_measured(client, tmp_path, fault):
    fault(experiment, "_runs", KeyboardInterrupt, lambda one, *rest: one.algorithm.name == "components")
    with pytest.raises(KeyboardInterrupt):
        scale.run(tmp_path / "a.jsonl", client=client, workers=(1,), algorithms=("bfs", "components"), **SMALL)
    assert [record["algorithm"] for record in scale.read(tmp_path / "a.jsonl")] == ["bfs"]


def test_measurements_of_another_machine_are_not_continued(measured, client, tmp_path):
    other = tmp_path / "other.jsonl"
    line = json.loads(measured[0].read_text().splitlines()[0])
    line["machine"]["gpus"] = ["NVIDIA K40"]
    other.write_text(json.dumps(line) + "\n")
    with pytest.raises(InputError, match=r"another machine \(gpus: \['NVIDIA K40'\]; here: "):
        scale.run(other, client=client, workers=(1,), **SMALL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": (1, 4)}, "workers=4 is too many: the cluster has 2 workers"),
        ({"sources": 0}, "sources=0 must be at least 1"),
        ({"edge_factor": 0}, "edge_factor=0 must be at least 1"),
        ({"deadline": 0}, "deadline=0 must be more than 0"),
        ({"algorithms": ("dijkstra",)}, "algorithms='dijkstra' is not one of"),
    ],
)
def test_bad_input_is_refused_before_any_work(client, tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        scale.run(tmp_path / "a.jsonl", client=client, **SMALL | arguments)
    assert list(tmp_path.iterdir()) == []


def test_workers_that_share_cores_are_warned_of():
    with pytest.warns(GraphdaskWarning, match="100000 workers share"):
        experiment._enough(100_000, "cpu", None)


@pytest.mark.gpu
def test_each_worker_needs_its_own_gpu(tmp_path):
    with pytest.raises(InputError, match=f"there are {cuda_device_count()} GPUs"):
        scale.run(tmp_path / "a.jsonl", device="cuda", workers=(64,))


def test_the_command_measures_on_a_scheduler_and_shows_a_table(client, tmp_path):
    small = ["--scheduler", client.scheduler.address, "--workers", "1,2", "--algorithms", "dobfs", "--device", "cpu",
             "--scale", "5", "--edge-factor", "4", "--sources", "1", "--repeats", "1"]  # fmt: skip
    output = tmp_path / "a.jsonl"
    result = call(*small, "--output", output)
    assert result.exit_code == 0, result.stderr
    assert "2 measurements written" in result.stdout
    assert "speed-up" in result.stdout
    again = call(*small, "--output", output, "--json")
    assert (again.exit_code, again.stdout) == (0, "")
    lost = call(*small[:-6], "--scale", "45", "--output", output)
    assert lost.exit_code == 1
    assert "nothing could be measured: " in lost.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "/nowhere/a.jsonl"], "/nowhere/a.jsonl cannot be written"),
        (["--algorithms", "x"], "--algorithms x is not one of bfs"),
        (["--kind", "weak"], "--kind weak is not one of strong"),
        (["--workers", "3", "--kind", "weak-vertex"], "--workers 3 is no power of two"),
        (["--transports", "nccl"], "--transports nccl needs GPUs"),
    ],
)
def test_the_command_names_its_options_where_it_refuses(tmp_path, arguments, message):
    result = call("--device", "cpu", "--output", tmp_path / "a.jsonl", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
