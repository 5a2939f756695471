"""Functions of samplers: what is translated returns what Python returns; what is not is refused with its line."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from graphdask.errors import FunctionError
from graphdask.program.translate import translate
from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices
from graphdask.selftest.function_texts import FIELDS, function_of, text_of
from graphdask.selftest.public import gd

ROWS = 40
DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}
COMPILED = 40
"""One in so many functions is compiled and compared with Python."""
SAMPLED = 400
"""One in so many is a bias of a sampler, which is run."""


OF_64_BITS = (2, 7, 10)
"""Failures that Python does not have: integers that do not fit, and loops that are too long."""


class Functions:
    """The target `functions`."""

    def __init__(self, folder: Path):
        rng = np.random.default_rng(0)
        few = rng.random(ROWS) < 0.7
        self.table = {
            "weight": np.where(few, rng.normal(0, 20, ROWS), rng.choice([0.0, -0.0, 1.0, 0.5], ROWS)),
            "src": rng.integers(-40, 40, ROWS),
            "degree": rng.integers(0, 50, ROWS),
            "time": np.where(few, rng.normal(0, 8, ROWS), rng.choice([1e300, np.inf, 2.0**62], ROWS)),
            "is_neighbor": rng.random(ROWS) < 0.5,
        }
        src, dst = rng.integers(0, 30, (2, 90))
        self.graph = gd.from_edges(src, dst, rng.integers(1, 9, 90) + 0.5, num_vertices=30)
        self._sampled(Choices())  # whose kernels are kept for the next process
        os.environ["XDG_CACHE_HOME"] = str(folder)  # what is compiled from here on never comes again

    def run(self, choices: Choices) -> str:
        result, way = choices.among(("float", "int", "bool")), choices.below(SAMPLED)
        if way == SAMPLED - 1:
            return self._sampled(choices)
        odd = choices.one_in(3)
        text = text_of(choices, result, odd)
        function = function_of(text)
        if function is None:
            return "no Python"
        made = translate(function, FIELDS, result)
        made.cuda("f")
        if way % COMPILED == COMPILED - 1:
            self._compare(function, made, text)
            return f"compiled, {result}"
        return f"translated, {result}"

    def _compare(self, function: Any, made: Any, text: str) -> None:
        compiled = made.compiled
        columns = [self.table[name] for name in made.fields]
        for row, expected in enumerate(_in_python(function, self.table)):
            failure = np.zeros(1, np.int32)
            found = compiled(*(column[row] for column in columns), failure)
            if failure[0]:
                said = made.error(int(failure[0]))
                if not isinstance(expected, Exception) and int(failure[0]) % 16 not in OF_64_BITS:
                    raise Wrong(f"fails: {said} where Python returns {expected!r}:\n{text}")
            elif isinstance(expected, Exception) or not _same(found, expected):
                raise Wrong(f"other values: {found!r} where Python has {expected!r}, row {row}:\n{text}")

    def _sampled(self, choices: Choices) -> str:
        """Draw with a bias; the same bits over partitions, and a proof."""
        text = text_of(choices, "float", False)
        for name, field in (("e.src", "e.source"), ("e.degree", "e.source_degree"), ("e.time", "e.weight")):
            text = text.replace(name, field)
        text = text.replace("e.is_neighbor", "e.destination_is_previous")
        function = function_of(text)
        spec = gd.sample.Spec(
            edge_bias=function, neighbor_size=choices.among((1, 2, 3)), depth=choices.among((1, 2)),
            replace=choices.one_in(2),
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = []
            for parts in (1, 3):
                try:
                    drawn.append(gd.sample.run(self.graph.partition(parts, device="cpu"), spec, range(10), seed=1))
                except FunctionError as error:
                    drawn.append(error)
        one, other = drawn
        if isinstance(one, FunctionError) != isinstance(other, FunctionError):
            raise Wrong(f"an error depends on partitions: {one!r}, {other!r}:\n{text}")
        if not isinstance(one, FunctionError):
            if not all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("src", "dst")):
                raise Wrong(f"samples depend on partitions: of\n{text}")
            one.verify()
        return "sampled"


def _in_python(function: Any, table: dict[str, np.ndarray]) -> Iterator[Any]:
    """What Python returns for each row, or raises."""
    for row in range(ROWS):
        try:
            value = function(SimpleNamespace(**{name: column[row].item() for name, column in table.items()}))
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            value = error
        yield TypeError("complex") if isinstance(value, complex) else value


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and math.isnan(expected):
        return bool(found != found)
    try:
        return bool(found == expected) or bool(np.isclose(float(found), float(expected), rtol=1e-12, atol=0))
    except OverflowError:
        return False
