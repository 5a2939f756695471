"""Who may speak with a cluster: `distributed.Security` of a certificate that is made, found again, or named to Dask.

One certificate is its own authority and serves every role, as in Dask's `Security.temporary`: who has its key belongs
to the cluster. A cluster on this host alone has one of its own, in memory, which ends with it; one that other hosts
reach has the user's, which lies in a folder that nobody else may read. Where Dask's configuration names certificates
(`distributed.comm.tls`), those are used.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphdask.cluster import certificates
from graphdask.errors import InputError

RENEW = 86400.0
"""Seconds before its end in which a new cluster gets a new one."""


NO_PAGES: dict[str, Any] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Settings of Dask by which HTTP servers have no pages. They have no encryption, and would show others what runs."""

of_this_process: dict[str, Any] = {}
"""The `distributed.Security` of the clusters that run in this process, by the address of their schedulers."""


def user_folder() -> Path:
    """Where a user's certificate lies: `graphdask/tls` in XDG_CONFIG_HOME, by default ~/.config."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "graphdask" / "tls"


def own_files() -> dict[str, str]:
    """The files of a user's certificate, whether it is there or not."""
    return certificates.files_in(user_folder())


def security_of_run() -> Any:
    """`distributed.Security` for a cluster on this host that ends with this process: its certificate is in memory.

    Raises
    ------
    InputError
        Where certificates that Dask's configuration names cannot be used.
    MissingDependency
        Without the package `cryptography`.
    """
    import dask.config

    named = _of_dask("scheduler", "worker", "client")
    if named is not None:
        return named
    certificate, key = certificates.make()
    security = security_with({"ca_file": certificate, "cert": certificate, "key": key})
    # all listen by TLS, as their protocol says; to require it would keep data from UCX and NCCL within this host too
    security.require_encryption = bool(dask.config.get("distributed.comm.require-encryption", None))
    return security


def security_of_cluster(renew: float = RENEW) -> Any:
    """`distributed.Security` for a cluster that is started here; a certificate is made where there is none.

    Parameters
    ----------
    renew : float
        Seconds before its end in which a certificate of our making is replaced.

    Raises
    ------
    InputError
        Where certificates that Dask's configuration names cannot be used.
    MissingDependency
        Where one has to be made, and the package `cryptography` is not there.
    WriteError
        Where it cannot be written.
    """
    named = _of_dask("scheduler", "worker", "client")
    if named is not None:
        return named
    paths = own_files()
    if not all(Path(path).exists() for path in paths.values()) or _end(paths["cert"]) < time.time() + renew:
        certificates.write(user_folder(), *certificates.make())
    return security_of(paths)


def security_of_client(address: str, named: Mapping[str, str] | None = None) -> Any:
    """`distributed.Security` to speak with the scheduler at `address`, or None where that needs none.

    Parameters
    ----------
    address : str
    named : mapping, optional
        The files `ca_file`, `cert` and `key`, as a scheduler file of ours names them.

    Raises
    ------
    InputError
        For certificates that are missing, expired or not a pair; and for an address without encryption where Dask's
        configuration requires it.
    """
    import dask.config

    if not address.startswith("tls://"):
        if dask.config.get("distributed.comm.require-encryption", None):
            raise InputError(
                f"{address} is not encrypted, and distributed.comm.require-encryption is set; start the cluster with "
                f"TLS (graphdask cluster start --tls) and use its tls:// address"
            )
        return None
    if named is not None:
        return security_of(named)
    if address in of_this_process:
        return of_this_process[address]
    configured = _of_dask("client")
    if configured is not None:
        return configured
    if not Path(own_files()["cert"]).exists():
        raise InputError(
            f"{address} needs a certificate: give the file that graphdask cluster start wrote (--scheduler-file), copy "
            f"its folder to {user_folder()}, or name the cluster's in Dask's configuration (distributed.comm.tls)"
        )
    return security_of(own_files())


def security_of(paths: Mapping[str, Any]) -> Any:
    """`distributed.Security` of one certificate for every role, once it is known to be usable."""
    texts = {name: os.fspath(paths[name]) for name in ("ca_file", "cert", "key")}
    check(**texts)
    return security_with(texts)


def security_with(parts: Mapping[str, str]) -> Any:
    """`distributed.Security` of one certificate, its files or its texts, for every role."""
    from distributed.security import Security

    roles = {
        f"tls_{role}_{part}": parts[part] for role in ("client", "scheduler", "worker") for part in ("cert", "key")
    }
    return Security(require_encryption=True, tls_ca_file=parts["ca_file"], **roles)


def files_of(security: Any) -> dict[str, str]:
    """The files of a Security for a scheduler file: what a client or a worker needs; empty where it has none."""
    found = {"ca_file": security.tls_ca_file, "cert": security.tls_client_cert, "key": security.tls_client_key}
    if any(path is None or "\n" in path for path in found.values()):  # Dask takes the text of a certificate too
        return {}
    return {name: os.path.abspath(path) for name, path in found.items()}


def check(ca_file: str, cert: str, key: str) -> None:
    """Raise InputError, with what to do, for files that are missing, expired, or do not belong together."""
    renew = "graphdask cluster start makes a new one where its own has expired; or name another to Dask"
    for path in (ca_file, cert, key):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise InputError(
                f"the certificate of the cluster cannot be used: {path}: {(error.strerror or '').lower()}; it has to "
                f"be on this host too, readable for you alone"
            ) from None
    try:
        context = ssl.create_default_context(cafile=ca_file)
        context.load_cert_chain(cert, key)
    except ssl.SSLError as error:
        raise InputError(f"{cert} and {key} are no certificate with its key ({error.reason or error})") from None
    for path in {ca_file, cert}:
        end = _end(path)
        if end <= time.time():
            day = time.strftime("%Y-%m-%d", time.gmtime(end))
            raise InputError(f"the certificate {path} expired on {day}; {renew}")


def explain(error: BaseException, address: str) -> str:
    """What went wrong between certificates, in the words of somebody who has to mend it; empty if it was not that."""
    texts = []
    cause: BaseException | None = error
    while cause is not None:
        texts.append(str(cause))
        cause = cause.__cause__ or cause.__context__
    text = " ".join(texts)
    if "certificate has expired" in text or "CERTIFICATE_EXPIRED" in text:
        return "the certificate of the cluster has expired: start the cluster again, which makes a new one"
    if any(words in text for words in ("CERTIFICATE_VERIFY_FAILED", "certificate verify failed", "UNKNOWN_CA")):
        return (
            "its certificate is not the one that this process has: give the file that graphdask cluster start wrote "
            "(--scheduler-file)"
        )
    # the last are Tornado's words where the scheduler's own first words, in plain text, are there before TLS begins
    if any(words in text for words in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "cannot convert to SSL")):
        return f"it does not speak TLS: use {address.replace('tls://', 'tcp://')}, or start the cluster with --tls"
    return ""


def _of_dask(*roles: str) -> Any:
    """What Dask's configuration names, if it names certificates for these roles."""
    from distributed.security import Security

    security: Any = Security()
    if security.tls_ca_file is None or any(getattr(security, f"tls_{role}_cert") is None for role in roles):
        return None
    for role in roles:
        cert, key = (getattr(security, f"tls_{role}_{part}") for part in ("cert", "key"))
        if not any(text is None or "\n" in text for text in (security.tls_ca_file, cert, key)):
            check(security.tls_ca_file, cert, key)
    security.require_encryption = True
    return security


def _end(path: str | os.PathLike[str]) -> float:
    """When a certificate expires, by the clock; infinity where that is for the handshake to find out."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError):
        return 0.0
    ends = [ssl.cert_time_to_seconds(str(each["notAfter"])) for each in context.get_ca_certs()]
    return min(ends, default=float("inf"))
