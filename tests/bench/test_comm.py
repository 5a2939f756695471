"""The benchmark of the communicators runs, checks its data, and reports what it measured."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from ranks import needs_ucx

from graphdask.bench.comm import run
from graphdask.cli import cli
from graphdask.errors import InputError


@pytest.mark.slow
def test_every_measurement_says_what_it_is():
    needs_ucx()
    rows = run(ranks=(2,), sizes=(8, 100000))
    assert [(row["communicator"], row["ranks"], row["bytes"]) for row in rows] == [
        (kind, 2, nbytes) for kind in ("threads", "tcp", "shm", "ucx", "ucx-raw") for nbytes in (8, 100000)
    ]
    for row in rows:
        assert row["us"] > 0
        assert row["gbs"] == pytest.approx(row["bytes"] / row["us"] / 1e3, rel=0.1, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "tcp"])
def test_the_table_is_for_people(kind):
    done = CliRunner().invoke(cli, ["bench", "comm", "--communicator", kind, "--ranks", "3", "--size", "8"])
    assert done.exit_code == 0, done.output
    assert f"communicator={kind}  device=cpu  ranks=3  bytes=8  us=" in done.stderr
    assert done.stdout.splitlines()[-1].split()[0] == kind


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(InputError, match="communicator='mpi'"):
        run("mpi")
    with pytest.raises(InputError, match="device='tpu'"):
        run(device="tpu")
    with pytest.raises(InputError, match="NCCL moves device memory only"):
        run("nccl")
