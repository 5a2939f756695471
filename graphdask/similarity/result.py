"""What the functions of this package return: a row for each pair of vertices."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphdask.sample.result import Samples
from graphdask.subgraphs.result import Ordered


class SimilarityResult(Ordered):
    """Pairs of vertices with their similarity, in the same order for every number of partitions."""

    columns = ("first", "second", "score", "common")
    vertex_valued = ("first", "second")

    @cached_property
    def _order(self) -> np.ndarray | slice:  # type: ignore[override]
        """As given; or by the vertices; or with `topk` by descending score, then by the vertices."""
        if self.sampler.sort_by == ("second", "first"):  # a rank lists the pairs of a source in order
            first = Samples._internal(self, "first")
            if bool((first[1:] >= first[:-1]).all()):
                return slice(None)
            order = np.argsort(first, kind="stable")
            self._gathered.clear()
            return order
        columns = {name: Samples._internal(self, name) for name in self.sampler.sort_by}
        order = np.lexsort([-values if name == "score" else values for name, values in columns.items()])
        self._gathered.clear()
        return order

    @property
    def first(self) -> np.ndarray:
        """The caller's id of one vertex of each pair."""
        return self._column("first")

    @property
    def second(self) -> np.ndarray:
        """The caller's id of the other vertex."""
        return self._column("second")

    @property
    def score(self) -> np.ndarray:
        """float64: the similarity of the two, from 0 to 1."""
        return self._column("score")

    @property
    def common(self) -> np.ndarray:
        """int64: the number of neighbours that the two share, the two themselves left out."""
        return self._column("common")
