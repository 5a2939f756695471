"""Settings come from Dask's configuration, keyword arguments win, and nonsense is refused by name."""

import dask
import pytest

from graphdask.config import Config
from graphdask.errors import InputError


def test_dasks_configuration_and_then_keywords_win():
    with dask.config.set({"graphdask.deadline": 10, "graphdask.exchange-timeout": 2.5, "graphdask.comm": "tcp"}):
        config = Config.load(comm="ucx", exchange=None)
    assert (config.deadline, config.exchange_timeout, config.comm, config.exchange) == (10, 2.5, "ucx", "auto")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("deadline", "10 s", "deadline='10 s' is not a number"),
        ("deadline", float("nan"), "must not be negative"),
        ("deadline", True, "deadline=True is not a number"),
        ("retries", 1.5, "retries=1.5 is not a whole number"),
        ("lock-timeout", -1, "lock_timeout=-1 must not be negative"),
        ("allow-insecure-ucx", "yes", "neither true nor false"),
        ("progress", 3, "neither true nor false"),
        ("comm", "mpi", "comm='mpi' is not one of auto, tcp, ucx, nccl"),
        ("dead-line", 3, "unknown setting graphdask.dead_line"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(name, value, message):
    with dask.config.set({f"graphdask.{name}": value}), pytest.raises(InputError, match=message):
        Config.load()
