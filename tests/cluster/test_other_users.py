"""Other users of a host reach no cluster on it: they cannot connect, read a key, or see shared memory."""

from __future__ import annotations

import http.client
import json
import logging
import os
import subprocess
import sys
import urllib.error
import urllib.request

import dask
import psutil
import pytest
from distributed import Client, LocalCluster
from gangs import eventually, generated
from ranks import needs_ucx

import graphdask as gd
from graphdask.cluster import encryption, jobs, scripts, tls
from graphdask.cluster.local import connect, local_cluster
from graphdask.cluster.scripts import Job
from graphdask.comm.shm.board import SharedMemory
from graphdask.gang import plain

NOBODY = 65534
OTHER_USER = """
import asyncio, json, os, sys
import distributed  # all of it before the user changes, who may not read it
from distributed.comm import connect, tcp
from graphdask.cluster import certificates
from graphdask.cluster.tls import security_with

ports, pids, files = json.loads(sys.argv[1])
texts = dict(zip(("cert", "key"), certificates.make()))
own = security_with({"ca_file": texts["cert"], **texts}).get_connection_args("client")
got = []


async def identify(address, arguments):
    comm = await connect(address, timeout=2, **arguments)
    await comm.write({"op": "identity", "reply": True})
    return await comm.read()


async def attempt(scheme, port, arguments):
    try:
        found = await asyncio.wait_for(identify(f"{scheme}://127.0.0.1:{port}", arguments), 3)
        got.append(["client", scheme, port, found["type"]])
    except (OSError, ValueError, TimeoutError):
        pass


async def attempts():
    await asyncio.gather(*(attempt(*way) for port in ports for way in (("tcp", port, {}), ("tls", port, own))))


asyncio.run(attempts())  # loads whatever an attempt needs while it can be read: a folder may be its owner's alone
got.clear()
os.setgroups([])
os.setgid(%(nobody)d)
os.setuid(%(nobody)d)
asyncio.run(attempts())
for path in [*files, *(f"/proc/{pid}/{name}" for pid in pids for name in ("environ", "fd", "mem", "maps"))]:
    try:
        got.append(["read", path, len(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))])
    except OSError:
        pass
print(json.dumps([os.getuid(), got]))
os._exit(0)
""" % {"nobody": NOBODY}  # noqa: UP031 (the text has braces)

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def processes() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def listening() -> dict[int, str]:
    """The address by port of what this process and its workers listen on."""
    found = {}
    for process in processes():
        for connection in process.net_connections():
            if connection.status == psutil.CONN_LISTEN:
                found[connection.laddr.port] = connection.laddr.ip
    return found


def what_others_get(ports: list[int], files: list[str]) -> list[list[object]]:
    """What another user gets of ports, of this process and its workers, and of files."""
    question = json.dumps([ports, [process.pid for process in processes()], files])
    done = subprocess.run([sys.executable, "-c", OTHER_USER, question], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    user, got = json.loads(done.stdout.splitlines()[-1])
    assert user == NOBODY
    return got


@pytest.mark.slow
@as_root
@pytest.mark.parametrize("comm", ["auto", "tcp", "ucx"])
def test_another_user_neither_connects_nor_reads(comm, tmp_path):
    if comm == "ucx":
        needs_ucx()
    before = set(listening())
    with gd.cluster.start(2, "cpu") as cluster, dask.config.set({"graphdask.comm": comm}):
        r = gd.bfs(generated(), 1)
        assert r.stats.transport == ("shm" if comm == "auto" else comm)
        cluster.write_scheduler_file(tmp_path / "s.json")
        ports = sorted(set(listening()) - before)
        assert len(ports) >= 4  # of the scheduler, and of a nanny and a worker for each
        assert what_others_get(ports, [*cluster.files.values(), str(tmp_path / "s.json")]) == []


@pytest.mark.slow
@as_root
def test_the_same_attempt_succeeds_where_there_is_no_tls():
    with local_cluster(1, "cpu", tls=False) as client:
        port = int(client.scheduler.address.rpartition(":")[2])
        assert ["client", "tcp", port, "Scheduler"] in what_others_get([port], [])


def answer(port: int, page: str) -> int:
    """The HTTP status of a page; 0 where none is spoken."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5) as found:
            return int(found.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):
        return 0


@pytest.mark.slow
def test_all_that_listens_is_of_this_host_alone_and_has_no_pages():
    needs_ucx()
    before = set(listening())
    with local_cluster(2, "cpu") as client, dask.config.set({"graphdask.comm": "ucx"}):
        gd.bfs(generated(), 1, client=client)
        found = {port: host for port, host in listening().items() if port not in before}
        assert set(found.values()) == {"127.0.0.1"}
        pages = ("health", "info/main/workers.html", "metrics", "json/counts.json")
        answers = {page: {answer(port, page) for port in found} for page in pages}
        assert answers == {page: {0, 404} for page in pages}  # some do not speak HTTP, the others have no pages


@pytest.mark.slow
def test_folders_of_workers_are_for_the_user_alone_and_go():
    def folder(dask_worker):
        return dask_worker.local_directory

    with local_cluster(2, "cpu") as client:
        places = {os.path.dirname(os.path.dirname(place)) for place in client.run(folder).values()}
        (place,) = places
        assert os.stat(place).st_mode & 0o777 == 0o700
        assert os.stat(place).st_uid == os.getuid()
    assert not os.path.exists(place)


def test_a_scheduler_file_is_not_written_through_what_others_put_there(tmp_path):
    mine, theirs = tmp_path / "s.json", tmp_path / "theirs"
    with gd.cluster.start(1, "cpu") as cluster:
        for name in ("s.json", f"s.json.{os.getpid()}.part"):
            (tmp_path / name).symlink_to(theirs)
        cluster.write_scheduler_file(mine)
        assert not mine.is_symlink()
        assert mine.stat().st_mode & 0o777 == 0o600
    assert not theirs.exists()


@pytest.mark.slow
def test_memory_of_ucx_is_the_users_own():
    needs_ucx()
    before = set(os.listdir("/dev/shm"))
    with local_cluster(2, "cpu") as client, dask.config.set({"graphdask.comm": "ucx"}):
        gd.bfs(generated(), 1, client=client)
        made = [each for each in os.listdir("/dev/shm") if each not in before and "ucx" in each]
        assert all(os.stat(f"/dev/shm/{each}").st_mode & 0o077 == 0 for each in made)


def test_memory_that_ranks_share_is_the_users_own():
    memory = SharedMemory(4096)
    try:
        assert os.fstat(memory.fd).st_mode & 0o777 == 0o600
    finally:
        memory.close()


def test_a_cluster_without_tls_is_warned_of_in_one_line_and_once(caplog):
    with (
        caplog.at_level(logging.WARNING, "graphdask"),
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, processes=False, protocol="tcp") as cluster,
        Client(cluster) as client,
    ):
        for n in (50, 60):
            gd.bfs(generated(n), 1, client=client)
        with Client(cluster.scheduler_address) as again:
            gd.bfs(generated(70), 1, client=again)
    said = [record.getMessage() for record in caplog.records if record.name == "graphdask"]
    assert len(said) == 1
    assert "\n" not in said[0]
    assert "has no TLS" in said[0]
    assert "gd.cluster.start()" in said[0]


@pytest.mark.parametrize("protocol", ["inproc", "tls"])
def test_clusters_that_let_nobody_in_are_not_warned_of(protocol, caplog):
    more = {"security": True} if protocol == "tls" else {"protocol": "inproc://"}
    with (
        caplog.at_level(logging.WARNING, "graphdask"),
        LocalCluster(1, threads_per_worker=1, dashboard_address=None, processes=False, **more) as cluster,
        Client(cluster) as client,
    ):
        assert client.scheduler.address.startswith(plain.SAFE)
        gd.bfs(generated(50), 1, client=client)
    assert [record for record in caplog.records if record.name == "graphdask"] == []


@pytest.mark.slow
def test_processes_of_jobs_listen_on_their_network_and_have_no_pages(tmp_path):
    file = tmp_path / "s.json"
    environment = os.environ | encryption.variables(tls.NO_PAGES)
    calls = [scripts.scheduler_arguments("lo"), scripts.worker_arguments(gpu=False, interface="lo")]
    running = []
    try:
        for call in calls:
            command = [sys.executable, "-P", *call, "--scheduler-file", str(file)]
            running.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
            eventually(file.exists)
        with connect(scheduler_file=file):
            before = {connection.laddr.port for connection in psutil.Process().net_connections()}
            found = {port: host for port, host in listening().items() if port not in before}
            assert set(found.values()) == {"127.0.0.1"}
            assert {answer(port, "health") for port in found} == {0, 404}
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(60)


def test_jobs_are_set_to_have_no_pages():
    text = jobs.script(Job("/work/job", ("run", "bfs", "g.txt"), workers=2, directory="/"))
    for role in "SCHEDULER", "WORKER":
        assert f"export DASK_DISTRIBUTED__{role}__HTTP__ROUTES='[]'\n" in text
