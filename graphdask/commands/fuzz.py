"""`graphdask fuzz`: damaged files, odd arguments, random functions and planted errors, until the time is over."""

from __future__ import annotations

import click

from graphdask.commands.cases import run_cases
from graphdask.commands.lasting import check_tools, duration, lasting_options
from graphdask.commands.options import Numbers, Whole, json_option
from graphdask.commands.scale import Names
from graphdask.errors import InputError


@click.command("fuzz")
@lasting_options
@click.option(
    "--only",
    type=Names(),
    default=("readers", "constructors", "functions", "programs", "verifiers"),
    help="Of readers, constructors, functions, programs, verifiers; several with commas.  [default: all]",
)
@click.option("--number", type=Whole(min=0), help="Run only the case of this number of the seed; needs one target.")
@click.option(
    "--choices",
    type=Numbers(),
    help="3,0,17: run only the case of these choices, as a finding names them; needs one target.",
)
@json_option
def command(
    seconds: float | None,
    minutes: float | None,
    seed: int,
    only: tuple[str, ...],
    number: int | None,
    choices: tuple[int, ...] | None,
    as_json: bool,
) -> None:
    """Run random cases against what must come of them, and make small what fails.

    Readers get damaged files of every format. Constructors get arrays and arguments of every kind. Functions of
    samplers and programs are random texts, compared with Python and over partitions. Verifiers get results with a
    planted error. Each case gives a right answer or an error of graphdask within 30 s of a processor, and leaves
    nothing open. Whatever else comes of it is printed with a command that repeats it, and the exit status is 1.

    A case depends on the seed and its number only. Needs pip install "graphdask[test-tools]".
    """
    check_tools()
    from graphdask.selftest.targets import TARGETS, target_of

    for target in only:
        if target not in TARGETS and ":" not in target:
            target_of(target)
    if (number is not None or choices is not None) and len(only) != 1:
        raise InputError("--number and --choices are of one target; name it, such as --only readers")
    run_cases(only, duration(seconds, minutes), seed, number, choices, as_json, "graphdask fuzz --only {target}")
