"""The layers of the package, and what breaks the direction of imports between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from source_tree import Import

LAYERS = (
    ("kernels", "compiling", "host_memory", "launch", "page_locked"),
    ("backend",),
    (
        "adapters",
        "batch_frames",
        "blocks",
        "changes",
        "construct",
        "dynamic",
        "first_use",
        "frames",
        "given",
        "graph",
        "html",
        "ids",
        "larger",
        "notebook",
        "parallel_edges",
        "part",
        "partition",
        "phases",
        "room",
        "sources",
        "sparse_ids",
        "temporal",
        "io",
    ),
    ("comm",),
    (
        "announced",
        "bsp",
        "buffers",
        "build",
        "degrees",
        "dynamic_batch",
        "dynamic_rows",
        "edge_rows",
        "engine",
        "ghosts",
        "letters",
        "mail",
        "neighbours",
        "power_law",
        "readback",
        "residency",
        "result",
        "stats",
        "stored_edges",
        "team",
        "writing",
    ),
    ("algorithms", "generate", "sample", "stream", "verify"),
    ("dashboard", "gang"),
    ("__main__", "cli", "commands", "bench", "plot", "scale", "cluster", "nx"),
)
"""A layer imports itself and the layers above it in this list."""

EVERYWHERE = ("errors", "config", "conversions", "kinds", "runtime", "suggest", "version")
"""Modules that every layer may import; they import only each other."""

NOT_IN_ALGORITHMS = ("dask", "distributed", "cupy", "numba")
"""Machinery that belongs to the framework; `graphdask.comm` besides."""

RANK = {name: rank for rank, names in enumerate(LAYERS, start=1) for name in names} | dict.fromkeys(EVERYWHERE, 0)


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
    """Modules that stand in no layer; a new one is added to LAYERS where its imports allow."""
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
        return "" if RANK.get(source) == len(LAYERS) else "only the last layer uses the public names"
    if RANK.get(part(target), 0) > RANK.get(source, len(LAYERS)):
        return f"{source} stands below {part(target)}"
    return ""


def cycles(imports: Iterable[Import], modules: Iterable[str]) -> list[list[str]]:
    """Groups of modules that import each other when they are loaded, or that hide it under TYPE_CHECKING.

    An import inside a function closes no cycle by itself, but does not excuse one under TYPE_CHECKING.
    """
    modules = set(modules)
    edges = [
        (found.importer, target, found.where)
        for found in imports
        if (target := resolve(found.target, modules)) and target != found.importer and found.importer != "graphdask"
    ]
    found_cycles = _strong({(a, b) for a, b, where in edges if where == "module"})
    for group in _strong({(a, b) for a, b, _ in edges}):
        if any(a in group and b in group and where == "typing" for a, b, where in edges):
            found_cycles.append(group)
    return found_cycles


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
