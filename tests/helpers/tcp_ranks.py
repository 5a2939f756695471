"""Ranks of a TCP data plane as threads of this process, plain and encrypted."""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

from graphdask.comm.protocol import Cancel
from graphdask.comm.tcp.communicator import TcpCommunicator, TcpPlane
from graphdask.device.backend import get_backend


class Alarm(threading.Event):
    """Is set by itself at the n-th look after `arm(n)`."""

    looks = None

    def arm(self, looks):
        self.looks = looks

    def is_set(self):
        if self.looks is not None:
            self.looks -= 1
            if self.looks < 0:
                self.set()
        return super().is_set()


def join(plane, rank, addresses, gang=1, run=0, timeout=120.0, cancel=None, backend=None):
    return TcpCommunicator(
        plane, rank, addresses, gang, run, backend or get_backend("cpu"), timeout, cancel or Cancel()
    )


def ranks(size, body, ssl=None, cancels=None, **options):
    """Run `body(comm)` on `size` ranks; return per rank what it returned, or the error that it raised."""
    planes = [TcpPlane("127.0.0.1", ssl) for _ in range(size)]
    addresses = [plane.address for plane in planes]

    def one(rank):
        try:
            cancel = cancels[rank] if cancels else None
            with join(planes[rank], rank, addresses, cancel=cancel, **options) as comm:
                return body(comm)
        except Exception as error:
            return error

    with ThreadPoolExecutor(size) as pool:
        results = list(pool.map(one, range(size)))
    for plane in planes:
        plane.close()
    return results


def in_background(pool, plane, rank, addresses, **options):
    """Join in a thread; the future gives the communicator or the error."""
    return pool.submit(join, plane, rank, addresses, **options)


@functools.cache
def tls_contexts():
    """Return contexts as the Dask Security of a cluster with one certificate makes them."""
    from graphdask.cluster import certificates

    with certificates.written(*certificates.make()) as files:
        from distributed.security import Security

        security = Security(
            require_encryption=True,
            tls_ca_file=files["ca_file"],
            tls_worker_cert=files["cert"],
            tls_worker_key=files["key"],
        )
        return security.get_listen_args("worker")["ssl_context"], security.get_connection_args("worker")["ssl_context"]
