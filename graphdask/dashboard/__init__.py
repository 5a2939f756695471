"""A page `/graphdask` of the Dask dashboard: the runs, their supersteps, frontiers, and what each rank sends.

The scheduler gets it when a client makes its first call, where the dashboard is there; or with the scheduler itself, by
`dask scheduler --preload graphdask.dashboard`. `dask.config.set({"graphdask.dashboard": False})` leaves it out.
"""

from __future__ import annotations

from typing import Any

from graphdask.dashboard.board import NAME, Board

PATH = "/graphdask"


def attach(dask_scheduler: Any) -> bool:
    """Give a scheduler the page, once; whether it has one. Runs in the scheduler."""
    if not hasattr(dask_scheduler, "add_plugin"):  # a worker's --preload
        return False
    if NAME in dask_scheduler.plugins:
        return True
    pages = _pages(dask_scheduler)
    if pages is None:
        return False
    from distributed.dashboard.core import BokehApplication
    from tornado.ioloop import IOLoop

    from graphdask.dashboard.page import graphdask_doc

    board = Board()
    dask_scheduler.add_plugin(board, name=NAME)
    application = BokehApplication({PATH: graphdask_doc}, dask_scheduler, prefix=pages.prefix)
    dask_scheduler.http_application.add_application(application)
    application.initialize(IOLoop.current())
    application.start()
    return True


def dask_setup(scheduler: Any) -> None:
    """What Dask calls of a module that is named with --preload."""
    attach(scheduler)


def _pages(scheduler: Any) -> Any:
    """Bokeh's part of the dashboard; None where there is none, as without Bokeh."""
    applications = getattr(getattr(scheduler, "http_application", None), "applications", [])
    return next((one for one in applications if hasattr(one, "app_paths")), None)
