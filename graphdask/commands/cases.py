"""What `fuzz` and `chaos` share: cases are run, and what was found is shown with commands that repeat it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from graphdask.display import terminal
from graphdask.errors import InputError

FAILED = 1
"""Exit status where something was found."""


def run_cases(
    targets: Sequence[str],
    seconds: float,
    seed: int,
    number: int | None,
    choices: tuple[int, ...] | None,
    as_json: bool,
    command: str,
) -> None:
    """Run cases of targets, or one case, and print what came of them.

    Parameters
    ----------
    targets : sequence of str
        Targets of `graphdask.selftest`.
    seconds : float
        For all of them together.
    seed : int
        Of which cases are drawn.
    number : int or None
        Of the only case to be run.
    choices : tuple of int or None
        Those of the only case to be run.
    as_json : bool
        Whether to print JSON in place of tables.
    command : str
        What repeats a case with `--choices`; `{target}` in it is the name of its target.

    Raises
    ------
    click.exceptions.Exit
        With status 1 if something was found.
    KeyboardInterrupt
        Where it is interrupted, after what has come of the cases so far is printed.
    """
    from graphdask.selftest.supervision import Report, fuzz, repeat

    if number is not None and choices is not None:
        raise InputError("--number and --choices are two names of a case; give one of them")
    begin, steps = time.monotonic(), terminal.Steps()
    known: set[tuple[str, str, str]] = set()
    so_far, interrupted = Report(), False

    def said(report: Report) -> None:
        nonlocal so_far
        so_far = report
        while report.lines:
            click.echo(report.lines.pop(0), err=True)
        for key in report.findings.keys() - known:  # at once: making it small takes minutes, or may be interrupted
            known.add(key)
            each = report.findings[key]
            drawn = "" if choices is not None else f"\n  as drawn: {_drawn(command, each, seed)}"
            click.echo(f"found: {', '.join(key)}{drawn}", err=True)
        steps.announce(_progress(report))

    try:
        if choices is not None:
            so_far = repeat(targets[0], choices, said)
        else:
            one = {} if number is None else {"first": number, "count": 1}
            so_far = fuzz(targets, seconds, seed, said, **one)
    except KeyboardInterrupt:
        interrupted = True
    steps.announce("")
    found = _summary(so_far, seed, time.monotonic() - begin, command)
    if as_json:
        terminal.print_json(found)
    else:
        _show(found)
    if interrupted:
        raise KeyboardInterrupt
    if found["findings"]:
        raise click.exceptions.Exit(FAILED)


def _progress(report: Any) -> str:
    counted = ", ".join(f"{target} {sum(counts.values()):,}" for target, counts in report.counts.items())
    return report.now or counted


def _drawn(command: str, found: Any, seed: int) -> str:
    """The command that draws a case that fails."""
    return f"{command.format(target=found.target)} --seed {seed} --number {found.number}"


def _summary(report: Any, seed: int, seconds: float, command: str) -> dict[str, Any]:
    findings = [
        {
            "target": each.target,
            "kind": each.outcome.kind,
            "where": each.outcome.where,
            "times": each.times,
            "said": each.outcome.said,
            "case": each.outcome.case,
            "repeat": f"{command.format(target=each.target)} --choices {','.join(map(str, each.outcome.taken)) or 0}",
            "drawn": _drawn(command, each, seed),
        }
        for each in report.findings.values()
    ]
    return {
        "seed": seed,
        "seconds": seconds,
        "cases": sum(sum(counts.values()) for counts in report.counts.values()),
        "counts": {target: dict(counts) for target, counts in report.counts.items()},
        "growth": report.growth,
        "tally": dict(report.tally),
        "findings": findings,
    }


def _show(found: dict[str, Any]) -> None:
    rows = []
    for target, counts in found["counts"].items():
        cases, grown = sum(counts.values()), found["growth"].get(target)
        right = counts.get("answered", 0), counts.get("refused", 0)
        others = cases - sum(right) - counts.get("unfinished", 0)
        rows.append(
            [target, f"{cases:,}", *(f"{each:,}" for each in right), f"{others:,}",
             "" if grown is None else f"{grown:+.1%}"]
        )  # fmt: skip
    click.echo(
        terminal.table(("target", "cases", "answered", "refused", "findings", "memory"), rows, right=range(1, 6))
    )
    if found["tally"]:
        _show_tally(found["tally"])
    if unfinished := sum(counts.get("unfinished", 0) for counts in found["counts"].values()):
        click.echo(f"\n{unfinished:,} unfinished: given up a while after the end of the time")
    click.echo(f"\n{found['cases']:,} cases in {found['seconds']:.0f} s, seed {found['seed']}")
    for each in found["findings"]:
        times = f"{each['times']} times" if each["times"] > 1 else "once"
        click.echo(f"\n{each['target']}: {each['kind']}, {each['where']} ({times})")
        click.echo(each["said"].rstrip())
        click.echo(f"  smallest: {each['repeat']}\n  as drawn: {each['drawn']}")


def _show_tally(tally: dict[str, int]) -> None:
    """A row for each fault, with how often which outcome came of it."""
    faults: dict[str, list[str]] = {}
    for name, times in sorted(tally.items(), key=lambda each: (each[0].partition("/")[0], -each[1])):
        fault, _, outcome = name.partition("/")
        faults.setdefault(fault, []).append(f"{outcome} {times:,}")
    rows = [[fault, ", ".join(outcomes)] for fault, outcomes in faults.items()]
    click.echo("\n" + terminal.table(("fault", "steps by what came of them"), rows))
