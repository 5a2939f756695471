"""Vertex programs: odd arguments are refused; what runs has the same bits over partitions, and a proof."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FunctionError
from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices
from graphdask.selftest.function_texts import REFUSED, STATEMENTS, function_of
from graphdask.selftest.odd_values import any_value
from graphdask.selftest.public import gd

RUN = 150
"""One in so many is run: its kernels are compiled first."""
SENDS = (
    "e.source.x", "e.source.x + 1", "e.weight", "e.source.x + e.weight", "e.source.id % 3", "None",
    "e.source.x - e.destination.x", "e.source.degree", "e.source.x if e.source.id % 2 else None",
    "e.source.x / (1 + e.source.degree)", "e.weight > 1", "min(e.source.x, 7)",
)  # fmt: skip
APPLIES = (
    '{"x": m}', 'm < v.x and {"x": m}', '{"x": v.x + m} if m > 0 else None', '{"x": min(v.x, m)}',
    'v.superstep < 3 and {"x": m + v.received}', '{"x": m / 2}', '{"x": (v.x + m) % 100}', '{"x": v.id}', "None",
)  # fmt: skip
STARTS: tuple[Any, ...] = (0, 1, -1, 0.5, 2**40, True, float("inf"), "lambda v: v.id % 5", "lambda v: 1.0 / (1 + v.id)")
KINDS = (float, int, np.int32, np.float32, bool)
COMBINES = ("sum", "min", "max", "first", "count", "any")
SEND, APPLY = "f = lambda e: {}\n", "f = lambda v, m: {}\n"


class Programs:
    """The target `programs`."""

    def __init__(self, folder: Path):
        rng = np.random.default_rng(0)
        src, dst = rng.integers(0, 20, (2, 50))
        weights = rng.integers(1, 4, 50).astype(float)
        graph = gd.from_edges(src, dst, weights, num_vertices=20)
        self.graphs = [graph.partition(parts, device="cpu") for parts in (1, 3)]
        self._compare(gd.Program(**_arguments(Choices())[0]), "")  # whose kernels are kept for the next process
        os.environ["XDG_CACHE_HOME"] = str(folder)  # what is compiled from here on never comes again

    def run(self, choices: Choices) -> str:
        way = choices.below(RUN)
        arguments, text = _arguments(choices)
        if way != RUN - 1:
            if choices.one_in(2):
                arguments[choices.among(tuple(arguments))] = any_value(choices)
            elif choices.one_in(2):
                kind = choices.among(("send", "apply"))
                arguments[kind] = _odd(choices, "e" if kind == "send" else "v, m")
            gd.Program(**arguments)
            return "made"
        program = gd.Program(**arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._compare(program, text)
        return "run"

    def _compare(self, program: Any, text: str) -> None:
        found: list[Any] = []
        for graph in self.graphs:
            try:
                found.append(gd.run(graph, program, max_supersteps=4))
            except FunctionError as error:
                found.append(error)
        one, other = found
        if isinstance(one, FunctionError) or isinstance(other, FunctionError):
            if type(one) is not type(other):
                raise Wrong(f"an error depends on partitions: {one!r}, {other!r}:\n{text}")
            return
        if not np.array_equal(one.x, other.x, equal_nan=one.x.dtype.kind == "f"):
            raise Wrong(f"states depend on partitions: {one.x}, {other.x}:\n{text}")
        other.verify()


def _arguments(choices: Choices) -> tuple[dict[str, Any], str]:
    combine, kind = choices.among(COMBINES), choices.among(KINDS)
    send, apply, start = choices.among(SENDS), choices.among(APPLIES), choices.among(STARTS)
    if isinstance(start, str):
        made = function_of(f"f = {start}\n")
        start_value: Any = made
    else:
        start_value = start
    arguments: dict[str, Any] = {
        "state": {"x": (choices.among(KINDS), start_value)},
        "message": combine if combine in ("count", "any") else (kind, combine),
        "apply": function_of(APPLY.format(apply)),
        "send": function_of(SEND.format(send)),
        "direction": choices.among(("out", "in", "both")),
        "activity": choices.among(("changed", "all")),
    }
    return arguments, f"{combine} of {kind.__name__}, send {send}, apply {apply}, state {start}"


def _odd(choices: Choices, parameters: str) -> Any:
    """A function with something in it that is not in the language."""
    if choices.one_in(2):
        return function_of(f"def f({parameters}):\n    x = 1\n    {choices.among(STATEMENTS)}\n    return x\n")
    return function_of(f"def f({parameters}):\n    return {choices.among(REFUSED)}\n")
