"""The in-degrees that preferential attachment graphs must have: the law of the copy model for any degree and p.

Vertex i, not of the clique, has in-degree k when vertex t comes. Each of the d edges of t falls on i with probability
(p + (1-p) k/d) / t: the drawn vertex is i itself and the edge direct, or it is the source of one of the k edges to i,
that edge is chosen of its d, and the edge is a copy. So k grows by one at rate (pd + (1-p) k) / t, and a vertex of the
clique, where copies end, at rate (d + (1-p) k) / t. With a = pd / (1-p), b = 1 / (1-p):

- k + a grows by the factor 1 + (1-p)/t on average, so E[k] = a (g - 1), exactly, g being the product of the factors
  over t = i+1 .. n-1; k itself is negative binomial with shape a and success probability 1/g, up to terms of order 1/i;
- for t -> infinity 1/g = (i/n)^(1-p) with i/n uniform, and the share of vertices with in-degree k or more is
  S(k) = G(k+a) G(a+b) / (G(a) G(k+a+b)), where G is the gamma function; the tail of S has exponent b, that of the
  shares of single degrees 1 + b; S(k) = (d/(1+d))^k for p = 1, and S(1) = 0 for p = 0.

Sources: M. Alam, K. Perumalla, P. Sanders, Data Science and Engineering 4 (2019), Section 2.4 (the model);
P. Krapivsky, S. Redner, "Organization of growing random networks", Physical Review E 63 (2001), Section II (rate
equation for a shifted linear kernel); the process of a single vertex is that of G. Yule (1925) with immigration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.generate.preferential_attachment import PreferentialAttachment


@dataclass(frozen=True)
class CopyModelLaw:
    """Law of the in-degrees of the copy model.

    Parameters
    ----------
    degree : int
        Edges of every later vertex.
    p : float
        Probability of a direct edge, 0 to 1.

    Raises
    ------
    InputError
        For values out of range.

    References
    ----------
    See the head of this module for the derivation.

    Examples
    --------
    >>> law = CopyModelLaw(degree=4, p=0.5)
    >>> law.exponent
    3.0
    >>> law.share([0, 1]).round(4).tolist()
    [0.3333, 0.1905]
    """

    degree: int
    p: float

    def __post_init__(self) -> None:
        checked = PreferentialAttachment(self.degree + 1, self.degree, self.p)
        object.__setattr__(self, "degree", checked.degree)
        object.__setattr__(self, "p", checked.p)

    @property
    def exponent(self) -> float:
        """Of the tail of the shares, 1 + 1/(1-p); infinite for p = 1, where the tail is geometric."""
        return 1 + 1 / (1 - self.p) if self.p < 1 else float("inf")

    def at_least(self, k: Any) -> np.ndarray:
        """Return the share of vertices with in-degree k or more in an endless graph, float64, shape of k."""
        from scipy.special import gammaln

        k = np.asarray(k, np.float64)
        if self.p == 1:
            return (self.degree / (1 + self.degree)) ** k
        if self.p == 0:
            return (k <= 0).astype(np.float64)
        b = 1 / (1 - self.p)
        a = self.p * self.degree * b
        return np.exp(gammaln(k + a) - gammaln(a) - gammaln(k + a + b) + gammaln(a + b))

    def share(self, k: Any) -> np.ndarray:
        """Return the share of vertices with in-degree k in an endless graph, float64, shape of k."""
        k = np.asarray(k, np.float64)
        if self.p == 1:
            return self.at_least(k) / (1 + self.degree)
        b = 1 / (1 - self.p)
        return self.at_least(k) * b / (k + self.p * self.degree * b + b)

    def expected(self, n: int, vertex: Any) -> np.ndarray:
        """Return the expected in-degree of single vertices of a graph with n vertices: exact.

        Parameters
        ----------
        n : int
        vertex : int or array of int
            Ids, 0 to n-1.

        Returns
        -------
        array of float64, shape of `vertex`
        """
        first, logarithm = self._since(n, vertex)
        drawn = np.where(first < self.degree, self.degree, self.p * self.degree)
        if self.p == 1:
            return drawn * self._harmonic(n, first)
        return drawn / (1 - self.p) * np.expm1(logarithm)

    def maximum_below(self, n: int, bound: Any) -> np.ndarray:
        """Return the probability that no vertex of a graph with n vertices has an in-degree above `bound`.

        In-degrees of different vertices are taken for independent, and for negative binomial: see the head of this
        module. Early vertices, which decide the maximum, deviate by a few percent.

        Parameters
        ----------
        n : int
        bound : number or array

        Returns
        -------
        array of float64, shape of `bound`
        """
        from scipy import stats

        bound = np.asarray(bound, np.float64)
        vertex, weight = self._sample(n)
        first, logarithm = self._since(n, vertex)
        with np.errstate(divide="ignore"):
            if self.p == 1:
                rate = self.degree * self._harmonic(n, first)
                below = stats.poisson.logcdf(bound[..., None], rate)
            else:
                shape = np.where(first < self.degree, self.degree, self.p * self.degree) / (1 - self.p)
                grows = shape > 0
                below = np.zeros((*bound.shape, len(vertex)))
                below[..., grows] = stats.nbinom.logcdf(bound[..., None], shape[grows], np.exp(-logarithm[grows]))
        below = np.where(weight > 0, below * weight, 0.0)
        return np.exp(below.sum(axis=-1))

    def expected_maximum(self, n: int) -> float:
        """Return the expected largest in-degree of a graph with n vertices; it grows like n^(1-p)."""
        highest = 10 * float(self.expected(n, np.arange(min(n, self.degree + 1))).max()) + 100
        bound = np.unique(np.geomspace(1, highest, 1500).astype(np.int64))
        above = 1 - self.maximum_below(n, np.concatenate([[0], bound]))
        return float(np.trapezoid(above, np.concatenate([[0], bound]))) + 0.5

    def goodness_of_fit(self, in_degrees: Any) -> tuple[float, float]:
        """Compare observed in-degrees with the law of an endless graph.

        Parameters
        ----------
        in_degrees : array of int, shape (n,)
            Without the vertices of the clique, or with them where they are few.

        Returns
        -------
        distance : float
            Kolmogorov-Smirnov: the largest difference of the two distribution functions.
        p_value : float
            Of a chi-square test over logarithmic bins with at least 20 expected vertices. The vertices' ages are no
            sample but one of each, so the counts scatter less than the test assumes, and it errs towards acceptance.
        """
        from scipy import stats

        in_degrees = np.asarray(in_degrees)
        n = len(in_degrees)
        if n < 40:
            raise InputError(f"{n} in-degrees are too few for a test; give 40 at least")
        count = np.bincount(in_degrees)
        distance = np.abs(1 - self.at_least(np.arange(1, len(count) + 1)) - np.cumsum(count) / n).max()
        edges = np.unique(np.ceil(np.geomspace(1, 10 * len(count), 100)).astype(np.int64))
        edges = np.concatenate([[0], edges])
        above = n * self.at_least(edges)
        kept = [0]
        for i in range(1, len(edges)):
            if above[kept[-1]] - above[i] >= 20 and above[i] >= 20:
                kept.append(i)
        edges = edges[kept]
        expected = -np.diff(np.append(n * self.at_least(edges), 0.0))
        observed = np.bincount(np.searchsorted(edges, in_degrees, side="right") - 1, minlength=len(edges))
        if len(edges) == 1:
            return float(distance), 1.0
        return float(distance), float(stats.chisquare(observed, expected).pvalue)

    def _since(self, n: int, vertex: Any) -> tuple[np.ndarray, np.ndarray]:
        """Vertices, and the logarithm of the factor by which k + a of each has grown in a graph of n vertices."""
        from scipy.special import gammaln

        vertex = np.asarray(vertex, np.int64)
        if np.any((vertex < 0) | (vertex >= n)):
            raise InputError(f"vertices must be from 0 to {n - 1}")
        begin = np.maximum(vertex + 1, self.degree).astype(np.float64)
        gain = 1 - self.p
        return vertex, gammaln(n + gain) - gammaln(n) + gammaln(begin) - gammaln(begin + gain)

    def _harmonic(self, n: int, vertex: np.ndarray) -> np.ndarray:
        """Sum of 1/t over the later vertices t."""
        from scipy.special import digamma

        return digamma(n) - digamma(np.maximum(vertex + 1, self.degree))

    @staticmethod
    def _sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        """Vertices that stand for all: each of the first thousand, then the middles of growing ranges; and how many."""
        edges = np.unique(np.geomspace(1000, max(n, 1001), 400).astype(np.int64)) if n > 1000 else np.array([n])
        few = min(n, 1000)
        middle = (edges[:-1] + edges[1:]) // 2
        return np.concatenate([np.arange(few), middle]), np.concatenate([np.ones(few), np.diff(edges)])
