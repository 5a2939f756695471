"""Settings come from Dask's configuration, keyword arguments win, and nonsense is refused by name."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import dask
import pytest
import yaml

from graphdask import config
from graphdask.config import Config
from graphdask.errors import InputError


def test_dasks_configuration_and_then_keywords_win():
    with dask.config.set({"graphdask.deadline": 10, "graphdask.exchange-timeout": 2.5, "graphdask.comm": "tcp"}):
        loaded = Config.load(comm="ucx", exchange=None)
    assert (loaded.deadline, loaded.exchange_timeout, loaded.comm, loaded.exchange) == (10, 2.5, "ucx", "auto")


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


def test_the_defaults_are_dasks_and_explained_one_by_one():
    Config.load()
    assert dask.config.get("graphdask.exchange-timeout") == Config().exchange_timeout
    text = Path(config.__file__).with_name("graphdask.yaml").read_text("utf-8")
    given = {name.replace("-", "_"): value for name, value in yaml.safe_load(text)["graphdask"].items()}
    assert given == asdict(Config())
    assert all("  # " in line for line in text.splitlines() if line.startswith("  "))


def test_what_was_set_before_the_defaults_are_known_stays():
    code = """
import dask
dask.config.set({"graphdask.exchange_timeout": 7})
from graphdask.config import Config
print(Config.load().exchange_timeout, dask.config.get("graphdask.comm"))
"""
    environment = os.environ | {"DASK_GRAPHDASK__COMM": "tcp"}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["7", "tcp"]


def test_settings_that_were_read_before_are_read_again():
    with dask.config.set({"graphdask.retries": 3}):
        assert Config.load().retries == 3
        assert Config.load(retries=4).retries == 4
    assert Config.load().retries == 1
    with dask.config.set({"graphdask.retries": True}), pytest.raises(InputError, match="retries=True"):
        Config.load()  # although True == 1
    with dask.config.set({"graphdask.allocation": [0.5]}), pytest.raises(InputError, match="allocation="):
        Config.load()
