"""Whether two samples of outcomes have the same law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.stats import chi2_contingency


def same_law(mine: Sequence[Hashable], other: Sequence[Hashable]) -> None:
    """Check by chi-squared that two samples of outcomes have the same law, rare outcomes together."""
    of_each = Counter(mine), Counter(other)
    counts = np.array([[of[outcome] for outcome in of_each[0] | of_each[1]] for of in of_each])
    rare = counts.sum(axis=0) < 20
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    assert counts.shape[1] > 2
    assert chi2_contingency(counts).pvalue > 1e-4
