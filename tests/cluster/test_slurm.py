"""Jobs of a real Slurm that this host runs for the length of these tests: one node, a scheduler, two workers.

A command waits before it begins for as long as there is a file `wait` in its folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import slurm_host

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(bool(slurm_host.missing()), reason=slurm_host.missing() or "Slurm can be started"),
]

DEADLINE = 300
EDGES = "10 20\n20 30\n40 50\n"
BFS = ["--slurm", "--workers", 2, "--interface", "lo", "--output", "job"]
HOLD = """
import os, sys, time
while "graphdask.cli" in sys.orig_argv and "submit" not in sys.orig_argv and os.path.exists("wait"):
    open("waiting", "w").close()
    time.sleep(0.1)
"""
READ = ["run", "bfs", "graph.txt", "--undirected", "--source", "10", "--json"]


@pytest.fixture(scope="module")
def config() -> Iterator[Path]:
    with slurm_host.slurm_host() as config:
        yield config


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


@pytest.fixture
def submit(config: Path, own_folder: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen]]:
    """Start `graphdask submit` in an empty folder."""
    started: list[subprocess.Popen] = []
    hold = tmp_path / "hold"
    hold.mkdir()
    (hold / "sitecustomize.py").write_text(HOLD)
    (tmp_path / "graph.txt").write_text(EDGES)
    environment = os.environ | {"SLURM_CONF": str(config), "COLUMNS": "1000", "PYTHONPATH": str(hold)}
    environment["XDG_CONFIG_HOME"] = str(own_folder)

    def start(*arguments: object) -> subprocess.Popen:
        command = [sys.executable, "-P", "-m", "graphdask.cli", "submit", *map(str, arguments)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.communicate()
    subprocess.run(["scancel", "--user", "root"], env=environment, check=False, timeout=DEADLINE)


def line_with(process: subprocess.Popen, words: str) -> str:
    """The next line on standard error with these words; it ends with an assertion where the process ends before."""
    seen = []
    for line in process.stderr:
        seen.append(line)
        if words in line:
            return line
    raise AssertionError(f"no {words!r} in {''.join(seen)}")


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=DEADLINE)
    return process.returncode, out, " ".join(err.split())  # errors are as wide as the terminal


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def holds(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_a_search_on_two_workers_comes_back_with_its_answer(submit, tmp_path):
    code, out, err = ended(submit(*BFS, *READ))
    assert code == 0, err
    answer = json.loads(out)
    assert answer["answer"] == {"source": "10", "reached": 3, "vertices": 5, "max_depth": 2}
    assert answer["stats"]["ranks"] == 2
    assert "job 1: running" in err or ": completed" in err
    assert "bfs from 10 ..." in err  # the run's own steps
    assert "tls://127.0.0.1:" in text(tmp_path / "job/scheduler.log")
    assert "tcp://" not in text(tmp_path / "job/scheduler.log") + text(tmp_path / "job/worker-0.log")
    code, again, err = ended(submit("--resume", "job"))
    assert (code, again) == (0, out)  # it is there already: no job more
    code, _, err = ended(submit("--resume", "job", "--time", "5"))
    assert code == 2
    assert "has its result; leave --time out" in err


def test_an_interrupt_cancels_the_job_and_all_it_started(submit, config, tmp_path):
    (tmp_path / "wait").touch()
    before = set(slurm_host.ours(config))
    process = submit(*BFS, *READ)
    assert holds(lambda: all("Registered to" in text(tmp_path / f"job/worker-{k}.log") for k in (0, 1)))
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130
    assert "is cancelled" in err
    assert holds(lambda: set(slurm_host.ours(config)) <= before)


def test_a_job_that_dies_says_how(submit, config, tmp_path):
    (tmp_path / "wait").touch()
    process = submit("--slurm", "--output", "job", "info", "graph.txt")
    number = line_with(process, ": running").split()[1].rstrip(":")
    assert holds((tmp_path / "waiting").exists)
    environment = os.environ | {"SLURM_CONF": str(config)}
    subprocess.run(["scancel", "--batch", "--signal=KILL", number], env=environment, check=True, timeout=DEADLINE)
    code, _, err = ended(process)
    assert code == 128 + signal.SIGKILL
    assert f"job {number} failed, exit code 137, killed by signal 9" in err


def test_a_job_whose_command_fails_shows_its_words_and_its_exit_code(submit, tmp_path):
    code, out, err = ended(submit("--slurm", "--output", "a job, 100%", "info", "absent.txt"))
    assert (code, out) == (2, "")
    assert "absent.txt: no such file" in err


def test_a_job_that_meets_its_time_limit_is_submitted_again(submit, tmp_path):
    (tmp_path / "wait").touch()
    # Slurm looks every half minute whom to warn: at the first of these looks, by this much ahead of the limit.
    code, out, err = ended(submit("--time", "1", "--directive", "--signal=B:USR1@30", *BFS, *READ))
    assert (code, out) == (124, "")
    assert f"met its time limit of 1; graphdask submit --resume {tmp_path / 'job'}" in err
    (tmp_path / "wait").unlink()
    code, out, err = ended(submit("--resume", "job", "--time", "1:00:00"))
    assert code == 0, err
    assert json.loads(out)["answer"]["reached"] == 3


PROGRAM = """
import os, time
import graphdask as gd

def until(a):
    while a.superstep == 25 and os.path.exists({wait!r}):
        time.sleep(0.1)
    return False

spread = gd.Program(
    state={{"x": (float, 1.0)}}, message=(float, "sum"), send=lambda e: e.source.x / 3.0,
    apply=lambda v, m: {{"x": 0.5 * v.x + m}}, activity="all", until=until, max_supersteps=40,
)
"""


def test_a_run_with_checkpoints_that_meets_its_time_limit_goes_on_in_the_next_job(submit, tmp_path):
    wait = tmp_path / "wait superstep"
    (tmp_path / "spread.py").write_text(PROGRAM.format(wait=str(wait)))
    saved = tmp_path / "saved"
    run = ["run", f"{tmp_path / 'spread.py'}:spread", "graph.txt", "--undirected", "--json"]
    code, expected, err = ended(submit("--slurm", "--workers", 2, "--interface", "lo", "--output", "whole", *run))
    assert code == 0, err
    wait.touch()
    run += ["--checkpoint", str(saved), "--every", "10"]
    job = ["--slurm", "--workers", 2, "--interface", "lo", "--output", "job"]
    code, out, err = ended(submit("--time", "2", "--directive", "--signal=B:USR1@30", *job, *run))
    assert (code, out) == (124, ""), err
    assert sorted(each.name for each in saved.iterdir()) == ["superstep-000000000010", "superstep-000000000020"]
    wait.unlink()
    code, out, err = ended(submit("--resume", "job", "--time", "1:00:00"))
    assert code == 0, err
    assert json.loads(out)["stats"]["checkpoints"]["resumed"] == 20
    assert json.loads(out)["answer"] == json.loads(expected)["answer"]


def test_what_slurm_refuses_is_said_in_its_words(submit, tmp_path):
    code, _, err = ended(submit("--slurm", "--partition", "nowhere", "--output", "job", "info", "graph.txt"))
    assert code == 2
    assert "sbatch refused the job: invalid partition specified: nowhere" in err
    code, _, err = ended(submit("--slurm", "--output", "job", "info", "graph.txt"))  # the folder is free again
    assert code == 0, err


SCRIPT = """
import graphdask as gd
from graphdask.cluster.jobqueue import slurm_cluster, slurm_runner

if __name__ == "__main__":
    with {cluster} as client:
        r = gd.bfs(gd.from_edges([10, 20, 40], [20, 30, 50], directed=False), 10, client=client)
        print("depths", r.depth.tolist(), "of", r.stats.ranks, "at", client.scheduler.address.partition(":")[0])
"""
LATE = """
import time
from graphdask.cluster import certificates

make = certificates.make
certificates.make = lambda: time.sleep(3) or make()
"""


@pytest.mark.parametrize(
    ("cluster", "start", "protocol"),
    [
        ("slurm_cluster(2, interface='lo', memory='500MB', time='10')", [], "tls"),
        ("slurm_cluster(2, interface='lo', memory='500MB', time='10', tls=False)", [], "tcp"),
        (
            "slurm_runner(interface='lo')",
            ["srun", "-K", "-n4"],
            "tls",
        ),  # a rank that fails ends the others, and says why
    ],
)
def test_dask_jobqueue_starts_workers_that_fit(config, own_folder, tmp_path, cluster, start, protocol):
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue, which the extra 'slurm' installs")
    (tmp_path / "script.py").write_text(SCRIPT.format(cluster=cluster))
    environment = os.environ | {"SLURM_CONF": str(config), "XDG_CONFIG_HOME": str(own_folder)}
    if start:  # the certificate comes late, long after the workers
        (tmp_path / "script.py").write_text(LATE + SCRIPT.format(cluster=cluster))
        (tmp_path / "config").mkdir()
        environment |= {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = subprocess.run(
        [*start, sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"depths [0, 1, 2, -1, -1] of 2 at {protocol}\n"
