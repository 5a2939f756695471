"""The command line: `graphdask COMMAND`, and the same as `dask graphdask COMMAND`.

Commands are loaded when they are called, so that `--help` answers at once. An error is one paragraph on standard
error that says what to do; exit codes: 0 done, 1 failed, 2 bad input or usage, 3 verification failed, 130 interrupted,
141 nobody reads standard output any more, 143 terminated; `submit`: that of the job, 124 where it met its time limit.
"""

from __future__ import annotations

import importlib
import io
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from graphdask.commands.speaking import explain, in_options, say
from graphdask.errors import GraphdaskWarning, not_too_long

COMMANDS = {
    "demo": "Generate a graph, search it, verify the answers, on this host.",
    "generate": "Generate a graph, and write it to files.",
    "run": "Run an algorithm over a graph from a file.",
    "sample": "Draw samples of a graph: random walks, neighbourhoods, edges.",
    "pagerank-stream": "Replay a temporal graph in batches, with PageRank after each.",
    "profile": "Show where the time of an algorithm goes, superstep by superstep.",
    "info": "What is in a file, and what reading it would change.",
    "stream": "Make and check files of graphs larger than memory, for run and sample.",
    "convert": "Write a graph file in another format.",
    "submit": "Run a command as a job of a cluster: Slurm, PBS, MPI or SSH.",
    "cluster": "Start a Dask cluster on this host, which other commands use.",
    "warm": "Compile the kernels of algorithms ahead, for jobs and images.",
    "doctor": "What this host or a cluster has: GPUs, UCX, versions, memory.",
    "bench": "Measure a part of graphdask, beside its peers.",
    "fuzz": "Run random inputs against what must come of them, for a given time.",
    "chaos": "Kill and stop processes of a cluster during calls, for a given time.",
    "scale": "How an algorithm's time falls with the workers: measure, draw, extrapolate.",
}
"""Name and summary of every command; each is the click command `command` of `graphdask.commands.NAME`, where NAME has
underscores for hyphens."""

DEBUG = "graphdask.debug"
"""Key in click's shared `meta`: whether errors show their traceback."""


class Program(click.Group):
    """The group of all commands: loads them late and turns every error into a paragraph and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"graphdask.commands.{name.replace('-', '_')}").command
        within = vars(command).get("commands", {}).values()  # those of algorithms are made when they are asked for
        for each in within:  # whole, where click would cut it
            each.short_help = each.short_help or " ".join((each.help or "").partition("\n\n")[0].split())
        for each in [command, *within]:
            if not any(parameter.name == "debug" for parameter in each.params):
                each.params.append(debug_option())
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with readable_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may have bytes that are no text
            sys.stdout.reconfigure(errors="surrogateescape")
        with readable_errors(ctx), readable_warnings():
            return super().invoke(ctx)


def _remember_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = ctx.meta.get(DEBUG, False) or value


def debug_option() -> click.Option:
    """Make the option `--debug`, which stands before or after the command."""
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_remember_debug,
        help="Show where an error comes from.",
    )


@contextmanager
def readable_errors(ctx: click.Context | None = None) -> Iterator[None]:
    """Turn any error into one paragraph on standard error and the exit code that it stands for."""
    try:
        yield
    except (click.exceptions.Exit, SystemExit):
        raise
    except BaseException as error:
        from graphdask.commands import streams

        if isinstance(error, BrokenPipeError) and streams.reader_gone():
            streams.silence()
            raise click.exceptions.Exit(streams.READER_GONE) from None
        if ctx is not None and ctx.meta.get(DEBUG):
            traceback.print_exc()
        message, code = explain(error)
        if message:
            with suppress(BrokenPipeError):  # of standard error: nobody hears it
                say("error", not_too_long(message))
        raise click.exceptions.Exit(code) from None


@contextmanager
def readable_warnings() -> Iterator[None]:
    """Show graphdask's warnings as one paragraph each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GraphdaskWarning)
        # A graph from a file of this host has to be sent to the workers once; that is no mistake of the caller.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
            if issubclass(category, GraphdaskWarning):
                say("warning", in_options(str(message)))
            else:
                usual(message, category, *args, **kwargs)

        warnings.showwarning = show
        yield


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"graphdask {version('graphdask')}")
        ctx.exit()


cli = Program(
    "graphdask",
    params=[
        debug_option(),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_version,
            help="Show the version and exit.",
        ),
    ],
    help="Generate, sample and analyse graphs: the same answer on a core, a GPU and a Dask cluster.",
    epilog="Exit codes: 0 done, 1 failed, 2 bad input or usage, 3 verification failed.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    no_args_is_help=True,
)


def _terminate(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; the entry point `graphdask`. A SIGTERM ends it in order, with the workers it started."""
    signal.signal(signal.SIGTERM, _terminate)
    cli.main(prog_name="graphdask")


if __name__ == "__main__":
    main()
