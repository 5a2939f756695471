"""Workers on GPUs: dask-cuda takes every option that jobs and clusters give it. No GPU is needed to ask it that."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import replace
from typing import Any

import pytest
from distributed import LocalCluster, Nanny

from graphdask.cluster import jobqueue, jobs, local, scripts, tls
from graphdask.cluster.scripts import Job

reason = "needs dask-cuda, which the extras cuda12 and cuda13 install"
dask_cuda = pytest.importorskip("dask_cuda", reason=reason)
cli = pytest.importorskip("dask_cuda.cli", reason=reason)

JOB = Job("/work/job", ("run", "bfs", "g.txt"), workers=8, gpus_per_task=4, interface="ib0", directory="/home")


class Asked(Exception):
    """What a cluster was asked for."""

    def __init__(self, options: dict[str, Any]):
        super().__init__(str(options))
        self.options = options


def asked(**options: Any) -> None:
    """Stand in for the class of a cluster."""
    raise Asked(options)


def words_of_worker(text: str) -> list[str]:
    """What a script gives `dask cuda worker`."""
    (line,) = [line for line in text.splitlines() if " dask cuda worker " in line]
    return shlex.split(line.partition(" dask cuda worker ")[2].partition(" > ")[0])


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of `dask cuda worker`, all of which are known: it passes the others on to preloaded modules."""
    found = cli.cuda.commands["worker"].make_context("worker", list(words)).params
    assert found["preload_argv"] == ()
    assert all(each.startswith("tcp://") for each in [found["scheduler"]] if each)
    return found


def parameters(of: Any) -> set[str]:
    return set(inspect.signature(of).parameters)


@pytest.mark.parametrize("system", ["slurm", "pbs"])
@pytest.mark.parametrize("image", [None, "docker://graphdask"])
def test_workers_of_a_job_get_what_dask_cuda_knows(system, image):
    text = jobs.SYSTEMS[system].script(replace(JOB, system=system, image=image))
    found = parsed(words_of_worker(text))
    limits = (found["nthreads"], found["memory_limit"], found["device_memory_limit"], found["dashboard"])
    assert limits == (1, "0", "0", False)  # nothing is spilled
    assert (found["interface"], found["protocol"]) == ("ib0", "tls")
    assert found["scheduler_file"].endswith("/scheduler.json")
    assert found["rmm_pool_size"] is None  # memory is graphdask's to ask for
    assert all(found[f"enable_{way}"] is None for way in ("tcp_over_ucx", "infiniband", "nvlink", "rdmacm"))


def test_workers_of_ranks_and_of_hosts_get_what_dask_cuda_knows():
    words = scripts.worker_arguments(gpu=True, tls=True)
    assert words[:4] == ["-m", "dask", "cuda", "worker"]
    assert parsed([*words[4:], "tcp://10.0.0.1:8786"])["scheduler"] == "tcp://10.0.0.1:8786"


def test_workers_of_dask_jobqueue_get_what_dask_cuda_knows(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    slurm = pytest.importorskip("dask_jobqueue.slurm", reason="needs dask-jobqueue, which the extra 'slurm' installs")
    monkeypatch.setattr(slurm, "SLURMCluster", asked)
    with pytest.raises(Asked) as caught:
        jobqueue.slurm_cluster(2, gpu=True, interface="ib0").__enter__()
    options = {name: value for name, value in caught.value.options.items() if name != "scheduler_options"}
    found = parsed(
        words_of_worker(slurm.SLURMJob("tcp://10.0.0.1:8786", "0", death_timeout=None, **options).job_script())
    )
    assert (found["nthreads"], found["memory_limit"], found["interface"]) == (1, "0", "ib0")
    assert found["protocol"] == "tls://"
    assert found["tls_cert"].startswith(str(tmp_path))
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setattr(slurm, "SLURMRunner", asked)
    with pytest.raises(Asked) as caught:
        jobqueue.slurm_runner(gpu=True, interface="ib0").__enter__()
    assert caught.value.options["worker_class"] == "dask_cuda.CUDAWorker"
    assert set(caught.value.options["worker_options"]) <= parameters(dask_cuda.CUDAWorker) | parameters(Nanny)


def test_a_cluster_of_this_host_gets_what_dask_cuda_knows(monkeypatch):
    known = parameters(dask_cuda.LocalCUDACluster) | parameters(LocalCluster) | parameters(Nanny)
    monkeypatch.setattr(dask_cuda, "LocalCUDACluster", asked)
    with pytest.raises(Asked) as caught:
        local._cuda_cluster(2, local._place("127.0.0.1", 0, tls.security_of_run()))
    assert caught.value.options["protocol"] == "tls"
    assert caught.value.options["security"].tls_worker_key.startswith("-----BEGIN PRIVATE KEY-----")
    assert set(caught.value.options) <= known
