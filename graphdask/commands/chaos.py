"""`graphdask chaos`: calls on a Dask cluster whose processes are killed and stopped, until the time is over."""

from __future__ import annotations

import click

from graphdask.commands.cases import run_cases
from graphdask.commands.lasting import check_tools, duration, lasting_options
from graphdask.commands.options import Numbers, Whole, json_option

DRILL = "graphdask.chaos.drill:Drill"


@click.command("chaos")
@lasting_options
@click.option("--number", type=Whole(min=0), help="Run only the case of this number of the seed.")
@click.option("--choices", type=Numbers(), help="3,0,17: run only the case of these choices, as a finding names them.")
@click.option("--drill", default=DRILL, help="MODULE:CLASS: a drill with operations of your own.")
@json_option
def command(
    seconds: float | None,
    minutes: float | None,
    seed: int,
    number: int | None,
    choices: tuple[int, ...] | None,
    drill: str,
    as_json: bool,
) -> None:
    """Kill and stop processes of a Dask cluster during calls, and make small what fails.

    A case is a cluster of 1 to 4 worker processes on this host, a transport, and up to six steps. In each, an
    operation is called again and again while a fault happens: workers are killed, paused, stopped, or run out of
    memory; another client is killed or paused; the scheduler ends. Each call returns the same bits as in one process
    or raises an error of graphdask within its time. The next calls are right, also of a new client. No process, file,
    shared memory, descriptor or thread is left. Whatever else comes of it is printed with a command that repeats it,
    and the exit status is 1.

    A case depends on the seed and its number only; the moment of a fault is a multiple of the time of an undisturbed
    call. Needs pip install "graphdask[test-tools]".
    """
    check_tools()
    repeats = "graphdask chaos" if drill == DRILL else f"graphdask chaos --drill {drill}"
    run_cases((drill,), duration(seconds, minutes), seed, number, choices, as_json, repeats)
