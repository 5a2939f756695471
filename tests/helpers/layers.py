"""The layers of the package, and what breaks the direction of imports between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from source_tree import Import

LAYERS = (
    "kernels",
    "device",
    "display",
    "comm",
    "partition",
    "io",
    "graph",
    "engine",
    "results",
    "program",
    "dynamic",
    "algorithms",
    "generate",
    "sample",
    "subgraphs",
    "similarity",
    "verify",
    "stream",
    "dashboard",
    "gang",
    "plot",
    "aio",
    "nx",
    "cluster",
    "bench",
    "scale",
    "selftest",
    "chaos",
    "commands",
)
"""The packages in their order: each imports itself and those above it in this list, inside functions too."""

FIRST_OF_USERS = "plot"
"""From here on, packages use graphdask as its users do, by its public names."""

EVERYWHERE = ("config", "errors", "execute", "interface", "tuning", "version")
"""Modules of the root, and the package `interface`, that every package may import; they import only each other."""

LAST = ("__main__", "cli")
"""Modules of the root that import any package."""

NOT_IN_ALGORITHMS = ("dask", "distributed", "cupy", "numba")
"""Machinery that belongs to the framework; `graphdask.comm` besides."""

RANK = (
    dict.fromkeys(EVERYWHERE, 0)
    | {name: rank for rank, name in enumerate(LAYERS, start=1)}
    | dict.fromkeys(LAST, len(LAYERS) + 1)
)


def part(module: str) -> str:
    """The part of the package that a module belongs to: `io` for `graphdask.io.edges`; empty for the root."""
    return module.split(".")[1] if "." in module else ""


def resolve(target: str, modules: Iterable[str]) -> str | None:
    """The module of this package that an imported name comes from; None for other packages."""
    if target.split(".")[0] != "graphdask":
        return None
    while target not in modules and "." in target:
        target = target.rpartition(".")[0]
    return target


def unknown(modules: Iterable[str]) -> list[str]:
    """Modules that stand in no layer; a new package is added to LAYERS where its imports allow."""
    return sorted(module for module in modules if part(module) and part(module) not in RANK)


def violations(imports: Iterable[Import], modules: Iterable[str]) -> list[str]:
    """Every import against the direction, in words."""
    return [
        f"{found.importer}:{found.line} imports {found.target}: {reason}"
        for found in imports
        if (reason := _objection(found, set(modules)))
    ]


def _objection(found: Import, modules: set[str]) -> str:
    source, top = part(found.importer), found.target.split(".")[0]
    if top in ("kernels", "cluster"):
        return f"the package is graphdask.{top}"
    target = resolve(found.target, modules)
    if source == "algorithms" and (top in NOT_IN_ALGORITHMS or (target and part(target) == "comm")):
        return "algorithms leave this to the framework"
    if target is None or source == "":
        return ""
    if target == "graphdask":
        return "" if RANK.get(source, 0) >= RANK[FIRST_OF_USERS] else "only what users touch uses the public names"
    if RANK.get(part(target), 0) > RANK.get(source, len(LAYERS) + 1):
        return f"{source} stands below {part(target)}"
    return ""


def cycles(imports: Iterable[Import], modules: Iterable[str]) -> list[list[str]]:
    """Groups of modules that import each other, be it inside functions or under TYPE_CHECKING."""
    modules = set(modules)
    return _strong(
        {
            (found.importer, target)
            for found in imports
            if (target := resolve(found.target, modules)) and target != found.importer and found.importer != "graphdask"
        }
    )


def _strong(edges: set[tuple[str, str]]) -> list[list[str]]:
    """Strongly connected components of more than one module, from who reaches whom; the graph is small."""
    follows = {a: {y for x, y in edges if x == a} for a, _ in edges}
    reach = {a: _reachable(a, follows) for a in follows}
    groups = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in follows if a in reach[a]}
    return sorted(sorted(group) for group in groups)


def _reachable(start: str, follows: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    stack = [start]
    while stack:
        new = follows.get(stack.pop(), set()) - seen
        seen |= new
        stack.extend(new)
    return seen
