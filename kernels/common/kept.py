"""Where Numba keeps compiled twins: in a folder of the user for each family, named by a digest.

Numba on its own keeps them beside their source, and compiles a function again when the file of that function changes.
It misses three things: a twin contains code of other files (headers such as hash.py, and the packs), it is compiled at
the level of optimisation that NUMBA_OPT names, and the same kernels in another environment need not be compiled again.
A digest of the text of a family, of all that it imports, and of the level covers them. In another distribution, each
module with twins is such a family. Several processes may write: Numba replaces its files at once. Only the KEPT digests
of a family that were used last stay.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from numba.core import caching, config

from graphdask.errors import GraphdaskWarning
from graphdask.kernels import folder_of, kernel_files, text_of

KEPT = 4
"""Digests of a family; of all families, they have some 100 MB each if all kernels are compiled."""
OPTIMISED = 3
"""Numba's level of optimisation, unless NUMBA_OPT names another."""
IMPORT = re.compile(r"^ *(?:from|import) graphdask\.kernels\.\w+\.(\w+)\b", re.MULTILINE)
OTHERS: dict[str, str] = {}
"""Modules of other distributions with twins, by their files."""
OURS = Path(__file__).resolve().parents[1]


def cache_folder() -> Path:
    """Where what is compiled is kept: `graphdask` in $XDG_CACHE_HOME, or in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "graphdask"


def own(folder: Path) -> bool:
    """Make a folder; whether it is the user's, and others cannot write to it, so that what it holds may be run."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022


@cache
def digest(text: str) -> str:
    """Of a text, of all kernels that it imports, and those that these import, and of the level of optimisation."""
    found: dict[str, str] = {}
    names = IMPORT.findall(text)
    while names:
        name = names.pop()
        if name not in found:
            found[name] = text_of(f"{name}.py")
            names += IMPORT.findall(found[name])
    parts = [text, *(f"{name}\0{found[name]}" for name in sorted(found))]
    if config.OPT != OPTIMISED:
        parts.append(f"NUMBA_OPT={int(config.OPT)}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@cache
def named(family: str) -> str:
    """The folder of a family, which is one of kernels/, or a module of another distribution."""
    if "." in family:
        return f"{family}-{digest(_text_with_imports(family))}"
    names = [name for name in kernel_files() if name.endswith(".py") and folder_of(name) == family]
    text = "\0".join(part for name in names for part in (name, text_of(name)))
    return f"{family}-{digest(text)}"


def _text_with_imports(module: str) -> str:
    """The text of a module, and of all modules of its top package that it imports."""
    top, found, left = module.partition(".")[0], dict[str, str](), [module]
    while left:
        name = left.pop()
        path = _source_of(name) if name.partition(".")[0] == top and name not in found else None
        if path is not None:
            found[name] = path.read_text(encoding="utf-8")
            left += _imported(found[name], name if path.name == "__init__.py" else name.rpartition(".")[0])
    return "\0\n".join(f"{name}\0\n{found[name]}" for name in sorted(found))


def _source_of(name: str) -> Path | None:
    """The file of a module; None for what is none."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # what is before the last point is no package
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _imported(text: str, package: str) -> Iterator[str]:
    """What may be modules, of all names that a module of a package imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (base, *(f"{base}.{each.name}" for each in node.names))


@cache
def _kept(base: Path, family: str) -> Path | None:
    """The folder of a family, if it can be used."""
    try:
        folder = base / "kernels" / named(family)
        if not (own(folder.parent) and own(folder)):
            return None
        os.utime(folder)
        others = folder.parent.glob(f"{family}-*")
        for other in sorted(others, key=lambda each: each.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(other, ignore_errors=True)
        return folder
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None


class ByDigest(caching._CacheLocator):
    """Numba asks it for the folder and the stamp of the file of a function. Other libraries' files are not for it."""

    def __init__(self, folder: Path, py_file: str, line: int):
        self._folder, self._line = folder, line
        self._py_file = py_file  # Numba names it where it warns that a function cannot be kept

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> ByDigest | None:
        path = Path(py_file).resolve()
        family = path.parent.name if OURS in path.parents else OTHERS.get(py_file)
        if config.CACHE_DIR or family is None:
            return None
        try:
            folder = _kept(cache_folder(), family)
        except RuntimeError:
            return None
        return None if folder is None else cls(folder, py_file, py_func.__code__.co_firstlineno)


def enter_other(function: Callable[..., Any]) -> None:
    """Let a twin be kept by a digest, if it is one of another distribution's package."""
    module = function.__module__ or ""  # None of what `exec` has made
    if "." in module and not module.startswith("graphdask."):
        OTHERS[function.__code__.co_filename] = module


def keep_by_digest() -> None:
    """From now on Numba keeps the twins there, unless NUMBA_CACHE_DIR names another place."""
    known = getattr(caching, "CacheImpl", None) or caching._CacheImpl
    if ByDigest not in known._locator_classes:
        known._locator_classes = [ByDigest, *known._locator_classes]


def keep_where_possible(dispatcher: Any) -> None:
    """Let a call go on where what was compiled for it cannot be kept, because of a full disk or a quota.

    The text of all types that were inferred, which takes long to write and which nothing reads, is not kept.
    """
    kept, save = dispatcher._cache, dispatcher._cache.save_overload

    def save_overload(signature: Any, compiled: Any) -> None:
        try:
            save(signature, compiled._replace(type_annotation=""))
        except OSError as error:
            _not_kept(str(Path(kept.cache_path).parent), os.strerror(error.errno or 0).lower())

    kept.save_overload = save_overload


@cache
def _not_kept(folder: str, reason: str) -> None:
    """Warn, once for each folder and reason."""
    warnings.warn(
        f"compiled kernels are not kept in {folder}: {reason}; every process compiles them again until there is room, "
        f"or XDG_CACHE_HOME names a folder on another disk",
        GraphdaskWarning,
        stacklevel=2,
    )
