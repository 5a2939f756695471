"""Speed-up and efficiency of measurements over the fewest workers that did the same.

Strong: how many times less time the same graph takes. Weak: how many times more edges of the input in the same time,
as the graphs grow with the workers (Pan et al., Multi-GPU Graph Analytics, Figure 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphdask.scale.plan import ALONE

Record = dict[str, Any]


def base(record: Record, records: Sequence[Record]) -> Record | None:
    """The measurement that a record is compared with: of as few workers as there are, over its transport or alone."""
    same = [other for other in records if "failed" not in other and _comparable(record, other)]
    return min(same, key=lambda other: other["workers"], default=None)


def _comparable(record: Record, other: Record) -> bool:
    names = ["kind", "algorithm", "device", "sources", "repeats", "seed", "max_weight"]
    workers = record["workers"], other["workers"]
    one_worker = []
    for each in (record, other):
        scale, factor = each["scale"], each["edge_factor"]
        if each["kind"] == "weak-vertex":
            scale -= each["workers"].bit_length() - 1
        if each["kind"] == "weak-edge":
            factor //= each["workers"]
        one_worker.append((scale, factor))
    return (
        all(record.get(name) == other.get(name) for name in names)
        and one_worker[0] == one_worker[1]
        and workers[1] <= workers[0]
        and other["transport"] in (record["transport"], ALONE)
    )


def speed_up(record: Record, records: Sequence[Record], seconds: float | None = None) -> float | None:
    """How much faster than the fewest workers; None where the record failed or is what others are compared with.

    `seconds`, where given, is taken for the record's own time.
    """
    if "failed" in record:
        return None
    first = base(record, records)
    if first is None or first["workers"] == record["workers"]:
        return None
    grown = 1.0 if record["kind"] == "strong" else _work(record) / _work(first)
    return first["seconds"] / (seconds or record["seconds"]) * grown


def _work(record: Record) -> float:
    """Edges of the input that a run works on, on the mean."""
    runs = record["runs"]
    return sum(each["edges_reached"] for each in runs) / len(runs) or 1.0


def efficiency(record: Record, records: Sequence[Record], seconds: float | None = None) -> float | None:
    """Speed-up over the growth of the workers."""
    gain, first = speed_up(record, records, seconds), base(record, records)
    return None if gain is None or first is None else gain / (record["workers"] / first["workers"])
