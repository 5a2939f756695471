"""TCP ranks as processes of their own, killed and stopped."""

import contextlib
import hashlib
import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).with_name("tcp_rank.py")
spec = importlib.util.spec_from_file_location("tcp_rank", SCRIPT)
tcp_rank = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tcp_rank)


@contextlib.contextmanager
def processes(scenario, size, timeout=120.0):
    """Start `size` ranks and introduce them to each other."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(SCRIPT), scenario, str(rank), str(timeout)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        addresses = [hear(rank)["address"] for rank in ranks]
        for rank in ranks:
            rank.stdin.write(json.dumps(addresses) + "\n")
            rank.stdin.flush()
        yield ranks
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
            rank.stdin.close()
            rank.stdout.close()


def hear(rank):
    line = rank.stdout.readline()
    assert line, f"a rank ended with status {rank.wait()}"
    return json.loads(line)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_thousand_exchanges_bring_what_was_sent(size):
    with processes("many", size) as ranks:
        got = [hear(rank)["digest"] for rank in ranks]
    for receiver in range(size):
        digest = hashlib.sha256()
        for number in range(1000):
            for sender in range(size):
                part = tcp_rank.payload(sender, receiver, number)
                digest.update(b"-" if part is None else part.tobytes())
            digest.update(np.repeat(np.arange(size), number % 4).tobytes())
        assert got[receiver] == digest.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_large_payloads_cross(size):
    with processes("large", size) as ranks:
        assert [hear(rank) for rank in ranks] == [{"right": True}] * size


@pytest.mark.chaos
@pytest.mark.parametrize("size", [2, 3, 4])
def test_killed_peer_is_lost_at_once(size):
    with processes("lose", size, timeout=200) as ranks:
        assert all(hear(rank)["ready"] for rank in ranks)
        ranks[-1].send_signal(signal.SIGKILL)
        reports = [hear(rank) for rank in ranks[:-1]]
    for report in reports:
        assert report["error"] == "PeerLost"
        assert report["seconds"] < 100
    assert any(f"rank {size - 1}" in report["text"] for report in reports)


@pytest.mark.chaos
def test_stopped_peer_is_lost_after_the_timeout():
    with processes("lose soon", 3) as ranks:
        assert all(hear(rank)["ready"] for rank in ranks)
        ranks[-1].send_signal(signal.SIGSTOP)
        reports = [hear(rank) for rank in ranks[:-1]]
    for report in reports:
        assert report["error"] == "PeerLost"
        assert report["seconds"] < 100
    assert any("waited 2 s for ranks [2]" in report["text"] for report in reports)
