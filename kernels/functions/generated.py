"""Functions that are written while a program runs, compiled by Numba and kept on disk for the next process.

A function goes into a file of its own in the user's cache folder, which `cache=True` can then work with: its folder is
named by a digest of the text, of the kernels that it imports, and of the versions. The file appears under
its name at once and is never written again, so processes that start together are safe; Numba replaces its own files
the same way, and one process compiles a function that others wait for (once.py). Where the folder cannot be used, the
function is compiled for this process alone.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import tempfile
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba

from graphdask.kernels.common.kept import cache_folder, digest, own
from graphdask.kernels.common.once import compile_once
from graphdask.kernels.common.twin import ONLY_IN_KERNELS, WITHOUT_ARRAYS

TYPES = {"bool": numba.boolean, "int": numba.int64, "float": numba.float64}


@cache
def compiled(
    source: str, name: str, arguments: tuple[str, ...], result: str | tuple[str, ...], for_python: bool = True
) -> Callable[..., Any]:
    """The function `name` of a Python text, compiled.

    Parameters
    ----------
    source : str
    name : str
    arguments : tuple of {"bool", "int", "float"}
        The types of its parameters but the last, an int32 array in which it stores failures.
    result : {"bool", "int", "float"} or tuple of these
        The type that it returns; a tuple of several.
    for_python : bool
        Whether Python calls it, besides kernels. If not, it compiles in less time.

    Returns
    -------
    numba dispatcher
        With that one signature.
    """
    if not for_python:
        source += "\n# for kernels only\n"  # Numba keeps one function of a file and signature, called by Python or not
    failure = numba.types.Array(numba.int32, 1, "C")
    returned = TYPES[result] if isinstance(result, str) else numba.types.Tuple([TYPES[kind] for kind in result])
    signature = returned(*(TYPES[kind] for kind in arguments), failure)
    path = _stored(source)
    if path is not None:
        try:
            return _compiled(source, name, signature, str(path), True, for_python)
        except (
            Exception
        ):  # no place for Numba's files, a full disk, a file cut short; what is wrong otherwise is seen below
            pass
    return _compiled(source, name, signature, f"<graphdask function {_digest(source)}>", False, for_python)


def _compiled(source: str, name: str, signature: Any, path: str, keep: bool, for_python: bool) -> Any:
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    module = types.ModuleType(f"graphdask_function_{_digest(source)}")
    sys.modules[module.__name__] = module  # Numba imports the module of a function that it reads from disk
    exec(compile(source, path, "exec"), module.__dict__)
    options = WITHOUT_ARRAYS if for_python else ONLY_IN_KERNELS
    function = numba.njit(nogil=True, cache=keep, error_model="numpy", **options)(getattr(module, name))
    if keep:
        compile_once(function)
    function.compile(signature)
    function.disable_compile()
    return function


@cache
def module(source: str) -> types.ModuleType:
    """The module of a Python text, whose functions with decorators of kernels are compiled when they are called.

    They are kept on disk like those of `compiled`.
    """
    path = _stored(source)
    if path is not None:
        try:
            return _module(source, str(path))
        except (OSError, RuntimeError):  # Numba has no place for its files
            pass
    return _module(_uncached(source), f"<graphdask module {_digest(source)}>")


def _uncached(source: str) -> str:
    """The text with decorators that keep nothing."""
    plain = (
        "from graphdask.kernels.common.twin import WITHOUT_ARRAYS, compiled_by\n\n"
        "twin = compiled_by()\ninlined = compiled_by(**WITHOUT_ARRAYS)\n"
        "within = compiled_by(forceinline=True)\nfor_twins = compiled_by(no_cpython_wrapper=True)\n\n\n@"
    )
    return source.replace("\n\n\n@", f"\n\n\n{plain}", 1)


def _module(source: str, path: str) -> types.ModuleType:
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    made = types.ModuleType(f"graphdask_module_{_digest(source)}")
    sys.modules[made.__name__] = made
    exec(compile(source, path, "exec"), made.__dict__)
    return made


@cache
def _digest(source: str) -> str:
    made_of = (digest(source), numba.__version__, llvmlite.__version__, sys.version)
    return hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:32]


def _stored(source: str) -> Path | None:
    """The file with this text, written if it is not there; None where that cannot be."""
    try:
        folder = cache_folder() / "functions"
        if not own(folder):
            return None
        folder /= _digest(source)
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / "function.py"
        if not path.exists():
            descriptor, written = tempfile.mkstemp(dir=folder)
            try:
                with open(descriptor, "w", encoding="utf-8") as file:
                    file.write(source)
                os.link(written, path)
            except FileExistsError:
                pass
            finally:
                os.unlink(written)
        return path if path.read_text(encoding="utf-8") == source else None
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: there is no home
        return None
