"""Which data plane a gang takes where its cluster speaks TLS: UCX within a host, through memory alone, and else TCP."""

from __future__ import annotations

from types import SimpleNamespace

import dask
import pytest
from gangs import generated
from ranks import needs_ucx

import graphdask as gd
from graphdask.cluster.local import local_cluster
from graphdask.comm.ucx.plane import PRIVATE, UcxPlane
from graphdask.config import Config
from graphdask.errors import Unsupported
from graphdask.gang.cluster import DaskGang
from graphdask.gang.worker import PRIVATE_UCX, Ability


def gang(hosts: tuple[str, str], comm: str, allowed: bool | None, *, encrypted: bool, required: bool) -> DaskGang:
    """A gang of two workers that can use UCX, before it has chosen."""
    made = DaskGang.__new__(DaskGang)
    made.config = Config(comm=comm, allow_insecure_ucx=allowed)
    made.size, made.device = 2, "cpu"
    made.hosts = [SimpleNamespace(ranks=(rank,), address=str(rank)) for rank in range(2)]
    made._abilities = {
        str(rank): Ability(cuda=False, ucx=True, why_not_ucx="", encrypted=encrypted, required=required, host=host)
        for rank, host in enumerate(hosts)
    }
    return made


@pytest.mark.parametrize(
    ("hosts", "allowed", "encrypted", "required", "control", "private"),
    [
        (("a", "a"), None, False, False, "ucx", False),
        (("a", "a"), None, True, False, "ucx", True),
        (("a", "a"), None, True, True, "tcp", True),
        (("a", "a"), False, True, False, "tcp", False),
        (("a", "a"), True, True, True, "ucx", False),
        (("a", "b"), None, True, False, "tcp", False),
        (("a", "b"), True, True, False, "ucx", False),
        (("", ""), None, True, False, "tcp", False),
    ],
)
def test_the_plane_of_a_gang(hosts, allowed, encrypted, required, control, private):
    chosen = gang(hosts, "auto", allowed, encrypted=encrypted, required=required)
    assert chosen._chosen_control() == control
    assert chosen._private == private
    asked = gang(hosts, "ucx", allowed, encrypted=encrypted, required=required)
    if control == "ucx":
        assert asked._chosen_control() == "ucx"
    else:
        with pytest.raises(Unsupported, match="requires encryption, and ucx carries none"):
            asked._chosen_control()


def test_a_private_plane_opens_no_port(monkeypatch):
    needs_ucx()
    monkeypatch.delenv("UCX_TLS", raising=False)
    with UcxPlane(PRIVATE) as plane:
        assert "tcp/" not in plane.context.info
        assert plane.shares_memory
    with UcxPlane() as plane:
        assert "tcp/" in plane.context.info


def test_transports_that_the_user_names_are_used(monkeypatch):
    needs_ucx()
    monkeypatch.setenv("UCX_TLS", "tcp,self")
    with UcxPlane(PRIVATE) as plane:
        assert "tcp/" in plane.context.info


@pytest.mark.slow
def test_workers_of_a_local_cluster_keep_private_planes():
    needs_ucx()

    def kinds(dask_worker):
        from graphdask.gang.worker import process_of

        return sorted(kind for kind, _ in process_of(dask_worker).planes)

    with local_cluster(2, "cpu") as client:
        G = generated(200)
        assert gd.bfs(G, 1, client=client).stats.transport == "shm"
        assert list(client.run(kinds).values()) == [["shm", PRIVATE_UCX]] * 2
        with dask.config.set({"graphdask.comm": "tcp"}):
            assert gd.bfs(G, 1, client=client).stats.transport == "tcp"
