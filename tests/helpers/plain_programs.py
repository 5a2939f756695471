"""Programs by plain Python: their functions are called as they stand, vertex by vertex and edge by edge."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

import graphdask as gd


class Message:
    """A message of several fields, as `apply` sees it."""

    def __init__(self, names: list[str], values: tuple):
        self.values = values
        self.__dict__.update(zip(names, values, strict=True))

    def __getitem__(self, place: int) -> Any:
        return self.values[place]


class Plain:
    """A graph and a program over it; `run` gives the columns of the state and the number of supersteps."""

    def __init__(self, program, n, src, dst, weights=None, directed=True):
        self.program, self.n, self.directed = program, n, directed
        src, dst = np.asarray(src), np.asarray(dst)
        weights = np.ones(len(src)) if weights is None else np.asarray(weights)
        out = list(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
        if not directed:
            out += [(v, u, w) for u, v, w in out if u != v]
        back = [(v, u, w) for u, v, w in out]
        self.arcs = {"out": out, "in": back, "both": out + back if directed else out}[program.direction]
        if not directed:
            self.arcs = out
        self.degree, self.in_degree = ([0] * n for _ in range(2))
        for u, v, _ in out:
            self.degree[u] += 1
            self.in_degree[v] += 1

    def run(self, active=None, init=None, most=None, until=None):
        program, n = self.program, self.n
        kind, combine = program.message
        names, kinds = [], [kind]
        if isinstance(kind, dict):
            names, kinds = list(kind), list(kind.values())
        elif isinstance(kind, tuple):
            names, kinds = [f"m{i}" for i in range(len(kind))], list(kind)
        vertices = []
        for v in range(n):
            vertex = SimpleNamespace(id=v, degree=self.degree[v], in_degree=self.in_degree[v])
            for name, (_, default) in program.state.items():
                setattr(vertex, name, default(vertex) if callable(default) else default)
            vertices.append(vertex)
        for name, given in (init or {}).items():
            pairs = given.items() if isinstance(given, dict) else enumerate(given)
            for v, value in pairs:
                setattr(vertices[v], name, value)
        everyone = program.activity == "all"
        active = set(range(n)) if active is None or everyone else set(active)
        most = program.max_supersteps if most is None else most
        aggregates = {name: _identity(how) for name, (how, _) in (program.aggregate or {}).items()}
        done = 0
        while active and (most is None or done < most):
            inboxes: list[list] = [[] for _ in range(n)]
            for u, v, w in self.arcs:
                if u in active:
                    edge = SimpleNamespace(source=vertices[u], destination=vertices[v], weight=w, superstep=done)
                    sent = True if program.send is None else program.send(edge)
                    if sent is not None:
                        values = tuple(sent[name] for name in names) if isinstance(sent, dict) else sent
                        inboxes[v].append((u, values if isinstance(values, tuple) else (values,)))
            changed, pairs = set(), []
            for v in range(n):
                if not inboxes[v] and not everyone:
                    continue
                old = vertices[v]
                view = SimpleNamespace(**vars(old), superstep=done, received=len(inboxes[v]), **aggregates)
                m = _combined(inboxes[v], combine, kinds)
                new = program.apply(view, m[0] if not names else Message(names, m))
                after = SimpleNamespace(**(vars(old) | (new or {})))
                if any(getattr(after, name) != getattr(old, name) for name in program.state):
                    changed.add(v)
                pairs.append((v, old, after))
            for v, _, after in pairs:
                vertices[v] = after
            done += 1
            aggregates = {
                name: _aggregated(how, [function(old, new) for _, old, new in pairs])
                for name, (how, function) in (program.aggregate or {}).items()
            }
            stop = program.until if until is None else until
            if stop is not None and stop(SimpleNamespace(**aggregates, active=len(changed), superstep=done)):
                break
            active = set(range(n)) if everyone else changed
        columns = {name: np.array([getattr(v, name) for v in vertices]) for name in program.state}
        return columns, done, aggregates


def _identity(how):
    return {"sum": 0, "min": math.inf, "max": -math.inf, "any": False, "count": 0}[how]


def _aggregated(how, values):
    if how == "sum":
        return math.fsum(values) if any(isinstance(value, float) for value in values) else sum(values)
    if how in ("min", "max"):
        return {"min": min, "max": max}[how](values, default=_identity(how))
    count = sum(bool(value) for value in values)
    return count > 0 if how == "any" else count


def _combined(inbox, combine, kinds):
    """The messages of one vertex as one, a tuple."""
    if combine == "any":
        return (any(values[0] for _, values in inbox),)
    if combine == "count":
        return (sum(bool(values[0]) for _, values in inbox),)
    if combine == "sum":
        return tuple(sum(values[k] for _, values in inbox) for k in range(len(kinds)))
    if not inbox:
        most = math.inf if kinds[0] is float else 2**63 - 1
        first = 0 if combine == "first" else most if combine == "min" else -math.inf if kinds[0] is float else -(2**63)
        return (first, *([0] * (len(kinds) - 1)))
    if combine == "first":
        return min(inbox, key=lambda entry: entry[0])[1]
    sign = 1 if combine == "min" else -1
    return min(inbox, key=lambda entry: (sign * entry[1][0], entry[0]))[1]


def graph_of(n, src, dst, weights=None, directed=True):
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
