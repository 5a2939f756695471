"""A pytest plugin for NetworkX's own tests: it writes which functions a backend ran to the file $NETWORKX_CALLS.

NetworkX tells of every call in its log, with the name of the backend and of the function.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

_logger = logging.getLogger("networkx.utils.backends")


class _Calls(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("Using backend") and record.args:
            self.names.add(str(record.args[1]))  # type: ignore[index]


_calls = _Calls()


def pytest_configure() -> None:
    _logger.setLevel(logging.DEBUG)
    _logger.propagate = False  # pytest would keep every message, with the graphs in it
    _logger.addHandler(_calls)


def pytest_unconfigure() -> None:
    _logger.removeHandler(_calls)
    Path(os.environ["NETWORKX_CALLS"]).write_text("\n".join(sorted(_calls.names)))
