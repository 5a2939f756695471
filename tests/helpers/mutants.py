"""Twins with planted errors, which run in the place of the right ones: whether tests notice them.

A mutant is a piece of a module's text and what stands there instead. All mutants of a module are compiled together,
which takes as long as one: where a piece stood, a number that is looked up while the kernel runs says which of them it
is, or that none is. Modules that compile code of this one in are made anew too, from their own texts.

The kernels for GPUs have the same bits as the twins, which other tests hold.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from graphdask.device.backend import CpuBackend, CpuKernels
from graphdask.kernels import kernel_files, module_name, text_of
from graphdask.kernels.functions.inserted import digests, python_text

_RUNNING = np.zeros(1, np.int64)
"""The number of the mutant that runs; 0 for none."""
IMPORT = re.compile(r"^from graphdask\.kernels\.\w+\.(\w+) import", re.MULTILINE)


@intrinsic
def mutated(typingctx, number):
    """Whether a mutant runs."""

    def codegen(context, builder, signature, arguments):
        word = ir.IntType(64)
        place = builder.inttoptr(ir.Constant(word, _RUNNING.ctypes.data), word.as_pointer())
        return builder.icmp_signed("==", builder.load(place), arguments[0])

    return types.boolean(types.int64), codegen


class Mutants:
    """The mutants of one module.

    Parameters
    ----------
    folder : where texts are written
    family : the module's name in `graphdask.kernels`
    pieces : of each mutant, by name, a right expression and a wrong one of the same type, or two assignments of such to
        the same names
    """

    def __init__(self, folder: Path, family: str, pieces: Mapping[str, tuple[str, str]]):
        self.folder, self.family = folder, family
        self.numbers = {name: number for number, name in enumerate(pieces, 1)}
        self.instead = defaultdict(list)
        for name, (right, wrong) in pieces.items():
            self.instead[right].append((wrong, self.numbers[name]))
        self.texts = {name.removesuffix(".py"): text_of(name) for name in kernel_files() if name.endswith(".py")}
        self.anew = {family}
        while more := {
            name for name, text in self.texts.items() if name not in self.anew and self.anew & set(IMPORT.findall(text))
        }:
            self.anew |= more
        self.modules, self.making = {}, Lock()

    @contextmanager
    def running(self, name: str | None) -> Iterator[None]:
        """Let kernels on a CPU be those of a mutant, or, with None, of the same module without one."""
        whole = CpuBackend.kernels

        def kernels(backend, family, *, cooperative=False, functions=None, **types):
            if family not in self.anew:
                return whole(backend, family, cooperative=cooperative, functions=functions, **types)
            found = CpuKernels.__new__(CpuKernels)
            with self.making:
                found._family, found._module = family, self._module(family, functions, types)
            return found

        CpuBackend.kernels = kernels
        _RUNNING[0] = self.numbers[name] if name else 0
        try:
            yield
        finally:
            CpuBackend.kernels, _RUNNING[0] = whole, 0

    def _module(self, family, functions=None, types=None):
        numbers = {name: kind for name, kind in (types or {}).items() if isinstance(kind, int)}
        key = family, digests(functions), tuple(numbers.items())
        if key not in self.modules:
            text = python_text(family, functions, numbers) if functions else self.texts[family]
            if family == self.family:
                text = self._planted(text)
            for other in sorted((self.anew - {family}) & set(IMPORT.findall(text))):
                self._module(other)
                text = text.replace(f"from {module_name(other)} import", f"from {self._name(other)} import")
            made_of = [*(digest[:8] for _, digest in key[1]), *(str(number) for _, number in key[2])]
            name = "_".join([self._name(family), *made_of])
            path = self.folder / f"{name}.py"
            path.write_text(text, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, path)
            made = importlib.util.module_from_spec(spec)
            sys.modules[name] = made
            spec.loader.exec_module(made)
            self.modules[key] = made
        return self.modules[key]

    def _name(self, family):
        return f"mutants_of_{self.family}_{family}"

    def _planted(self, text):
        for right, mutants in self.instead.items():
            assert right in text, f"{right} is not in {self.family}.py"
            *names, expression = right.rpartition(" = ")
            chain = "".join(
                f"({wrong.removeprefix(''.join(names))}) if mutated({number}) else " for wrong, number in mutants
            )
            text = text.replace(right, f"{''.join(names)}({chain}({expression}))")
        return text.replace("\nfrom graphdask.", "\nfrom mutants import mutated\nfrom graphdask.", 1)


@contextmanager
def rewritten(function: Callable, right: str, wrong: str) -> Iterator[None]:
    """Let a function, wherever it is called, be one in whose text something else stands."""
    text = textwrap.dedent(inspect.getsource(function))
    assert right in text, f"{right} is not in {function.__name__}"
    made: dict = {}
    exec(compile(text.replace(right, wrong), f"<{function.__name__}, rewritten>", "exec"), function.__globals__, made)
    whole = function.__code__
    function.__code__ = made[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = whole


def fails(check):
    """Whether a check of a law does not hold."""
    try:
        check()
    except AssertionError:
        return True
    return False
