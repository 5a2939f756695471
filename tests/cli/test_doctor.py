"""`graphdask doctor`: what a process and a cluster have, and which problems follow."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform

import pytest

from graphdask.cluster.doctor import examine, problems, skew
from graphdask.cluster.local import NO_DASHBOARD


@pytest.fixture
def healthy() -> dict:
    """What a host with everything in place reports."""
    return {
        "python": "3.12.1",
        "versions": {"graphdask": "1", "numpy": "2.0", "dask-cuda": "1", "cupy": "14"},
        "gpus": [{"name": "GPU", "driver": "580.0", "memory": 1, "used": 0}],
        "cuda": {"usable": True, "devices": [{}], "reason": ""},
        "nccl": {"usable": True, "found": "NCCL 2.27"},
        "ucx": {"usable": True, "found": "UCX 1.19", "transports": ["tcp", "cuda_ipc"]},
        "shared_memory": {"total": 8 << 30, "free": 8 << 30},
        "limits": {"open_files": 65536, "locked_memory": -1, "processes": 1000},
    }


def test_examine_agrees_with_the_system():
    seen = examine()
    assert seen["python"] == platform.python_version()
    assert seen["pid"] == os.getpid()
    assert seen["versions"]["numpy"] == importlib.metadata.version("numpy")
    assert 1 <= seen["cores"] <= os.cpu_count()
    assert 0 < seen["memory"]["available"] <= seen["memory"]["total"]


def test_what_examine_returns_is_plain():
    seen = examine()
    assert json.loads(json.dumps(seen)) == seen


def test_a_healthy_host_has_no_problems(healthy):
    assert problems(healthy) == []


def test_what_only_gpus_need_is_no_problem_without_one(healthy):
    without = {
        "versions": {"graphdask": "1"},
        "gpus": [],
        "cuda": {"usable": False, "devices": [], "reason": "CuPy cannot be loaded"},
        "nccl": {"usable": False, "found": "NCCL cannot be used"},
        "ucx": {"usable": False, "found": "pip install it", "transports": []},
        "shared_memory": {"total": 64 << 20, "free": 0},
    }
    assert problems(healthy | without) == []
    assert [problem for problem, _ in problems(healthy | without | {"gpus": healthy["gpus"]})] == [
        "1 GPU (driver 580.0), but not usable: CuPy cannot be loaded"
    ]


def test_a_ucx_that_is_installed_and_cannot_be_used_is_a_problem_without_a_gpu_too(healthy):
    broken = {
        "versions": {"graphdask": "1", "ucxx": "0.52"},
        "gpus": [],
        "cuda": {"usable": False, "devices": [], "reason": ""},
        "ucx": {"usable": False, "found": "look at libucx", "transports": []},
    }
    assert len(problems(healthy | broken)) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuda": {"usable": False, "devices": [], "reason": "no CuPy"}}, "not usable: no CuPy"),
        ({"nccl": {"usable": False, "found": "no NCCL"}}, "no NCCL"),
        ({"ucx": {"usable": False, "found": "pip install it", "transports": []}}, "UCX is not usable"),
        ({"ucx": {"usable": True, "found": "", "transports": ["tcp"]}}, "no CUDA transport"),
        ({"shared_memory": {"total": 64 << 20, "free": 0}}, "/dev/shm has 64 MiB"),
        ({"limits": {"open_files": 256, "locked_memory": -1, "processes": 1}}, "256 open files"),
        ({"versions": {"graphdask": "1"}}, "no dask-cuda"),
    ],
)
def test_each_lack_is_one_problem_with_something_to_do(healthy, change, words):
    found = problems(healthy | change)
    assert len(found) == 1
    problem, do = found[0]
    assert words in problem
    assert do


def test_versions_that_differ_are_found_and_weighed(healthy):
    other = healthy | {"versions": healthy["versions"] | {"numpy": "2.1", "pandas": "3.0"}}
    found = {entry["package"]: entry for entry in skew({"client": healthy, "worker": other})}
    assert found["numpy"] == {"package": "numpy", "versions": {"client": "2.0", "worker": "2.1"}, "matters": True}
    assert found["pandas"]["versions"] == {"client": "missing", "worker": "3.0"}
    assert found["pandas"]["matters"] is False
    assert set(found) == {"numpy", "pandas"}


def test_doctor_prints_what_it_sees(call):
    result = call("doctor")
    assert result.exit_code == 0, result.output
    assert platform.python_version() in result.stdout
    assert "problems" in result.stdout


@pytest.mark.slow
def test_doctor_of_a_cluster_looks_at_every_worker(call, tmp_path):
    from graphdask.cluster.local import local_cluster

    with local_cluster(2, "cpu") as client:
        client.write_scheduler_file(str(tmp_path / "s.json"))
        record = json.loads(call("doctor", "--scheduler-file", tmp_path / "s.json", "--json").stdout)
        shown = call("doctor", "--scheduler-file", tmp_path / "s.json").stdout
        pids = set(client.run(os.getpid).values())
    assert {worker["pid"] for worker in record["workers"].values()} == pids
    assert record["scheduler"]["versions"]["distributed"] == importlib.metadata.version("distributed")
    assert record["skew"] == []
    for address in record["workers"]:
        assert address in shown


def test_doctor_of_a_cluster_without_workers_says_so(call):
    import distributed

    with distributed.LocalCluster(n_workers=0, dashboard_address=None, scheduler_kwargs=NO_DASHBOARD) as cluster:
        result = call("doctor", "--scheduler", cluster.scheduler_address)
    assert result.exit_code == 0, result.output
    assert "none is connected" in result.stdout
