"""Clusters of ranks and of hosts over SSH, which are processes that start here; with a real `mpiexec` too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphdask.cluster import certificates
from graphdask.cluster.launchers import LEAST_RANKS, file_of_ranks, rank_here, ssh_cluster
from graphdask.errors import CommunicationError, InputError, MissingDependency

DEADLINE = 300
EDGES = "10 20\n20 30\n40 50\n"
READ = ["run", "bfs", "graph.txt", "--undirected", "--source", "10", "--json"]
SSH = """#!/bin/sh
[ "$1" != down ] || { echo "ssh: connect to host down port 22: No route to host" >&2; exit 255; }
shift
exec sh -c "$*"
"""


def submit(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "graphdask.cli", "submit", *arguments]


def of_here(needle: str) -> list[int]:
    """Processes that have these words in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if needle.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def none_is_left(needle: str) -> bool:
    deadline = time.monotonic() + DEADLINE
    while of_here(needle):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, (5, 8, 1)),
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0"}, (3, 4, 0)),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "3", "SLURM_LOCALID": "2"}, (2, 3, 2)),
        # mpiexec within a job of Slurm: its ranks count, not the task that it is started in
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, (3, 4, 3)),
    ],
)
def test_a_rank_is_read_from_the_environment(environment, rank):
    found = rank_here(environment)
    assert (found.number, found.size, found.local) == rank


@pytest.mark.parametrize(
    ("environment", "words"), [({}, "no rank of mpiexec"), ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "2 ranks are too few")]
)
def test_what_is_no_rank_is_refused(environment, words):
    with pytest.raises(InputError, match=words):
        rank_here(environment)


def test_ranks_of_a_job_share_a_file():
    assert file_of_ranks({"PBS_JOBID": "7.host"}).name == "graphdask-scheduler-7-host.json"


@pytest.mark.slow
def test_ranks_become_scheduler_client_and_workers_and_end_together(tmp_path):
    (tmp_path / "graph.txt").write_text(EDGES)
    ranks = []
    for rank in range(LEAST_RANKS + 1):
        environment = os.environ | {"PMI_RANK": str(rank), "PMI_SIZE": str(LEAST_RANKS + 1), "TEST": str(tmp_path)}
        with (tmp_path / f"rank-{rank}").open("w") as out:
            command = submit("--mpi", "--interface", "lo", *READ)
            ranks.append(subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out, stderr=out))
    try:
        assert [each.wait(DEADLINE) for each in ranks] == [0] * len(ranks)
    finally:
        for each in ranks:
            each.kill()
            each.wait()
    answer = json.loads((tmp_path / "rank-1").read_text())
    assert answer["answer"]["reached"] == 3
    assert answer["stats"]["ranks"] == 2
    assert none_is_left(f"TEST={tmp_path}")
    assert not list(tmp_path.glob("graphdask-scheduler*"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mpiexec") is None, reason="needs mpiexec, of Open MPI or another MPI")
def test_ranks_of_an_mpi_that_is_installed(tmp_path):
    (tmp_path / "graph.txt").write_text(EDGES)
    names = "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"
    here = os.environ | dict.fromkeys(names, "1") | {"TEST": str(tmp_path)}
    run = subprocess.run(
        ["mpiexec", "-n", "4", *submit("--mpi", "--interface", "lo", *READ)], cwd=tmp_path, capture_output=True,
        text=True, timeout=DEADLINE, env=here,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["answer"]["reached"], answer["stats"]["ranks"]) == (3, 2)
    assert none_is_left(f"TEST={tmp_path}")


@pytest.fixture
def ssh(tmp_path) -> list[str]:
    path = tmp_path / "ssh"
    path.write_text(SSH)
    path.chmod(0o755)
    return [str(path)]


@pytest.fixture
def named(tmp_path) -> dict[str, str]:
    """What the environment says of a certificate for everybody, signed by itself."""
    certificate, key = tmp_path / certificates.CERTIFICATE, tmp_path / certificates.KEY
    certificates.write(tmp_path, *certificates.make())
    found = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate)}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(certificate)
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(key)
    return found | {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}


@pytest.mark.slow
@pytest.mark.usefixtures("ssh")
def test_hosts_over_ssh_compute_behind_tls_and_are_left_clean(tmp_path, named):
    (tmp_path / "graph.txt").write_text(EDGES)
    (tmp_path / "ssh").write_text(SSH.replace("shift", "shift 5", 1))  # `-o` twice, with what they set, and the host
    environment = os.environ | named | {"TEST": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = submit("--ssh", "one,two", "--workers", "2", "--interface", "lo", *READ)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["answer"]["reached"] == 3
    assert answer["stats"]["ranks"] == 2
    assert none_is_left(f"TEST={tmp_path}")


@pytest.mark.slow
def test_hosts_without_our_certificate_receive_it_and_are_left_clean_where_the_client_is_killed(tmp_path, ssh):
    (tmp_path / "ssh").write_text(SSH.replace("exec", "export XDG_CONFIG_HOME=/nowhere\nexec"))
    code = (
        "import os, signal, sys\n"
        "from graphdask.cluster.launchers import ssh_cluster\n"
        f"with ssh_cluster(['one'], interface='lo', ssh={ssh!r}) as client:\n"
        "    assert all(address.startswith('tls://') for address in client.nthreads())\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"TEST": str(tmp_path), "TMPDIR": str(tmp_path)}  # it cannot remove its logs
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=DEADLINE, cwd=tmp_path)
    assert done.returncode == -9
    assert none_is_left(f"TEST={tmp_path}")


def test_a_host_that_cannot_be_reached_is_said_in_the_words_of_ssh(ssh):
    with pytest.raises(CommunicationError, match=r"down: ssh ended with exit code 255: .*No route to host"):
        ssh_cluster(["down"], ssh=ssh).__enter__()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"hosts": []}, InputError, "no host is named"),
        ({"hosts": ["-oProxyCommand=x"]}, InputError, "begins with a hyphen"),
        ({"hosts": ["one", "two"], "workers": 1}, InputError, "fewer than the 2 hosts"),
        ({"hosts": ["one"], "ssh": ["no-such-ssh"]}, MissingDependency, "there is no no-such-ssh on PATH"),
    ],
)
def test_hosts_that_cannot_be_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        ssh_cluster(**arguments).__enter__()
