"""A client of its own, which calls an operation on a cluster and says what came of it; it may be killed meanwhile.

    python -m graphdask.chaos.client '{"target": "graphdask.chaos.drill:Drill", "scheduler": "...", ...}'

It prints a line before the call, and one after it: `right`, `wrong bits`, or the error of graphdask.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from distributed import Client

from graphdask.chaos.plan import Step
from graphdask.errors import GraphdaskError
from graphdask.selftest.targets import target_of


def main(text: str) -> None:
    """Make the call that is described."""
    given = json.loads(text)
    folder = Path(given["folder"])
    step = Step(**{**given["step"], "division": tuple(given["step"]["division"])})
    drill = target_of(given["target"])(folder)
    with drill.settings(given["transport"]), Client(scheduler_file=given["scheduler"], set_as_default=False) as client:
        expected = drill.answer(step)
        print("calls", flush=True)
        try:
            right = drill.call(step, client).agrees(expected)
        except GraphdaskError as error:
            print(f"{type(error).__name__}: {error}", flush=True)
        else:
            print("right" if right else "wrong bits", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
