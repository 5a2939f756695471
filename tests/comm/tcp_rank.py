"""One rank as a process of its own. Lines of JSON: out the address, in the addresses, out what happened.

python tcp_rank.py SCENARIO RANK TIMEOUT
"""

import hashlib
import json
import sys
import time

import numpy as np

from graphdask.comm.protocol import Cancel
from graphdask.comm.tcp.communicator import TcpCommunicator, TcpPlane
from graphdask.device.backend import get_backend
from graphdask.errors import GraphdaskError


def say(**what):
    print(json.dumps(what), flush=True)


def payload(sender, receiver, number):
    """What `sender` sends in exchange `number`; most are short, some are empty or absent."""
    length = (sender * 7919 + receiver * 104729 + number * 1299709) % 5000
    if length % 5 == 0:
        return None
    return np.random.default_rng((sender, receiver, number)).integers(0, 256, length % 1000, np.uint8)


def many(comm):
    """1000 exchanges; say a digest of all that arrived."""
    digest = hashlib.sha256()
    for number in range(1000):
        got = comm.exchange(
            [payload(comm.rank, q, number) for q in range(comm.size)], control=np.full(number % 4, comm.rank)
        )
        for part in got.payloads:
            digest.update(b"-" if part is None else part.tobytes())
        digest.update(got.control.tobytes())
    say(digest=digest.hexdigest())


def large(comm):
    """32 MiB to everyone at once."""
    part = np.full(32 << 20, comm.rank, np.uint8)
    got = comm.exchange([part] * comm.size).payloads
    say(right=all(len(p) == len(part) and (p == q).all() for q, p in enumerate(got)))


def lose(comm, last=None):
    """Exchange large payloads until the last rank, which stays away from the sixth, is lost."""
    part = np.zeros(8 << 20, np.uint8)
    begin = time.monotonic()
    try:
        for number in range(6):
            begin = time.monotonic()
            if number == 5:
                say(ready=True)
                comm._timeout = last or comm._timeout
                if comm.rank == comm.size - 1:
                    sys.stdin.readline()
            comm.exchange([part] * comm.size)
    except GraphdaskError as error:
        say(error=type(error).__name__, text=str(error), seconds=time.monotonic() - begin)


def lose_soon(comm):
    """As `lose`, but only the sixth exchange has 2 s: a loaded machine may need more for the others."""
    lose(comm, 2.0)


def main(scenario, rank, timeout):
    with TcpPlane("127.0.0.1") as plane:
        say(address=plane.address.hex())
        addresses = [bytes.fromhex(a) for a in json.loads(sys.stdin.readline())]
        with TcpCommunicator(plane, rank, addresses, 5, 1, get_backend("cpu"), timeout, Cancel()) as comm:
            {"many": many, "large": large, "lose": lose, "lose soon": lose_soon}[scenario](comm)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
