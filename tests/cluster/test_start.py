"""`graphdask cluster start`, and the same in Python: what it prints, how it ends, and that others can use it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from click.testing import CliRunner
from gangs import eventually, generated

import graphdask as gd
from graphdask.cli import cli
from graphdask.cluster import certificates, local, tls
from graphdask.cluster.local import connect
from graphdask.cluster.tuning import CLUSTER
from graphdask.comm.tcp.plane import Address
from graphdask.errors import CommunicationError, GraphdaskWarning, InputError, Unsupported
from graphdask.gang import abilities
from graphdask.gang.clients import active_client


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """A cluster of two workers that speaks TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))
        with gd.cluster.start(2, "cpu", tls=True) as cluster:
            yield cluster


@pytest.mark.slow
def test_graph_data_of_a_cluster_with_tls_is_encrypted_too(encrypted):
    G = generated()
    expected = gd.bfs(G, 1, client=encrypted.client)
    with dask.config.set({"graphdask.comm": "tcp"}):
        r = gd.bfs(G, 1, client=encrypted.client)
        assert np.array_equal(r.depth, expected.depth)
        assert [Address.unpack(plane).secure for plane in G.built.gang._registration.planes] == [True, True]


@pytest.mark.slow
def test_ucx_and_nccl_are_refused_where_encryption_is_required():
    G = generated()
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        gd.cluster.start(2, "cpu") as cluster,
    ):
        assert gd.bfs(G, 1, client=cluster.client).stats.transport == "shm"
        for comm in "ucx", "nccl":
            with (
                dask.config.set({"graphdask.comm": comm}),
                pytest.raises(Unsupported, match=f"requires encryption, and {comm} carries none; use comm tcp"),
            ):
                gd.bfs(G, 1, client=cluster.client)


def test_who_has_the_certificate_gets_in_and_nobody_else(encrypted, tmp_path, monkeypatch):
    file = tmp_path / "s.json"
    encrypted.write_scheduler_file(file)
    assert file.stat().st_mode & 0o777 == 0o600
    with connect(encrypted.address) as client:  # this process has started it
        assert len(client.nthreads()) == 2
    # Another process knows nothing of the clusters that this one has started.
    monkeypatch.delitem(tls.of_this_process, encrypted.address)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # a user who has another
    with connect(scheduler_file=file) as client:
        assert len(client.nthreads()) == 2
    certificates.write(tls.user_folder(), *certificates.make())
    with pytest.raises(CommunicationError, match="certificate is not the one"), connect(encrypted.address, timeout=5):
        pass
    plain = encrypted.address.replace("tls://", "tcp://")
    with pytest.raises(CommunicationError, match="One with TLS has a tls:// address"), connect(plain, timeout=2):
        pass


def test_a_scheduler_without_tls_is_distinguished_from_one_with():
    with gd.cluster.start(1, "cpu", tls=False) as cluster:
        address = cluster.address.replace("tcp://", "tls://")
        tls.security_of_cluster()
        with pytest.raises(CommunicationError, match="does not speak TLS: use tcp://"), connect(address, timeout=2):
            pass


@pytest.mark.slow
def test_calls_run_on_a_cluster_until_it_is_closed():
    before = set(threading.enumerate())
    with gd.cluster.start(2, "cpu") as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        assert repr(cluster) == f"<Cluster at {cluster.address}, 2 workers>"
        assert active_client() is cluster.client
        assert gd.bfs(generated(50), 1).stats.ranks == 2
    assert repr(cluster).endswith("closed>")
    assert active_client() is not cluster.client
    eventually(lambda: not {each.name for each in set(threading.enumerate()) - before} & {"Dask-Nanny", "IO loop"})


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"host": "192.0.2.77"}, "give an address of this host"),
        ({"host": "no.such.host.invalid"}, "give an address of this host"),
        ({"port": 70000}, "between 0 and 65535"),
        ({"tls": False, "require": True}, "require-encryption is set"),
    ],
)
def test_a_cluster_that_cannot_be_reached_as_asked_is_not_started(where, message):
    required = where.pop("require", None)
    with (
        dask.config.set({"distributed.comm.require-encryption": required}),
        pytest.raises(InputError, match=message),
    ):
        gd.cluster.start(1, "cpu", **where)


@pytest.mark.slow
def test_an_error_says_what_a_script_lacks_that_workers_would_run_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import graphdask as gd\nwith gd.cluster.start(1, 'cpu'):\n    print('started')\n")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100)
    assert run.returncode == 1
    assert "started" not in run.stdout
    assert run.stderr.rstrip().endswith('in a script it has to be started under `if __name__ == "__main__":`')
    assert "a worker, which imports the script" in run.stderr


@pytest.mark.slow
def test_the_command_says_how_to_use_it_and_ends_with_an_interrupt(tmp_path):
    file = tmp_path / "s.json"
    (tmp_path / "graph.txt").write_text("1 2\n2 3\n4 5\n")
    program = [shutil.which("graphdask"), "cluster", "start", "--workers", "1", "--device", "cpu"]
    process = subprocess.Popen([*program, "--scheduler-file", str(file), "--json"], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            said = ""
            while not said.rstrip().endswith("}"):
                line = process.stdout.readline()
                assert line, f"it ended with {process.wait()}"
                said += line
            record = json.loads(said)
            assert (record["workers"], record["tls"], record["scheduler_file"]) == (1, True, str(file))
            run = ["run", "components", str(tmp_path / "graph.txt"), "--json"]
            by_file = CliRunner().invoke(cli, [*run, "--scheduler-file", str(file)])
            assert (by_file.exit_code, json.loads(by_file.stdout)["answer"]["components"]) == (0, 2)
            by_address = CliRunner(env={"XDG_CONFIG_HOME": str(tmp_path)}).invoke(
                cli, [*run, "--scheduler", record["address"]]
            )
            assert by_address.exit_code == 2
            assert "give the file that graphdask cluster start wrote" in " ".join(by_address.stderr.split())
            key = json.loads(file.read_text())["tls"]["key"]
            assert os.stat(key).st_mode & 0o777 == 0o600
            assert os.stat(os.path.dirname(key)).st_mode & 0o777 == 0o700
            with connect(scheduler_file=file) as client:
                (worker,) = client.run(os.getpid).values()
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
        finally:
            process.kill()
    assert not file.exists()
    assert not os.path.exists(os.path.dirname(key))
    eventually(lambda: not os.path.exists(f"/proc/{worker}"))


@pytest.mark.slow
def test_workers_with_another_version_are_refused(monkeypatch):
    with gd.cluster.start(1, "cpu") as cluster:
        # A worker of another release cannot be installed beside this one.
        monkeypatch.setattr(abilities, "VERSION", "9.9")
        with pytest.raises(InputError, match=r"has graphdask 9.9, but tls.* install the same version everywhere"):
            gd.bfs(generated(), 1, client=cluster.client)


def test_a_worker_without_gpu_among_workers_with_one_is_named():
    mixed = {"tcp://a:1": True, "tcp://b:1": False}
    with pytest.raises(InputError, match="tcp://b:1 has no usable GPU; start workers with dask cuda worker"):
        abilities.chosen_device("cuda", mixed)
    with pytest.warns(GraphdaskWarning, match="GPUs are not used, because tcp://b:1 has none"):
        assert abilities.chosen_device("auto", mixed) == "cpu"
    assert abilities.chosen_device("auto", {"tcp://a:1": True}) == "cuda"
    assert abilities.chosen_device("auto", {"tcp://b:1": False}) == "cpu"
    assert abilities.chosen_device("cpu", mixed) == "cpu"


@pytest.mark.parametrize(
    ("workers", "words"),
    [(1000, "this host: .* 1000 cores of [12], .* GiB"), (10**6, "this host: .* GiB"), (10**18, "any host")],
)
def test_more_workers_than_a_host_can_run_are_refused_before_any_is_started(workers, words, host):
    host.cores(2)
    began = time.monotonic()
    with pytest.raises(gd.InputError, match=rf"workers={workers} are too many for {words}"):
        gd.cluster.start(workers=workers, device="cpu")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("cores", "allowed"), [(1, 8), (2, 8), (16, 64)])
def test_some_workers_for_each_core_are_allowed_where_memory_is(cores, allowed, host, tuned):
    host.cores(cores)
    tuned(CLUSTER, worker_bytes=1)
    local._check_number(allowed)
    with pytest.raises(gd.InputError, match=f"ask for {cores}, and at most {allowed}"):
        local._check_number(allowed + 1)


def test_workers_that_memory_does_not_hold_are_refused(tuned):
    tuned(CLUSTER, worker_bytes=1 << 50)
    with pytest.raises(gd.InputError, match=r"at most 1$"):
        local._check_number(2)
