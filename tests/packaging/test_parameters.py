"""Every parameter of a function is read in its body, and every option of a command is: none is accepted and ignored.

Ruff's ARG rules do not know which methods carry out one interface and which functions are called through a table, which
are most of those that leave a parameter unread here. Kernels are left out: twins have the parameters of their CUDA
functions.
"""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

import click
import pytest
from source_tree import sources

import graphdask as gd
from graphdask.cli import cli
from graphdask.interface.registry import Algorithm

NX = "NetworkX passes it by this name; `offered` refuses what the function cannot do with"
CLICK = "click's or Dask's signature"
ALIKE = "a class of another hierarchy has the same method, and one caller calls either"
FORM = "a streamed form is given its primitive, as `streams` says"
PROOF = "every verifier is given the primitive, as `verifies` says"
TARGET = "every target of `graphdask fuzz` is given a folder"
EXCEPTIONS = {
    "graphdask.nx.cores": NX,
    "graphdask.nx.distances": NX,
    "graphdask.nx.graph": NX,
    "graphdask.nx.iterations": NX,
    "graphdask.nx.spanning": NX,
    "graphdask.nx.triangles": NX,
    "graphdask.cli:list_commands(ctx)": CLICK,
    "graphdask.cli:get_command(ctx)": CLICK,
    "graphdask.cli:format_commands(ctx)": CLICK,
    "graphdask.commands.algorithms:list_commands(ctx)": CLICK,
    "graphdask.commands.algorithms:get_command(ctx)": CLICK,
    "graphdask.commands.algorithms:format_commands(ctx)": CLICK,
    "graphdask.commands.scale:convert(param)": CLICK,
    "graphdask.commands.scale:convert(ctx)": CLICK,
    "graphdask.bench.generation.work:block(rank)": ALIKE,
    "graphdask.bench.generation.work:block(size)": ALIKE,
    "graphdask.bench.generation.work:check(rank)": ALIKE,
    "graphdask.bench.generation.work:check(size)": ALIKE,
    "graphdask.program._statements:_pass(node)": "a method for each kind of statement, which is given it",
    "graphdask.program._statements:_break(node)": "a method for each kind of statement, which is given it",
    "graphdask.program._statements:_continue(node)": "a method for each kind of statement, which is given it",
    "graphdask.gang.local:is_whole(known)": ALIKE,
    "graphdask.sample.cluster_loader:_run(epoch)": "the base class of loaders calls it for each of them",
    "graphdask.selftest.constructors:__init__(folder)": TARGET,
    "graphdask.selftest.planted:__init__(folder)": TARGET,
    "graphdask.stream.kcores:core_numbers(primitive)": FORM,
    "graphdask.stream.strong:strong_components(primitive)": FORM,
    "graphdask.stream.verify:of(env)": ALIKE,
    "graphdask.verify.biconnected:verify_points(primitive)": PROOF,
    "graphdask.verify.biconnected:verify_bridges(primitive)": PROOF,
    "graphdask.verify.louvain:verify_connected(primitive)": PROOF,
    "graphdask.verify.pagerank:of(part)": ALIKE,
    "graphdask.verify.pagerank:of(env)": ALIKE,
    "graphdask.verify.strong:edges(backend)": ALIKE,
}
"""A module, or MODULE:FUNCTION(PARAMETER), and why a parameter is not read there."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    """Of the modules without kernels."""
    return {name: ast.parse(path.read_text()) for name, path in sources().items() if "graphdask.kernels" not in name}


def public(kind: Callable[[object], bool]) -> set[tuple[str, str]]:
    """Module and name of what is public: what `kind` is true of."""
    owners = (gd, gd.generate, gd.sample, gd.stream, gd.cluster, gd.io)
    each = [getattr(owner, name) for owner in owners for name in owner.__all__]
    return {(value.__module__, value.__name__) for value in each if kind(value)}


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, Function]]:
    """Every function below a node, with the class that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield owner, child
            yield from functions(child)
        else:
            yield from functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def parameters(function: Function) -> list[str]:
    given = function.args
    each = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [one.arg for one in each if one is not None and one.arg not in ("self", "cls") and one.arg[0] != "_"]


def unread(function: Function) -> list[str]:
    body = [part for part in function.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    if not body or (len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplemented" in ast.unparse(body[0])):
        return []  # says what an interface has
    names = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return [] if "locals" in names else [name for name in parameters(function) if name not in names]


def methods_of_interfaces() -> set[tuple[str, str]]:
    """Methods, by class and name, that another class above or below theirs has too; not of public classes."""
    bases, own = defaultdict(set), defaultdict(set)
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] |= {name.id for base in node.bases for name in ast.walk(base) if hasattr(name, "id")}
                own[node.name] |= {child.name for child in node.body if isinstance(child, Function)}
    above = {name: set(some) for name, some in bases.items()}
    for _ in range(12):
        for some in above.values():
            some |= {base for name in list(some) for base in above.get(name, ())}
    pairs = {(name, base) for name, some in above.items() for base in some}
    pairs |= {(base, name) for name, base in pairs}
    found = {(name, method) for name, other in pairs for method in own[name] & own.get(other, set())}
    return {pair for pair in found if pair[0] not in {name for _, name in public(inspect.isclass)}}


def handed_on() -> set[str]:
    """Functions that somebody is given to call: their parameters are those that the caller has."""
    names = set()
    for tree in trees().values():
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}
        names |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and id(n) not in called}
    return names


def test_every_parameter_is_read():
    alike, given_on, offered = methods_of_interfaces(), handed_on(), public(inspect.isfunction)
    found, used = [], set()
    for module, tree in trees().items():
        for owner, function in functions(tree):
            name = function.name
            if (
                (owner, name) in alike
                or name == "__exit__"
                or (not owner and name in given_on and (module, name) not in offered)
            ):
                continue
            for parameter in unread(function):
                key = f"{module}:{name}({parameter})"
                hit = {key, module} & set(EXCEPTIONS)
                used |= hit
                found += [] if hit else [key]
    assert found == []
    assert set(EXCEPTIONS) - used == set()


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}".strip(), command


def words(tree: ast.AST) -> set[str]:
    """By what one of many options is taken: attributes that are read, texts in a subscript or of `names`, and the
    parameters of functions that are called with all that is left."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Call) and any(each.arg is None for each in node.keywords):
            found |= parameters_by_name()[ast.unparse(node.func).rpartition(".")[2]]
            if isinstance(node.func, ast.Call):  # of getattr: of a function that a table names
                texts = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)]
                found |= set().union(*(parameters_by_name()[text] for text in texts if isinstance(text, str)))
    return found


@cache
def parameters_by_name() -> dict[str, set[str]]:
    """Of functions, whose bodies read them all, and of dataclasses."""
    found: dict[str, set[str]] = defaultdict(set)
    for tree in trees().values():
        for _, function in functions(tree):
            found[function.name] |= set(parameters(function))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(each) for each in node.decorator_list):
                fields = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
                found[node.name] |= fields if node.name != "Request" else set()
    return found


@cache
def words_of(module: str) -> set[str]:
    return words(trees()[module])


@cache
def shared() -> set[str]:
    """Modules of commands that take no request whole."""
    return {
        name for name, tree in trees().items()
        if name.startswith("graphdask.commands.") and "Request" not in ast.dump(tree)
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name, _ in commands(cli)])
def test_every_option_of_a_command_is_read(name):
    command = dict(commands(cli))[name]
    function = inspect.unwrap(command.callback)
    named = set(inspect.signature(function).parameters)  # of which the test above says that they are read
    closed = inspect.getclosurevars(function).nonlocals.values()
    own = {function.__module__, *(each.__module__ for each in closed if inspect.isfunction(each))}
    read = set().union(*(words_of(module) for module in own | shared()))
    for algorithm in closed:
        if isinstance(algorithm, Algorithm):
            calls = (algorithm.function, algorithm.start or algorithm.function)
            read |= {name for call in calls for name in inspect.signature(call).parameters}
    options = {parameter.name for parameter in command.params if parameter.expose_value}
    assert options - named - read == set()


def test_an_unread_parameter_is_found():
    (_, function), *_ = functions(ast.parse("def f(a, b, *, c=1, **d):\n    'Text.'\n    return a, g(**d)"))
    assert unread(function) == ["b", "c"]
    (_, stub), *_ = functions(ast.parse("def f(a):\n    raise NotImplementedError"))
    assert unread(stub) == []
