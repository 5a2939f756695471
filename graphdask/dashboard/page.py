"""The page as Bokeh draws it: pictures of the last run, what runs now, and a table of the last runs."""

from __future__ import annotations

from html import escape
from typing import Any

from bokeh.layouts import column, row
from bokeh.models import ColumnDataSource, FactorRange
from bokeh.models.widgets import DataTable, Div, NumberFormatter, StringFormatter, TableColumn
from bokeh.plotting import figure

from graphdask.dashboard.board import NAME, Board

BLUE = "#3b82c4"
PERIOD = 500
"""Milliseconds between two reads of the board."""
TITLES = {
    "frontier": "Frontier by superstep",
    "bytes": "Bytes between ranks by superstep",
    "milliseconds": "Milliseconds by superstep",
}


class Page:
    """The models of one document, fed from a board."""

    def __init__(self, board: Board):
        self._board = board
        self.sources = {
            "supersteps": ColumnDataSource(board.supersteps()),
            "workers": ColumnDataSource(board.workers()),
            "running": ColumnDataSource(board.running()),
            "table": ColumnDataSource(board.table()),
        }
        self.title = Div(text="", sizing_mode="stretch_width")
        self._bars: list[Any] = [self._steps(name, words) for name, words in TITLES.items()]
        self._names = FactorRange()
        self._sent = _plot("Bytes sent by worker", "@worker: @bytes{0.0 b}", x_range=self._names)
        self._sent.vbar(x="worker", top="bytes", width=0.8, color=BLUE, source=self.sources["workers"])
        self.root = column(
            self.title,
            row(*self._bars[:2], sizing_mode="stretch_width"),
            row(self._bars[2], self._sent, sizing_mode="stretch_width"),
            Div(text="<b>Running now</b>"),
            self._rows("running", 140),
            Div(text="<b>Last runs</b>"),
            self._rows("table", 260),
            sizing_mode="stretch_width",
        )
        self.update()

    def _steps(self, name: str, words: str) -> Any:
        plot = _plot(words, f"superstep @superstep: @{name}{{0,0.[00]}}")
        plot.vbar(x="superstep", top=name, width=0.9, color=BLUE, source=self.sources["supersteps"])
        return plot

    def _rows(self, name: str, height: int) -> DataTable:
        counted = NumberFormatter(format="0,0")
        formats: dict[str, Any] = {
            "seconds": NumberFormatter(format="0.0000"),
            "bytes": NumberFormatter(format="0.0 b"),
        }
        formats |= dict.fromkeys(("worker", "algorithm", "transport"), StringFormatter())
        source = self.sources[name]
        columns = [TableColumn(field=x, title=x, formatter=formats.get(x, counted)) for x in source.column_names]
        return DataTable(
            source=source, columns=columns, height=height, sizing_mode="stretch_width", index_position=None
        )

    def update(self) -> None:
        """Show what the board has now, where it has changed."""
        for name, source in self.sources.items():
            new = getattr(self._board, name)()
            if new != dict(source.data):
                source.data = new
        self._names.factors = list(self.sources["workers"].data["worker"])
        each = self._board.runs[-1]["each"] if self._board.runs else 1
        for plot in self._bars:
            plot.renderers[0].glyph.width = 0.9 * each
        self.title.text = f"<h3>{escape(self._board.title())}</h3>"


def _plot(title: str, tooltips: str, **options: Any) -> Any:
    """Axes for bars, which stand on zero."""
    plot: Any = figure(
        title=title, tooltips=tooltips, height=220, sizing_mode="stretch_width", tools="hover,xpan,xwheel_zoom,reset",
        **options,
    )  # fmt: skip
    plot.y_range.start = 0
    plot.yaxis.formatter.use_scientific = False
    return plot


def graphdask_doc(scheduler: Any, extra: dict[str, Any], doc: Any) -> None:
    """Fill a document; Dask calls it for each browser that opens the page."""
    page = Page(scheduler.plugins[NAME])
    doc.title = "Dask: graphdask"
    doc.add_root(page.root)
    doc.add_periodic_callback(page.update, PERIOD)
