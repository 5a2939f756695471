"""`graphdask fuzz`: damaged files, odd arguments, random functions and planted errors, until the time is over."""

from __future__ import annotations

import time
from typing import Any

import click

from graphdask.commands.lasting import check_tools, duration, lasting_options
from graphdask.commands.options import Numbers, Whole, json_option
from graphdask.commands.scale import Names
from graphdask.display import terminal
from graphdask.errors import InputError

FAILED = 1
"""Exit status where something was found."""


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
    from graphdask.selftest.supervision import Report, fuzz, repeat
    from graphdask.selftest.targets import TARGETS, target_of

    for target in only:
        if target not in TARGETS and ":" not in target:
            target_of(target)
    if (number is not None or choices is not None) and len(only) != 1:
        raise InputError("--number and --choices are of one target; name it, such as --only readers")
    if number is not None and choices is not None:
        raise InputError("--number and --choices are two names of a case; give one of them")
    begin, steps = time.monotonic(), terminal.Steps()

    def said(report: Report) -> None:
        steps.announce(_progress(report))

    if choices is not None:
        report = repeat(only[0], choices)
    else:
        one = {} if number is None else {"first": number, "count": 1}
        report = fuzz(only, duration(seconds, minutes), seed, said, **one)
    steps.announce("")
    found = _summary(report, seed, time.monotonic() - begin)
    if as_json:
        terminal.print_json(found)
    else:
        _show(found)
    if found["findings"]:
        raise click.exceptions.Exit(FAILED)


def _progress(report: Any) -> str:
    return ", ".join(f"{target} {sum(counts.values()):,}" for target, counts in report.counts.items())


def _summary(report: Any, seed: int, seconds: float) -> dict[str, Any]:
    findings = [
        {
            "target": each.target,
            "kind": each.outcome.kind,
            "where": each.outcome.where,
            "times": each.times,
            "said": each.outcome.said,
            "case": each.outcome.case,
            "repeat": f"graphdask fuzz --only {each.target} --choices {','.join(map(str, each.outcome.taken)) or 0}",
            "drawn": f"graphdask fuzz --only {each.target} --seed {seed} --number {each.number}",
        }
        for each in report.findings.values()
    ]
    return {
        "seed": seed,
        "seconds": seconds,
        "cases": sum(sum(counts.values()) for counts in report.counts.values()),
        "counts": {target: dict(counts) for target, counts in report.counts.items()},
        "growth": report.growth,
        "findings": findings,
    }


def _show(found: dict[str, Any]) -> None:
    rows = []
    for target, counts in found["counts"].items():
        cases, grown = sum(counts.values()), found["growth"].get(target)
        right = counts.get("answered", 0), counts.get("refused", 0)
        rows.append(
            [target, f"{cases:,}", *(f"{each:,}" for each in right), f"{cases - sum(right):,}",
             "" if grown is None else f"{grown:+.1%}"]
        )  # fmt: skip
    click.echo(
        terminal.table(("target", "cases", "answered", "refused", "findings", "memory"), rows, right=range(1, 6))
    )
    click.echo(f"\n{found['cases']:,} cases in {found['seconds']:.0f} s, seed {found['seed']}")
    for each in found["findings"]:
        times = f"{each['times']} times" if each["times"] > 1 else "once"
        click.echo(f"\n{each['target']}: {each['kind']}, {each['where']} ({times})")
        click.echo(each["said"].rstrip())
        click.echo(f"  smallest: {each['repeat']}\n  as drawn: {each['drawn']}")
