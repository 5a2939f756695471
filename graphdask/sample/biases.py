"""EdgeBiases: what one edge of a row is drawn by in proportion to its bias, its weight or its neighbour's degree.

Biases stay as they are; tables are of whole numbers, `units`, so that sums need no order, and every method draws an
edge with the same probability units / (sum of the row's units), on every device and for every division of the graph. An
integer is its own number of units. A float is rounded to a multiple of 2^-shift, to one unit at least if it is above 0;
the shift of a row depends on its biases and its degree d alone, and is such that the row's sum is about 2^(58 - b) to
2^(59 - b) units, where b is the bits of d. Alias tables hold multiples of units by d in 64 bits: there integers of a
row that adds up to 2^(59 - b) or more are rounded likewise, to multiples of 2^-shift.

Methods, after Pandey et al., c-saw, Section II-B. Rejection costs greatest / mean trials; a row where this is above 16,
as one heavy edge among many brings about, is drawn by inverse transform instead, in prefix sums of which every 32nd is
kept (0.25 bytes an edge). Inverse transform searches in prefix sums of all edges (8 bytes), and an alias table (12
bytes) takes one look (M. Vose, 1991; kernels/choice/biases.py has the definition of the table).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from graphdask.algorithms.lengths import checked_lengths
from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import Environment
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.kernels.choice.biases_pack import BiasSums
from graphdask.kernels.choice.pick_pack import Picks
from graphdask.kernels.common.tuning import BIAS_TILE as TILE
from graphdask.kernels.common.tuning import SPARSE
from graphdask.partition.part import Csr, Part, WeightFacts
from graphdask.sample.tuning import SAMPLE

KINDS = ("weight", "degree")
METHODS = {"uniform": 0, "rejection": 1, "inverse": 2, "alias": 3, "reservoir": 6}
"""Names, and what kernels call them."""
BITS = 59
"""Of degree times total in an alias table, and of the total elsewhere, at most."""
SMALLER = "scale the weights down, or give them as floats"
REUSE = 1.0
"""Draws for each edge of the graph from which on an alias table pays."""


def method_for(kind: str | None, method: str = "auto", reuse: float = 0.0) -> str:
    """The method that "auto" means: a rule from what all ranks know, because samples depend on the method.

    Parameters
    ----------
    kind : {None, "weight", "degree"}
        What edges are drawn by; None: all alike.
    method : {"auto", "uniform", "rejection", "inverse", "alias", "reservoir"}
    reuse : float
        About how many draws there will be for each stored edge of the whole graph.

    Returns
    -------
    str
        "uniform" without biases. Else "alias" where an edge is drawn `REUSE` times or more, "rejection" where it is
        not; and of rejection's rows those that are too uneven are drawn by inverse transform, row by row.

    Raises
    ------
    InputError
        For another kind or method, or one that does not go with the other.
    """
    if kind not in (None, "weight", "degree"):
        raise InputError(f"bias={shown(kind)} is not one of None, 'weight', 'degree'")
    if method != "auto" and method not in METHODS:
        raise InputError(f"method={shown(method)} is not one of auto, {', '.join(METHODS)}")
    if kind is None:
        if method not in ("auto", "uniform"):
            raise InputError(f"method={shown(method)} is for edges with biases; without them it is uniform")
        return "uniform"
    if method == "uniform":
        raise InputError(f"method='uniform' leaves bias={shown(kind)} out; use rejection, inverse, alias or reservoir")
    if method != "auto":
        return method
    return "alias" if reuse >= REUSE else "rejection"


def checked_bias(G: Graph, bias: Any) -> str | None:
    """What edges are to be drawn by; refuse what is unknown, and weights where there are none."""
    if bias is not None and (not isinstance(bias, str) or bias not in KINDS):
        raise InputError(f"bias={shown(bias)} is not one of None, {', '.join(map(repr, KINDS))}")
    if bias == "weight" and not G.weighted:
        raise InputError("bias='weight', but the edges of this graph have no weights; give weights, or leave it out")
    return bias


def checked_biases(G: Graph, facts: WeightFacts) -> None:
    """Refuse weights that are no biases: negative or infinite ones, naming the edge, and too large integers."""
    checked_lengths(G, facts)
    if isinstance(facts.greatest, int) and facts.greatest >= 1 << BITS:
        raise InputError(f"the weight {facts.greatest} is an integer bias of 2**{BITS} or more; {SMALLER}")


@dataclass
class EdgeBiases:
    """Biases of the edges of a CSR, and the tables of one method. Arrays that the method does without are empty."""

    kind: str | None
    """weight or degree; None where all edges are alike."""
    method: str
    """uniform, rejection, inverse, alias or reservoir; the last one takes no tables but the totals."""
    values: Array | None
    """Bias of each edge: int32, int64, float32 or float64, shape (edges,); None where all are alike."""
    greatest: Array
    """Of each row, dtype of the values; 0 where it has no edges."""
    totals: Array
    """uint64 per row: sum of its biases, in multiples of 2^-shift; a row of 0 is drawn from like one without edges."""
    shifts: Array
    """int32 per row, of float biases and in alias tables; else empty, and all are 0."""
    sparse: Array
    """rejection: uint64, shape (edges // 32,): the prefix sums of edges 31, 63, ..., each from its row's first edge."""
    prefix: Array
    """inverse: uint64 per edge: inclusive sums from its row's first edge on."""
    alias_share: Array
    """alias: uint64 per edge: how many of its row's total are its own, in its place of the table."""
    alias_other: Array
    """alias: int32 per edge: whose the rest is, counted from the row's first edge."""

    @property
    def nbytes(self) -> int:
        """Bytes of what was made here, so not of the graph's weights."""
        made = 0 if self.kind != "degree" or self.values is None else self.values.nbytes
        tables = (self.greatest, self.totals, self.shifts, self.sparse, self.prefix, self.alias_share, self.alias_other)
        return made + sum(table.nbytes for table in tables)

    @property
    def dtype(self) -> np.dtype:
        """`bias_t` of kernels that draw by these tables."""
        return np.dtype(self.greatest.dtype)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What kernels without a pack draw by: the method, and `tables` in their order."""
        return METHODS[self.method], *self.tables.values()

    @property
    def fields(self) -> dict[str, Any]:
        """The method and `tables`, as fields of a pack."""
        return {"method": METHODS[self.method], **self.tables}

    @property
    def tables(self) -> dict[str, Array]:
        """The fields of a pack by which kernels draw edges (kernels/choice/pick_pack.py)."""
        table = {"rejection": self.sparse, "inverse": self.prefix, "alias": self.alias_share}.get(
            self.method, self.totals
        )
        values = self.greatest if self.values is None else self.values
        return {
            "values": values, "greatest": self.greatest, "totals": self.totals, "shifts": self.shifts, "table": table,
            "other": self.alias_other,
        }  # fmt: skip

    def sums(self, xp: Any) -> Array:
        """Float64 per row: the sum of its biases."""
        totals = self.totals.astype(np.float64)
        return xp.ldexp(totals, -self.shifts) if len(self.shifts) else totals

    @staticmethod
    def memory(csr: Csr, kind: str | None, method: str = "auto", reuse: float = 0.0) -> int:
        """Bytes that `of` takes at most, tables and what is needed to make them."""
        edges, rows, method = csr.num_edges, csr.num_rows, method_for(kind, method, reuse)
        if kind is None:
            return 0
        tiles = -(-edges // TILE)
        values = 8 * edges if kind == "degree" else 0
        tables = {"rejection": edges // 4, "inverse": 8 * edges, "alias": 12 * edges, "reservoir": 0}[method]
        scratch = 16 * edges if method == "alias" and not isinstance(csr.indptr, np.ndarray) else 0
        return values + tables + scratch + 75 * rows + 60 * tiles

    @classmethod
    def of(
        cls,
        env: Environment,
        part: Part,
        csr: Csr,
        kind: str | None,
        method: str = "auto",
        degrees: Array | None = None,
        reuse: float = 0.0,
    ) -> Self:
        """Make the tables of a method.

        Parameters
        ----------
        csr : Csr
            Rows of `part`; its weights have gone through `checked_biases`.
        kind : {None, "weight", "degree"}
            What edges are drawn by: all alike, their weights, or the degrees of the neighbours.
        method : {"auto", "uniform", "rejection", "inverse", "alias", "reservoir"}
            See `method_for`.
        degrees : int array, shape (num_slots,), optional
            For kind "degree".
        reuse : float
            For method "auto".

        Raises
        ------
        InputError
            If method and kind do not fit, weights or degrees that are asked for are not there, integer biases of a
            row add up to 2^59 or more, or a row has 2^31 edges or more.
        """
        xp, method = env.xp, method_for(kind, method, reuse)
        sums, counts = xp.empty(0, np.uint64), xp.empty(0, np.int32)
        if kind is None:
            return cls(kind, method, None, counts, sums, counts, sums, sums, sums, counts)
        if kind == "degree":
            if degrees is None:
                raise InputError("bias='degree' needs the degrees of all slots")
            values = degrees[csr.indices]
        else:
            if csr.weights is None:
                raise InputError("bias='weight', but the edges of this graph have no weights")
            values = csr.weights
        made = _Maker(env, part, csr, values)
        made.total(for_alias=method == "alias")
        biases = cls(kind, method, values, made.greatest, made.totals, made.shifts, sums, sums, sums, counts)
        if method == "rejection":
            biases.sparse = made.prefix(xp.empty(csr.num_edges // SPARSE, np.uint64), sparse=True)
        elif method == "inverse":
            biases.prefix = made.prefix(xp.empty(csr.num_edges, np.uint64))
        elif method == "alias":
            biases.alias_share, biases.alias_other = made.alias()
        return biases

    def draw(
        self, env: Environment, csr: Csr, rows: Array, instances: Array, key: int, step: int, draws: Array
    ) -> Array:
        """An edge of each of many rows.

        Parameters
        ----------
        rows : index dtype array, shape (k,)
        instances : int64 array, shape (k,)
            For whom it is drawn.
        key : int
            A seed's, for what is drawn.
        step : int
        draws : int32 array, shape (k,)
            The next draw of each; counted up by those that are made.

        Returns
        -------
        int64 array, shape (k,)
            Places among the edges of the CSR; -1 where a row has no edges, or none with a bias above 0.
        """
        edges = env.xp.empty(len(rows), np.int64)
        kernels = env.kernels("pick", index_t=rows.dtype, bias_t=self.dtype)
        pack = Picks(indptr=csr.indptr, **self.tables)
        kernels.pick_edges(len(rows), rows, instances, METHODS[self.method], np.uint64(key), step, edges, draws, pack)
        return edges


def alias_table(env: Environment, part: Part, csr: Csr, values: Array) -> tuple[Array, Array, Array]:
    """Totals of rows, shares and others of edges, of biases that are given for each edge, int64 or float64."""
    made = _Maker(env, part, csr, values)
    made.total(for_alias=True)
    return made.totals, *made.alias()


class _Maker:
    """Rows cut into tiles, and what the tables are made from."""

    def __init__(self, env: Environment, part: Part, csr: Csr, values: Array):
        xp, index = env.xp, part.vertex_map.dtype
        self.xp, self.values, self.edges = xp, values, csr.num_edges
        self.cuda = env.backend.name == "cuda"
        self.kernels = env.kernels("biases", index_t=index, bias_t=values.dtype)
        degrees = csr.indptr[1:] - csr.indptr[:-1]
        if self.edges > SAMPLE.most_degree and int(degrees.max()) > SAMPLE.most_degree:
            raise InputError(f"biases of a vertex with more than {SAMPLE.most_degree:,} edges cannot be drawn from")
        (rows,) = xp.nonzero(degrees)
        starts = xp.concatenate([csr.indptr[:-1][rows], csr.indptr[-1:]])
        cuts = xp.arange(0, self.edges, TILE, dtype=np.int64)
        firsts = xp.searchsorted(starts, cuts, side="right") - 1
        self.tiles, self.firsts = len(cuts), firsts
        self.rows = {
            "count": len(rows), "rows": rows.astype(index), "starts": starts, "firsts": firsts.astype(index),
            "edges": self.edges,
        }  # fmt: skip
        self.degrees = degrees.astype(np.float64)  # exact, as they are far below 2^53
        self.bits = xp.frexp(self.degrees)[1].astype(np.int32)
        self.greatest = xp.zeros(csr.num_rows, values.dtype)
        self.shifts = xp.empty(0, np.int32)
        self.totals = xp.zeros(csr.num_rows, np.uint64)
        # The tile in which the first row of each tile begins.
        self.begun = starts[firsts] // TILE if self.tiles else firsts

    def total(self, for_alias: bool) -> None:
        """Greatest bias of each row, its total, and its shift if it needs one."""
        xp = self.xp
        self.kernels.biases_greatest(32 * self.tiles, *self.rows.values(), self.values, self.greatest)
        if self.values.dtype.kind == "f":
            # The greatest is below 2^(BITS - bits), so the first sum is below 2^BITS, and says how much less to shift.
            exponent = xp.frexp(self.greatest.astype(np.float64))[1].astype(np.int32)
            self.shifts = (BITS - self.bits - exponent).astype(np.int32)
        else:
            self._check_sums()
        if for_alias and not self.shifted:
            self.shifts = xp.zeros(len(self.totals), np.int32)
        self.carries = self._sum(False)
        if len(self.shifts):
            above = xp.frexp(self.totals.astype(np.float64))[1].astype(np.int32) - (BITS - self.bits)
            if any_set(above > 0):
                self.shifts -= xp.maximum(above, 0).astype(np.int32)
                self.carries = self._sum(False)

    def _check_sums(self) -> None:
        """Refuse integers that a row has too many of, before they are added up."""
        limit, xp = float(1 << BITS), self.xp
        if not self.tiles or float((self.greatest.astype(np.float64) * self.degrees).max()) < limit:
            return
        coarse = 24  # in multiples of 2^24 no sum overflows, and each edge is rounded by at most one
        sums = xp.zeros(len(self.totals), np.uint64)
        self.shifts = xp.full(len(self.totals), -coarse, np.int32)
        self._launch_sum(sums)
        self.shifts = self.shifts[:0]
        if float((sums.astype(np.float64) + self.degrees).max()) * (1 << coarse) >= limit:
            raise InputError(f"the integer biases of a vertex's edges add up to about 2**{BITS} or more; {SMALLER}")

    @property
    def shifted(self) -> int:
        return int(len(self.shifts) > 0)

    def _pack(self, **others: Any) -> BiasSums:
        """What kernels work on."""
        return BiasSums(
            **self.rows, values=self.values, shifts=self.shifts, shifted=self.shifted, totals=self.totals,
            **others,
        )  # fmt: skip

    def _launch_sum(self, sums: Array, lacks: bool = False) -> tuple[Array, Array]:
        """Sums of rows into `sums`, unless it is what lacks to the totals that is summed; sums of tiles."""
        tile_sums, lasts = (self.xp.zeros(self.tiles, np.uint64) for _ in range(2))
        self.kernels.biases_sum(
            32 * self.tiles, self._pack(lacks=int(lacks), sums=sums, tile_sums=tile_sums, tile_lasts=lasts)
        )
        return tile_sums, lasts

    def _sum(self, lacks: bool) -> Array:
        """Sums of rows into the totals, unless it is what lacks to these that is summed; returns the carries."""
        xp = self.xp
        if not lacks:
            self.totals[...] = 0
        sums, lasts = self._launch_sum(self.totals, lacks)
        before = xp.concatenate([xp.zeros(1, np.uint64), xp.cumsum(sums)])
        # Of the row of a tile's first edge: what is in the tile where it begins, and the tiles between. Where the row
        # begins with that edge, this is no sum of anything, and the kernels do not read it.
        return before[:-1] - before[self.begun + 1] + lasts[self.begun]

    def prefix(self, out: Array, sparse: bool = False, lacks: bool = False) -> Array:
        carries = self._sum(True) if lacks else self.carries
        self.kernels.biases_prefix(
            32 * self.tiles, self._pack(lacks=int(lacks), carries=carries, sparse=int(sparse), prefix=out)
        )
        return out

    def alias(self) -> tuple[Array, Array]:
        xp, scratch = self.xp, self.edges if self.cuda else 0
        prefix, lacking = xp.empty(scratch, np.uint64), xp.empty(scratch, np.uint64)
        if self.cuda:
            self.prefix(prefix)
            self.prefix(lacking, lacks=True)
        share, other = xp.empty(self.edges, np.uint64), xp.empty(self.edges, np.int32)
        self.kernels.biases_alias(32 * self.tiles, self._pack(prefix=prefix, lacking=lacking, share=share, other=other))
        return share, other
