"""The copy model and the Barabasi-Albert model with distinct targets, in plain Python, from their definition."""

from __future__ import annotations

from collections.abc import Callable

ALL = 1 << 64
GOLDEN = 0x9E3779B97F4A7C15
TARGET, FRACTION, AGAIN, ENDPOINT = 1, 2, 4, 5


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % ALL
    x = (x ^ x >> 27) * 0x94D049BB133111EB % ALL
    return x ^ x >> 31


def hash_for(seed: int, what: int) -> Callable[[int], int]:
    """The hash of one use of a seed."""
    first, second = (mix((mix((seed + GOLDEN) % ALL) + (2 * what + part) * GOLDEN) % ALL) for part in (0, 1))

    def hashed(number: int) -> int:
        x = number ^ first
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % ALL
        x = (x ^ x >> 27 ^ second) * 0x94D049BB133111EB % ALL
        return x ^ x >> 31

    return hashed


def number_drawn(seed: int, slot: int, attempt: int) -> int:
    return (hash_for(seed, AGAIN)(slot) + attempt * GOLDEN) % ALL if attempt else slot


def copy_draw(v: int, degree: int, p: float, seed: int, slot: int, attempt: int) -> tuple[int, int, bool]:
    """u, k and whether the candidate is u."""
    number = number_drawn(seed, slot, attempt)
    u, rest = divmod(hash_for(seed, TARGET)(number) * v, ALL)
    if v >= 1 << 31:
        rest = hash_for(seed, FRACTION)(number)
    k, coin = divmod(rest * degree, ALL)
    return u, k, u < degree or coin // 2 < int(p * 2**63)


def choose(candidate: Callable[[int, int], int], degree: int, v: int, attempts: int, last: Callable[[int], int]):
    """The targets of v: for each slot the first candidate that is free, or after `attempts` the first free vertex."""
    found: list[int] = []
    for slot in range(v * degree, (v + 1) * degree):
        for attempt in range(attempts):
            target = candidate(slot, attempt)
            if target not in found:
                break
        else:
            target = last(slot)
            while target in found:
                target = (target + 1) % v
        found.append(target)
    return found


def copy_model(n: int, degree: int, p: float, seed: int, attempts: int | None = None) -> list[list[int]]:
    """The targets of the vertices from `degree` on."""
    attempts = 64 * degree if attempts is None else attempts
    rows: dict[int, list[int]] = {}
    for v in range(degree, n):

        def candidate(slot: int, attempt: int, v: int = v) -> int:
            u, k, direct = copy_draw(v, degree, p, seed, slot, attempt)
            return u if direct else rows[u][k]

        def last(slot: int, v: int = v) -> int:
            return hash_for(seed, TARGET)(number_drawn(seed, slot, attempts)) * v // ALL

        rows[v] = choose(candidate, degree, v, attempts, last)
    return list(rows.values())


def barabasi_albert(n: int, degree: int, seed: int, attempts: int | None = None) -> list[list[int]]:
    """The targets of the vertices from `degree` on."""
    attempts = 128 * degree if attempts is None else attempts
    hashed = hash_for(seed, ENDPOINT)
    ends = [v for v in range(degree) for _ in range(degree - 1)]
    rows = []
    for v in range(degree, n):
        before = list(range(degree)) if v == degree else list(ends)

        def candidate(slot: int, attempt: int, before: list[int] = before) -> int:
            return before[hashed(number_drawn(seed, slot, attempt)) * len(before) // ALL]

        def last(slot: int, v: int = v) -> int:
            return hashed(number_drawn(seed, slot, attempts)) * v // ALL

        rows.append(choose(candidate, degree, v, attempts, last))
        for target in rows[-1]:
            ends += [v, target]
    return rows
