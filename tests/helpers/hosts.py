"""Hosts that are network namespaces of this one, each with its own address, and Dask clusters across them.

They are joined by a bridge, on which this process has an address too; or by `relay.py`, which delays and loses packets.
Everything ends with the `with`, and what a killed process of tests left behind is removed by the next one.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from distributed import Client

WITHIN = 120.0
"""Seconds that anything here may take on a loaded machine."""
PORT = 8786
QUIET = {"DASK_LOGGING__DISTRIBUTED": "critical", "UCX_TLS": "tcp"}
"""UCX would find the memory that these hosts share."""
_numbers = itertools.count()


@cache
def why_not() -> str:
    """Why no such hosts can be made here; empty where they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [name for name in ("ip", "tc", "setpriv") if shutil.which(name) is None]
    if missing:
        return f"needs {', '.join(missing)} (Debian: iproute2, util-linux)"
    try:
        with Network(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"this kernel or container makes no network namespaces: {error.stderr.strip()}"


def needs_hosts(relay: bool = False) -> None:
    """Skip the test where no such hosts can be made."""
    if reason := why_not():
        pytest.skip(reason)
    if relay and not os.path.exists("/dev/net/tun"):
        pytest.skip("needs /dev/net/tun")


class Network:
    """A context manager: hosts 0 to `hosts - 1`.

    Parameters
    ----------
    hosts : int
    relay : pair of float, optional
        Delay in milliseconds each way, and the share of packets that is lost.
    """

    def __init__(self, hosts: int, relay: tuple[float, float] | None = None):
        self._relayed = relay
        _sweep()
        own = f"gd{os.getpid()}n{next(_numbers)}"
        self.names = [f"{own}h{i}" for i in range(hosts)]
        self._links = self.names
        """What the cable of each host is called at the bridge."""
        self._bridge = f"{own}b"
        subnet = _free_subnet()
        self.addresses = [f"{subnet}.{i + 1}" for i in range(hosts)]
        self.here = f"{subnet}.254"
        self._relay: subprocess.Popen[str] | None = None
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Network:
        try:
            for name in self.names:
                _ip(f"netns add {name}")
                _ip(f"-n {name} link set lo up")
            if self._relayed is None:
                self._join_by_bridge()
            else:
                self._join_by_relay(*self._relayed)
        except BaseException:
            self.close()
            raise
        return self

    def _join_by_bridge(self) -> None:
        _ip(f"link add {self._bridge} type bridge")
        _ip(f"address add {self.here}/24 dev {self._bridge}")
        _ip(f"link set {self._bridge} up")
        for name, link, address in zip(self.names, self._links, self.addresses, strict=True):
            _ip(f"link add {link} type veth peer name net0 netns {name}")
            _ip(f"link set {link} master {self._bridge} up")
            _ip(f"-n {name} address add {address}/24 dev net0")
            _ip(f"-n {name} link set net0 up")

    def _join_by_relay(self, delay: float, loss: float) -> None:
        places = [f"{name}={address}" for name, address in zip(self.names, self.addresses, strict=True)]
        program = str(Path(__file__).with_name("relay.py"))
        self._relay = subprocess.Popen(
            [sys.executable, program, str(delay), str(loss), *places, f"-={self.here}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._relay.stdout is not None
        assert self._relay.stdout.readline() == "ready\n"

    def start(self, host: int, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program on a host; it ends with the network, or this process, at the latest.

        `ip netns exec` shows it the host's own /sys, where UCX looks for interfaces.
        """
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self.names[host], *command],
            env={**os.environ, **QUIET, **environment}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def cut(self, host: int) -> None:
        """Take the link of a host down: nothing that is under way arrives, and nobody is told."""
        _ip(f"link set {self._links[host]} down")

    def limit(self, host: int, rate: str) -> None:
        """Limit what is sent to a host to a rate such as `50mbit`."""
        command = f"tc qdisc replace dev {self._links[host]} root tbf rate {rate} burst 32kbit latency 400ms"
        subprocess.run(command.split(), check=True, capture_output=True, text=True)

    def sent_by(self, host: int) -> int:
        """Packets that a host has sent so far."""
        return int(Path(f"/sys/class/net/{self._links[host]}/statistics/rx_packets").read_text())

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        if self._relay is not None:
            self._relay.stdin.close()  # type: ignore[union-attr]
            self._relay.wait()
            self._relay.stdout.close()  # type: ignore[union-attr]
        for link in (*self._links, self._bridge):
            _remove(f"link delete {link}")
        for name in self.names:
            _remove(f"netns delete {name}")

    def __exit__(self, *exception: object) -> None:
        self.close()


class Cluster:
    """A scheduler on host 0, a worker on each of the others, and a client here."""

    def __init__(self, network: Network, client: Client, processes: list[subprocess.Popen[bytes]]):
        self.network, self.client, self._processes = network, client, processes
        """Processes by host."""

    def stop(self, host: int) -> None:
        self._processes[host].send_signal(signal.SIGSTOP)

    def kill(self, host: int) -> None:
        self._processes[host].kill()

    def cut(self, host: int) -> None:
        self.network.cut(host)


@contextmanager
def cluster_across(network: Network, **environment: str) -> Iterator[Cluster]:
    """Start a cluster on all hosts of a network, without nannies."""
    address = f"tcp://{network.addresses[0]}:{PORT}"
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--host", network.addresses[0], "--port", str(PORT), "--no-dashboard", "--no-show"]
    processes = [network.start(0, *module, *options, **environment)]
    for host in range(1, len(network.names)):
        module = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
        options = ["--host", network.addresses[host], "--name", f"w{host}", "--no-dashboard", "--memory-limit", "0"]
        processes.append(network.start(host, *module, *options, **environment))
    client = Client(address, timeout=WITHIN, set_as_default=False)
    try:
        client.wait_for_workers(len(network.names) - 1, timeout=WITHIN)
        yield Cluster(network, client, processes)
    finally:
        client.close(timeout=1)


def _ip(what: str) -> str:
    return subprocess.run(["ip", *what.split()], check=True, capture_output=True, text=True).stdout


def _remove(what: str) -> None:
    subprocess.run(["ip", *what.split()], check=False, capture_output=True)


def _free_subnet() -> str:
    """The first three numbers of a network of 198.18.0.0/15, which is reserved for tests of networks."""
    routes = _ip("route")
    candidates = (f"198.{18 + (i >> 8 & 1)}.{i & 255}" for i in range(os.getpid(), os.getpid() + 512))
    return next(subnet for subnet in candidates if f"{subnet}.0/" not in routes)


def _sweep() -> None:
    """Remove what processes have left that are no more."""
    names = [("netns", line.split()[0]) for line in _ip("netns list").splitlines()]
    names += [("link", device) for device in os.listdir("/sys/class/net")]
    for kind, name in names:
        found = re.match(r"gd(\d+)n\d", name)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            _remove(f"{kind} delete {name}")


def wait_for_packets(network: Network, host: int, count: int) -> None:
    """Wait until a host has sent so many packets in all."""
    deadline = time.monotonic() + WITHIN
    while network.sent_by(host) < count:
        assert time.monotonic() < deadline, f"host {host} sends nothing"
        time.sleep(0.002)
