"""Signatures of CUDA kernels and of their Numba twins, read from the sources without running them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\([^()]*\)\s*)?void\s+'
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?(\w+)\s*\(([^)]*)\)"
)


class SignatureError(Exception):
    """A kernel has no twin, or one with other arguments."""


def cuda_signatures(source: Path) -> dict[str, list[str]]:
    """Argument names of every kernel in a `.cu` file, by the kernel's name."""
    code = COMMENT.sub(" ", source.read_text())
    found = {}
    for name, arguments in KERNEL.findall(code):
        found[name] = _argument_names(arguments)
        if not re.match(r"\s*(const\s+)?long\s+long\s+n\b", arguments):
            raise SignatureError(f"{source.name}: the first argument of {name} is not 'long long n'")
    declared = len(re.findall(r"\b__global__\b", code))
    if declared != len(found):
        raise SignatureError(
            f'{source.name}: {declared} kernels, {len(found)} of them written as extern "C" __global__ void name(...)'
        )
    return found


def _argument_names(arguments: str) -> list[str]:
    """The last word of each argument: `const index_t* __restrict__ indptr` is `indptr`; of a pack, its type too."""
    words = [re.findall(r"[\w*]+", argument) for argument in arguments.split(",") if argument.strip()]
    return [" ".join(word) if re.match("[A-Z]", word[0]) else word[-1].strip("*") for word in words]


def python_signatures(source: Path) -> dict[str, list[str]]:
    """Argument names of every function at the top of a Python file, by the function's name."""
    functions = (node for node in ast.parse(source.read_text()).body if isinstance(node, ast.FunctionDef))
    return {node.name: [_parameter(arg) for arg in (*node.args.posonlyargs, *node.args.args)] for node in functions}


def _parameter(arg: ast.arg) -> str:
    """The name of a parameter; of a pack, its type too, as in CUDA."""
    return arg.arg if arg.annotation is None else f"{ast.unparse(arg.annotation)} {arg.arg}"


def without_twin(source: Path) -> tuple[str, ...]:
    """Names in `GPU_ONLY` of a Python file: kernels of GPUs that write into each other's memory, as no CPUs do."""
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "GPU_ONLY" for target in node.targets):
            return ast.literal_eval(node.value)
    return ()


def check_twins(cuda: Path) -> list[str]:
    """Names of the kernels in a `.cu` file, once each has a twin with the same arguments in the same order.

    Raises
    ------
    SignatureError
        Naming the first kernel that has none, or whose arguments differ.
    """
    kernels, twins = cuda_signatures(cuda), python_signatures(cuda.with_suffix(".py"))
    alone = without_twin(cuda.with_suffix(".py"))
    for name, arguments in kernels.items():
        if name in alone or (name not in twins and name.removesuffix("_hubs") in twins):
            continue
        if name not in twins:
            raise SignatureError(f"{cuda.name}: {name} has no twin in {cuda.stem}.py")
        if arguments != twins[name]:
            raise SignatureError(f"{cuda.name}: {name}({', '.join(arguments)}) but twin({', '.join(twins[name])})")
    return list(kernels)
