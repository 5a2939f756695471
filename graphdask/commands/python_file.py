"""What stands in a Python file of the caller's: a Spec for `sample run`, a Program for `run` and `profile`.

The file is run as `python FILE` would run it, with its folder first where modules are looked for. What is wrong with
it is said with file, line and what stands there.
"""

from __future__ import annotations

import ast
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from graphdask.errors import FunctionError, InputError


def split(where: str) -> tuple[Path, str]:
    """The file and the name of `FILE.py:NAME`; the name is empty where there is none."""
    head, colon, name = where.rpartition(":")
    return (Path(head), name) if colon and not where.endswith(".py") else (Path(where), "")


def defined(path: Path) -> dict[str, Any]:
    """What a file defines.

    Raises
    ------
    InputError
        For a file that there is not.
    FunctionError
        For what the file raises, with its line.
    """
    from graphdask.io.opening import existing_file

    text = str(existing_file(path).absolute())
    with _looked_for_in(str(path.absolute().parent)):
        try:
            return runpy.run_path(text, run_name=path.stem)
        except FunctionError:
            raise
        except SyntaxError as error:
            raise FunctionError(
                f"{error.msg} (SyntaxError)", error.filename, error.lineno, (error.text or "").strip()
            ) from None
        except (Exception, SystemExit) as error:
            frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == text]
            line = frames[-1].lineno if frames else None
            reason = f"raises {type(error).__name__}: {error}"
            raise FunctionError(reason, text, line, frames[-1].line if frames else None) from None


@contextmanager
def _looked_for_in(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def named(path: Path, name: str, kind: type, called: str) -> Any:
    """The value of a name that a file gives to an instance of `kind`, which messages call `called`."""
    found = defined(path)
    if name not in found:
        raise InputError(f"{path} has no {name!r}; {instances_in_words(found, kind)}")
    if not isinstance(found[name], kind):
        raise FunctionError(f"{name} is a {type(found[name]).__name__}, not a {called}", *place(path, name))
    return found[name]


def instances_in_words(found: Mapping[str, Any], kind: type) -> str:
    """The names of all instances of `kind` among what a file defines; without any, what it defines instead."""
    names = [each for each, value in found.items() if isinstance(value, kind)]
    return f"its {kind.__name__}s are {', '.join(names)}" if names else f"it has {in_words(found)}"


def in_words(found: Mapping[str, Any]) -> str:
    """The names that a file defines."""
    names = [name for name in found if not name.startswith("_")]
    return ", ".join(names) if names else "nothing"


def place(path: Path, name: str) -> tuple[str, int | None, str | None]:
    """Where a file defines a name at last."""
    text = path.read_bytes()
    lines = [
        node.lineno
        for node in ast.parse(text).body
        if any(
            getattr(each, "name", None) == name
            or (isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store))
            or (isinstance(each, ast.alias) and (each.asname or each.name) == name)
            for each in ([node] if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.walk(node))
        )
    ]
    if not lines:
        return str(path.absolute()), None, None
    return str(path.absolute()), lines[-1], text.decode(errors="replace").splitlines()[lines[-1] - 1]


@dataclass(frozen=True)
class ByValue:
    """A function of a file, which workers receive as code: they can import neither the file nor modules beside it."""

    function: Callable[..., Any]
    folder: Path
    """Of the file."""

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> Any:
        import cloudpickle

        beside = [module for name, module in list(sys.modules.items()) if self._holds(name, module)]
        for module in beside:
            cloudpickle.register_pickle_by_value(module)
        try:
            return cloudpickle.loads, (cloudpickle.dumps(self.function),)
        finally:
            for module in beside:
                cloudpickle.unregister_pickle_by_value(module)

    def _holds(self, name: str, module: ModuleType) -> bool:
        """Whether a module, not one inside a package, is in the folder."""
        file = getattr(module, "__file__", None)
        return file is not None and Path(file) in (self.folder / f"{name}.py", self.folder / name / "__init__.py")
