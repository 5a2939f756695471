"""A network of hosts in user space: `python relay.py DELAY_MS LOSS NAMESPACE=ADDRESS ...`.

Every network namespace gets a TUN device with its address (`-` is the namespace of this process), and packets go from
one to the other as their destination says: late by DELAY_MS, and each lost with probability LOSS, by a fixed seed. It
says `ready`, and lasts for as long as its standard input is open. The kernel's netem would do the same where it is.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
BURST = 64
"""Packets that are taken from one host before the others have their turn."""


def tun(device: str, address: str) -> int:
    """A TUN device in the namespace of this thread."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
    for what in (f"address add {address}/24 dev {device}", f"link set {device} mtu 1500 txqueuelen 2000 up"):
        subprocess.run(["ip", *what.split()], check=True)
    return descriptor


def main(delay: float, loss: float, places: list[tuple[str, str]]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    by_address = {}
    for namespace, address in places:
        there = home if namespace == "-" else os.open(f"/run/netns/{namespace}", os.O_RDONLY)
        if libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
        by_address[socket.inet_aton(address)] = tun(f"gd{os.getpid()}n0t", address)
    print("ready", flush=True)
    draw = random.Random(1).random
    late: list[tuple[float, int, int, bytes]] = []
    number = 0
    while True:
        wait = max(0.0, late[0][0] - time.monotonic()) if late else None
        readable, _, _ = select.select([sys.stdin, *by_address.values()], [], [], wait)
        if sys.stdin in readable:
            return
        now = time.monotonic()
        for descriptor in readable:
            for _ in range(BURST):
                try:
                    packet = os.read(descriptor, 65536)
                except BlockingIOError:
                    break
                out = by_address.get(packet[16:20]) if packet[0] >> 4 == 4 else None
                if out is not None and draw() >= loss:
                    number += 1
                    heapq.heappush(late, (now + delay, number, out, packet))
        now = time.monotonic()
        while late and late[0][0] <= now:
            _, _, out, packet = heapq.heappop(late)
            with suppress(OSError):  # its queue is full, as a router's can be
                os.write(out, packet)


if __name__ == "__main__":
    main(float(sys.argv[1]) / 1000, float(sys.argv[2]), [tuple(each.split("=")) for each in sys.argv[3:]])
