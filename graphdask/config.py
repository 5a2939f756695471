"""One frozen Config, read from Dask's configuration under `graphdask.*` (YAML files, DASK_GRAPHDASK__*).

Keyword arguments of a call win over it: `Config.load(comm="nccl")`. The defaults stand in `graphdask.yaml` too, with a
line of explanation each; `register` makes them Dask's, so that `dask.config.get("graphdask.comm")` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from graphdask.errors import InputError, shown


@dataclass(frozen=True)
class Config:
    """Settings of the machinery; none of them changes an answer."""

    device: str = "auto"
    """`auto` (a GPU if there is one), `cpu` or `cuda`."""
    comm: str = "auto"
    """Data plane of a gang: `auto`, `tcp`, `ucx`, `nccl` or, on one host, `shm`. In one process ranks are threads."""
    exchange: str = "auto"
    """`auto` (what the algorithm names), `selective` or `broadcast`."""
    allocation: str | float = "maximal"
    """Memory of queues: `maximal`, `just-enough` (an estimate that grows), `fixed` (0.75 of the maximum), or the share
    of the maximum that is fixed, above 0 and up to 1."""
    deadline: float = 600.0
    """Seconds that a run may go on without progress: no superstep, batch or block of bytes that is done."""
    time_limit: float = math.inf
    """Seconds that one run may take in all."""
    exchange_timeout: float = 120.0
    """Seconds that one exchange may wait for a peer that shows no fault."""
    heartbeat_interval: float = 1.0
    """Seconds between a rank's signs of life to the client."""
    heartbeat_timeout: float = 15.0
    """Seconds of silence after which the client declares a rank lost."""
    lock_timeout: float = 300.0
    """Seconds to wait for the workers while another gang holds them."""
    recovery_timeout: float = 12.0
    """Seconds to wait for lost workers to come back before the run is given up."""
    retries: int = 1
    """How many workers may be lost one after the other, before a run that gets no further is given up."""
    copy_interval: float = 2.0
    """Seconds between copies of a run's state in the memory of another worker, at least; 0 for none. They come more
    rarely if they would take more than 5 % of the time."""
    memory_fraction: float = 0.8
    """Share of a device's or host's free memory that a call may plan with."""
    allow_insecure_ucx: bool | None = None
    """Let graph data travel over UCX, which does not encrypt, although the cluster speaks TLS. None: within one host,
    through its memory, and in jobs of `graphdask submit`, unless `distributed.comm.require-encryption` is set."""
    dashboard: bool = True
    """Give the scheduler's dashboard a page of graphdask's runs, where there is a dashboard."""
    progress: bool | None = None
    """Show progress bars; None: only where a person watches (a terminal or a notebook)."""

    @classmethod
    def load(cls, **overrides: Any) -> Config:
        """Read Dask's configuration, then apply `overrides` that are not None."""
        import dask.config

        register()
        from_dask = dask.config.get("graphdask", default={}) or {}
        given = {k: v for k, v in overrides.items() if v is not None}
        try:  # types count: true equals 1
            return _loaded(*((k, type(v), v) for values in (from_dask, given) for k, v in values.items()))
        except TypeError:  # a value that is no key
            return cls._of(from_dask | given)

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> Config:
        """With these values, by their names here or in Dask's configuration; a later one wins."""
        known, given = {field.name for field in fields(cls)}, {}
        for key, value in values.items():
            name = str(key).replace("-", "_")
            if name not in known:
                raise InputError(f"unknown setting graphdask.{name}; known are {', '.join(sorted(known))}")
            given[name] = value
        return replace(cls(), **given).validated()

    def validated(self) -> Config:
        """Return self, or raise InputError naming the setting that has no such value."""
        choices = {
            "device": ("auto", "cpu", "cuda"),
            "comm": ("auto", "tcp", "ucx", "nccl", "shm"),
            "exchange": ("auto", "selective", "broadcast"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name}={getattr(self, name)!r} is not one of {', '.join(allowed)}")
        share, schemes = self.allocation, ("maximal", "just-enough", "fixed")
        is_share = isinstance(share, float | int) and not isinstance(share, bool) and 0 < share <= 1
        if not is_share and not (isinstance(share, str) and share in schemes):
            raise InputError(
                f"allocation={shown(share)} is neither one of {', '.join(schemes)} nor a share of the maximum, above 0 "
                f"and up to 1"
            )
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            if isinstance(default, bool) or default is None:
                if not isinstance(value, bool) and value is not default:
                    raise InputError(f"{field.name}={shown(value)} is neither true nor false")
            elif isinstance(default, float | int):
                whole = isinstance(default, int)
                if isinstance(value, bool) or not isinstance(value, int if whole else float | int):
                    raise InputError(f"{field.name}={shown(value)} is not a {'whole ' if whole else ''}number")
                if not value >= 0:
                    raise InputError(f"{field.name}={shown(value)} must not be negative")
        return self


@lru_cache(maxsize=64)
def _loaded(*values: tuple[str, type, Any]) -> Config:
    """The settings of names, types and values, as of the same call before."""
    return Config._of({name: value for name, _, value in values})


def register() -> None:
    """Make the defaults known to `dask.config`, below what is set there already."""
    import dask.config

    defaults = _defaults()
    if dask.config.get("graphdask.lock-timeout", None) is None:  # as after a `dask.config.set` that came first
        dask.config.update(dask.config.config, defaults, priority="old")


@cache
def _defaults() -> dict[str, Any]:
    """What the file says, added once to what `dask.config.refresh` begins with."""
    import dask.config
    import yaml

    defaults: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("graphdask.yaml").read_text("utf-8"))
    dask.config.update_defaults(defaults)
    return defaults
