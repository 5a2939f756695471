"""`start`: a Dask cluster on this host that lasts until it is closed, for a notebook, a script or the command line."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphdask.cluster.local import START_SECONDS, local_cluster
from graphdask.errors import CommunicationError, InputError
from graphdask.interface.suggest import public

LOCAL = "127.0.0.1"


@public
class Cluster:
    """A cluster that `start` started; a context manager.

    Attributes
    ----------
    client : distributed.Client
    address : str
        Of the scheduler.
    security : distributed.Security or None
        What others need to connect; None without TLS.
    """

    def __init__(self, client: Any, security: Any, stack: ExitStack):
        self.client, self.security, self._stack = client, security, stack
        self.address = str(client.scheduler.address)
        self._files: dict[str, str] | None = None

    @property
    def files(self) -> dict[str, str]:
        """The files of the certificate: `ca_file`, `cert` and `key`; empty without TLS.

        A certificate of the cluster's own is in memory until this is asked for. Its files are in a folder that only the
        user may enter, and are removed with the cluster.
        """
        if self.security is None:
            return {}
        if self._files is None:
            from graphdask.cluster import certificates, tls

            self._files = tls.files_of(self.security)
            if not self._files:
                texts = self.security.tls_client_cert, self.security.tls_client_key
                self._files = dict(self._stack.enter_context(certificates.written(*texts)))
        return self._files

    @property
    def workers(self) -> int:
        """How many workers there are now."""
        return len(self.client.nthreads())

    def write_scheduler_file(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the file that `--scheduler-file`, `connect` and `dask worker --scheduler-file` take.

        With TLS it names the certificate and its key; only the user may read it.

        Parameters
        ----------
        path : path-like
        overwrite : bool
            Replace a file that is there. Default: raise OutputExists.

        Raises
        ------
        OutputExists
            Where the file is there, without `overwrite=True`.
        InputError, WriteError
            Where it cannot be written.
        """
        from graphdask.io.outputs import file_output

        out = file_output(path, overwrite)
        if Path(path).is_symlink():  # others may have put it there, to choose where keys are written
            Path(path).unlink()
            out = file_output(path, overwrite)
        content: dict[str, Any] = {"type": "Scheduler", "address": self.address, "workers": {}}
        if self.files:
            content["tls"] = self.files
        with out.unfinished(private=True) as made:
            made.write_text(json.dumps(content, indent=2))

    def close(self) -> None:
        """End the workers and the scheduler."""
        self._stack.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.client.status != "running":
            return f"<Cluster at {self.address}, closed>"
        return f"<Cluster at {self.address}, {self.workers} workers>"


def start(
    workers: int | None = None,
    device: str = "auto",
    *,
    host: str = LOCAL,
    port: int = 0,
    tls: bool | None = None,
    timeout: float = START_SECONDS,
) -> Cluster:
    """Start a Dask cluster on this host; calls run on it until it is closed.

    Parameters
    ----------
    workers : int, optional
        Default: one for each GPU, or one for each core where the device is a CPU.
    device : {"auto", "cpu", "cuda"}
        `auto`: GPUs where there are any.
    host : str
        Address of this host at which scheduler and workers listen. By default only processes of this host can connect.
    port : int
        Of the scheduler; 0: any that is free.
    tls : bool, optional
        Encrypt, and let nobody in without the certificate, which is the default: Dask runs whatever a client sends, and
        every user of this host can reach the cluster. The certificate is that of Dask's configuration
        (distributed.comm.tls) where that names one. Else it is one of this cluster's own, which ends with it, or, where
        `host` is not of this host alone, the user's.
    timeout : float
        Seconds within which all workers must be there.

    Returns
    -------
    Cluster
        With `client`, which is also Dask's default one; `close()` it, or use it in a `with`.

    Raises
    ------
    InputError
        For more workers than GPUs, `cuda` where there is none, an address that is not of this host, a port that is
        taken, or no TLS where Dask's configuration requires encryption.
    MissingDependency
        For `cuda` without dask-cuda, or TLS without the package `cryptography`.
    DeadlineExceeded
        Where the workers do not start in time.
    CommunicationError
        Where they do not start for another reason.

    Notes
    -----
    Workers import the script that starts them, so there it is called under `if __name__ == "__main__":`.

    Examples
    --------
    >>> import graphdask as gd
    >>> with gd.cluster.start(workers=1, device="cpu") as cluster:
    ...     gd.bfs(gd.from_edges([0, 1], [1, 2]), 0).depth.tolist()
    [0, 1, 2]
    """
    import dask.config

    alone = _check_place(host, port)
    required = bool(dask.config.get("distributed.comm.require-encryption", None))
    if tls is False and required:
        raise InputError("tls=False, but distributed.comm.require-encryption is set in Dask's configuration")
    security = None
    if tls is None or tls:
        from graphdask.cluster.tls import security_of_cluster, security_of_run

        security = security_of_run() if alone else security_of_cluster()
    with ExitStack() as stack:
        place: dict[str, Any] = {"host": host, "port": port, "tls": security is not None, "security": security}
        try:
            client = stack.enter_context(local_cluster(workers, device, timeout, default=True, **place))
        except (RuntimeError, OSError) as error:
            reason = f"the cluster did not start at {host}: {error.__cause__ or error}"
            if getattr(sys.modules["__main__"], "__file__", None) and "Nanny" in reason:
                reason += '; in a script it has to be started under `if __name__ == "__main__":`'
            raise CommunicationError(reason) from error
        return Cluster(client, security, stack.pop_all())


def _check_place(host: str, port: int) -> bool:
    """Whether nobody but this host reaches an address; raise InputError where nothing could listen there."""
    if not 0 <= port < 65536:
        raise InputError(f"port={port} is not between 0 and 65535")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
    except (OSError, ValueError) as error:  # the latter of names that no network has
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"nothing can listen at host={host!r} port={port} ({reason}); give an address of this host "
            f"(ip address shows them), and a port that is free, or none"
        ) from None
    return ipaddress.ip_address(str(where[0]).partition("%")[0]).is_loopback
