"""`graphdask cluster start`: a cluster on this host that runs until Ctrl-C."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import json_option, writable
from graphdask.commands.paths import FILE
from graphdask.display import terminal


@click.group()
def command() -> None:
    """A Dask cluster on this host, for the other commands and for Python."""


@command.command("start")
@click.option("--workers", type=click.IntRange(min=1), help="Default: one for each GPU, or one for each core.")
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True,
    help="What workers have; auto: a GPU each where there are any.",
)  # fmt: skip
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="Address of this host at which other hosts may connect.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Of the scheduler; default: any that is free."
)  # fmt: skip
@click.option(
    "--scheduler-file", "scheduler_file", metavar="FILE", type=FILE,
    help="Write how to connect to this file; it is removed in the end.  [with TLS: graphdask-cluster.json]",
)  # fmt: skip
@click.option(
    "--tls/--no-tls",
    "tls",
    default=None,
    help="Encrypt, and let in only who has the certificate.  [default: tls]",
)
@click.option("--overwrite", is_flag=True, help="Replace the scheduler file where it is there; default: refuse.")
@json_option
def start(
    workers: int | None,
    device: str,
    host: str,
    port: int,
    scheduler_file: Path | None,
    tls: bool | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Start a cluster on this host, say how to use it, and end it with Ctrl-C.

    Workers have one thread and no memory limit of Dask's: graphdask asks how much is free before it takes any. The
    scheduler file names a certificate of this cluster's own, which is removed in the end; where other hosts may connect
    it is the user's, made once in ~/.config/graphdask/tls. Graph data is encrypted where it leaves this host.
    """
    from graphdask.cluster.start import start as start_cluster

    if scheduler_file is None and tls is not False:
        scheduler_file = Path("graphdask-cluster.json")
    if scheduler_file is not None:
        writable(scheduler_file, overwrite)
    with start_cluster(workers, device, host=host, port=port, tls=tls) as cluster:
        if scheduler_file is not None:
            cluster.write_scheduler_file(scheduler_file, overwrite=overwrite)
        try:
            _say(cluster, scheduler_file, as_json)
            _wait()
        finally:
            if scheduler_file is not None and scheduler_file.is_file():  # no pipe, and no device
                scheduler_file.unlink(missing_ok=True)


def _wait() -> None:
    """Until somebody asks for the end: Ctrl-C is the usual one, and no failure."""
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        click.echo("stopping", err=True)


def _say(cluster: Any, file: Path | None, as_json: bool) -> None:
    tls = cluster.security is not None
    if as_json:
        terminal.print_json({
            "address": cluster.address, "workers": cluster.workers, "tls": tls,
            "scheduler_file": None if file is None else os.path.abspath(file),
        })  # fmt: skip
        return
    place = f"--scheduler {cluster.address}" if file is None else f"--scheduler-file {file}"
    named = f'"{cluster.address}"' if file is None else f'scheduler_file="{file}"'
    more = f"dask worker {cluster.address if file is None else place} --nthreads 1 --memory-limit 0"
    if tls:
        files = cluster.files
        options = {"--tls-ca-file": "ca_file", "--tls-cert": "cert", "--tls-key": "key"}
        more += "".join(f" {option} {files[name]}" for option, name in options.items() if files)
    click.echo(
        terminal.pairs([
            ("scheduler", cluster.address + (", encrypted" if tls else "")),
            ("workers", str(cluster.workers)),
            ("commands", f"graphdask run components FILE {place}"),
            ("Python", f"with gd.cluster.connect({named}) as client: gd.bfs(G, 0, client=client)"),
            ("more workers", more),
            ("end", "Ctrl-C"),
        ])
    )  # fmt: skip


__all__ = ["command"]
