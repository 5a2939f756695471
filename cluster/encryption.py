"""Encryption in the jobs of `graphdask submit`: settings that name the certificate for every process of a job.

There are two kinds of messages. Dask's messages carry functions, which a scheduler without TLS takes from whoever
reaches it. They are encrypted by default, with the certificates of Dask's configuration or, if it names none, with one
of the user's own. Graph data between workers are encrypted too if they go by TCP. UCX encrypts nothing; a job may use
it unless `distributed.comm.require-encryption` or `graphdask.allow-insecure-ucx: false` forbids it. All of this is done
by settings of Dask, which processes find in their environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphdask.cluster import tls
from graphdask.config import Config
from graphdask.errors import InputError

ROLES = ("scheduler", "worker", "client")
INSECURE_UCX = "graphdask.allow-insecure-ucx"
RENEW = 30 * 86400.0
"""Seconds before its end in which a job gets a new certificate of the user's own: it may wait in a queue."""


def settings(encrypt: bool) -> dict[str, Any]:
    """Settings of Dask for the processes of a job; without TLS there are none. Nothing is made or looked for.

    Raises
    ------
    InputError
        Where there is to be no TLS, and Dask's configuration requires encryption.
    """
    import dask.config

    required = bool(dask.config.get("distributed.comm.require-encryption", None))
    if not encrypt:
        if required:
            raise InputError("no TLS was asked for, but distributed.comm.require-encryption is set; leave --no-tls out")
        return {}
    found: dict[str, Any] = dict(tls.NO_PAGES)
    if own_folder() is not None:
        files = tls.own_files()
        found["distributed.comm.tls.ca-file"] = str(files["ca_file"])
        for role in ROLES:
            found |= {f"distributed.comm.tls.{role}.{part}": str(files[part]) for part in ("cert", "key")}
    if not required and Config.load().allow_insecure_ucx is None:
        found[INSECURE_UCX] = True
    return found


def own_folder() -> Path | None:
    """Where the user's own certificate lies, or None where Dask's configuration names one for every role."""
    import dask.config

    names = ("ca-file", *(f"{role}.cert" for role in ROLES))
    named = all(dask.config.get(f"distributed.comm.tls.{name}", None) for name in names)
    return None if named else tls.user_folder()


def prepare(encrypt: bool) -> None:
    """Make the user's certificate where it is needed and not there, or judge those that Dask's configuration names.

    Raises
    ------
    InputError
        Where one that is named cannot be used.
    MissingDependency
        Where one has to be made, and the package `cryptography` is not there.
    WriteError
        Where it cannot be written.
    """
    if encrypt:
        tls.security_of_cluster(RENEW)


def variables(found: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the environment that Dask reads.

    >>> variables({"distributed.comm.tls.ca-file": "/a", "graphdask.allow-insecure-ucx": True})
    {'DASK_DISTRIBUTED__COMM__TLS__CA_FILE': '/a', 'DASK_GRAPHDASK__ALLOW_INSECURE_UCX': 'true'}
    """
    return {
        "DASK_" + name.replace(".", "__").replace("-", "_").upper(): "true" if value is True else str(value)
        for name, value in found.items()
    }


def with_texts(found: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with certificates and keys themselves in place of their names, for hosts that share no folder."""
    return {
        name: Path(value).read_text() if name.startswith("distributed.comm.tls.") else value
        for name, value in found.items()
    }
