"""`graphdask demo`, as a newcomer starts it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

import graphdask as gd

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What the demo runs, compiled once, and on disk, before every worker does so at the same time."""
    graph = gd.generate.preferential_attachment(2000, degree=4, seed=1).partition(2, device="cpu")
    gd.bfs(graph, 0).verify()
    gd.connected_components(graph).verify()


@pytest.mark.slow
def test_the_demo_verifies_both_answers_and_saves_the_picture(program, tmp_path):
    done = program("demo", "--vertices", "20000", "--workers", "2", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "20,000 vertices, 79,990 edges" in done.stdout
    assert done.stdout.count("verified") == 4
    picture = tmp_path / "graphdask-output" / "degree_distribution.png"
    assert "graphdask-output/degree_distribution.png" in done.stdout
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.slow
def test_the_json_of_the_demo_is_one_object(program, tmp_path):
    done = program("demo", "--vertices", "2e4", "--workers", "1", "--device", "cpu", "--json", "--output", "here")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert done.stderr == ""
    # A clique of 4 and 4 edges of each vertex after it.
    assert (record["vertices"], record["edges"]) == (20_000, 6 + 19_996 * 4)
    assert record["verified"] is True
    assert record["workers"] == 1
    assert (tmp_path / "here" / "degree_distribution.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_demo_and_its_workers(program_path, tmp_path, sent, code):
    arguments = [program_path, "demo", "--vertices", "20_000_000", "--workers", "2", "--device", "cpu"]
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    ) as demo:
        workers = wait_for_workers(demo)
        os.kill(demo.pid, sent)
        shown, said = demo.communicate(timeout=400)
    assert demo.returncode == code
    assert shown == ""
    assert said == ("error: interrupted\n" if sent == signal.SIGINT else "")
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def wait_for_workers(demo: subprocess.Popen) -> list[int]:
    """Process ids of the demo's workers, once there are two."""
    children = Path(f"/proc/{demo.pid}/task").glob
    for _ in range(2400):
        with contextlib.suppress(OSError):  # a thread or a process that has just ended
            found = [int(pid) for file in children("*/children") for pid in file.read_text().split()]
            workers = [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            if len(workers) == 2:
                return workers
        with contextlib.suppress(subprocess.TimeoutExpired):
            demo.wait(0.05)
    raise AssertionError("the workers did not start")


def test_a_graph_too_small_for_its_degree_is_refused_before_the_cluster_starts(program):
    done = program("demo", "--vertices", "3")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


def test_a_folder_that_cannot_be_made_is_refused_before_the_cluster_starts(program, tmp_path):
    (tmp_path / "file").write_text("")
    done = program("demo", "--output", "file/folder")
    assert done.returncode == 2
    assert done.stderr.startswith("error: file/folder cannot be written: not a directory")
