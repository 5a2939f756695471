"""Tables of sizes that decide how work is divided, and that tests vary. None of them changes an answer.

A size stands beside the code that uses it, as a constant, unless a test needs another value: a graph that is large
enough for several launches, for 64-bit ids or for the memory check would take minutes. Such sizes stand in the table of
their package, `graphdask/<package>/tuning.py`, with unit and reason. The code reads them when it runs, from the one
table of the process, which all ranks that are threads share. Sizes that kernels know too are in
`graphdask.kernels.common.tuning`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from graphdask.errors import InputError, shown


def per_device(*, cpu: Any, cuda: Any) -> Any:
    """A size that differs by device: a dictionary by the name of the backend."""
    return field(default_factory=lambda: {"cpu": cpu, "cuda": cuda})


@dataclass(frozen=True)
class Tuning:
    """The table of a package: a subclass has a field for each size, with its default."""

    @contextmanager
    def varied(self, /, **values: Any) -> Iterator[None]:
        """Use other values in this process until the `with` block ends.

        Parameters
        ----------
        **values : Any
            Sizes by name. The one value of a size `per_device` holds for all devices.

        Raises
        ------
        InputError
            If the table has no size of that name.
        """
        before = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in values:
            if name not in before:
                raise InputError(f"{type(self).__name__} has no size {shown(name)}; it has {', '.join(sorted(before))}")
        try:
            for name, value in values.items():
                of_devices = isinstance(before[name], dict) and not isinstance(value, dict)
                object.__setattr__(self, name, dict.fromkeys(before[name], value) if of_devices else value)
            yield
        finally:
            for name in values:
                object.__setattr__(self, name, before[name])
