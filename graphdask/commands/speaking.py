"""What the command line says: errors in one paragraph, with its own names for the arguments, and an exit code."""

from __future__ import annotations

import re
import shutil
import textwrap

import click

from graphdask.errors import FunctionError, GraphdaskError

OPTIONS = {
    "format": "--format",
    "ids": "--ids",
    "skip_rows": "--skip-rows",
    "na_values": "--na-values",
    "columns": "--columns",
    "delimiter": "--delimiter",
    "comment": "--comment",
    "self_loops": "--self-loops",
    "multi_edges": "--multi-edges",
    "parts": "--partitions",
    "by": "--by",
    "ghosts": "--ghosts",
    "exchange": "--exchange",
    "allocation": "--allocation",
    "direction": "--direction",
    "id_width": "--id-width",
    "device": "--device",
    "files": "--files",
    "n": "--vertices",
    "m": "--edges",
    "p": "--p",
    "degree": "--degree",
    "scale": "--scale",
    "edge_factor": "--edge-factor",
    "seed": "--seed",
    "length": "--length",
    "restart": "--restart",
    "jump": "--jump",
    "q": "--q",
    "depth": "--depth",
    "fanouts": "--fanouts",
    "sizes": "--sizes",
    "k": "--count",
    "bias": "--bias",
    "placement": "--placement",
    "scheme": "--scheme",
    "device_memory": "--device-memory",
    "method": "--method",
    "instances": "--instances",
    "neighbor_size": "--neighbor-size",
    "frontier_size": "--frontier-size",
    "edge_bound": "--edge-bound",
    "select": "--select",
    "suite": "--suite",
    "algorithm": "--algorithm",
    "sampler": "--sampler",
    "scaling": "--scaling",
    "ranks": "--ranks",
    "sources": "--sources",
    "repeats": "--repeats",
    "max_weight": "--max-weight",
    "delta": "--delta",
    "damping": "--damping",
    "tol": "--tol",
    "error": "--error",
    "norm": "--norm",
    "max_iter": "--max-iter",
    "max_supersteps": "--max-supersteps",
    "frontier_tol": "--frontier-tol",
    "prune_tol": "--prune-tol",
    "memory": "--memory",
    "chunk": "--chunk",
    "order": "--order",
    "root": "--root",
    "inward": "--inward",
    "algorithms": "--algorithms",
    "kinds": "--kind",
    "workers": "--workers",
    "transports": "--transports",
    "deadline": "--deadline",
}
"""How the command line calls the arguments that errors name."""


def explain(error: BaseException) -> tuple[str, int]:
    """What an error says to the person at the terminal, with what to do, and the exit code."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted", 130
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return "", 2
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "graphdask"
        from graphdask.commands.meant import suggestion

        reason = suggestion(error) or error.format_message().rstrip(".")
        return f"{reason}{' See' if reason.endswith('?') else '; see'} {path} --help", 2
    if isinstance(error, FunctionError):  # speaks of Python, and shows a line of it
        return str(error), error.exit_code
    if isinstance(error, GraphdaskError):
        return in_options(str(error)) or type(error).__name__, error.exit_code
    if isinstance(error, OSError) and error.errno is not None:
        from graphdask.io.os_errors import BY_CALLER, in_a_paragraph

        return in_a_paragraph(error), 2 if error.errno in BY_CALLER else 1
    if isinstance(error, MemoryError):
        return "this host has too little memory for that; take a smaller graph or more workers", 1
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}", 1
    kind = type(error).__name__
    return f"{kind}: {error} (graphdask did not expect this; the same call with --debug shows where it comes from)", 1


def in_options(message: str) -> str:
    """Name arguments as the command line does: `format='csv'` is `--format csv`."""
    message = message.replace("directed=False", "--undirected").replace("directed=True", "--directed")
    message = message.replace("weights=False", "--no-weights").replace("weights=True", "--weights")
    message = message.replace("weighted=False", "--unweighted").replace("weighted=True", "--weighted")
    message = message.replace("header=False", "--no-header").replace("header=True", "--header")
    message = message.replace("na_values=()", "--na-values ''").replace("comment=''", "--comment ''")
    message = re.sub(
        r"(?<![\w.-])columns=[(\[]([^)\]]*)[)\]]",
        lambda found: "--columns " + re.sub(r"['\"]|(?<=,) ", "", found[1]).rstrip(","),
        message,
    )
    message = message.replace("pass overwrite=True", "add --overwrite")

    def option(found: re.Match[str]) -> str:
        name, _, value = found.groups()
        return f"{OPTIONS[name]} {value}".rstrip()

    return re.sub(rf"(?<![\w.-])({'|'.join(OPTIONS)})=(['\"]?)([\w-]*)\2", option, message)


def say(kind: str, message: str) -> None:
    """Write one paragraph, as wide as the terminal, on standard error."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
    text = f"{kind}: {' '.join(message.split())}"
    click.echo(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False), err=True)
