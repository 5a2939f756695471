"""What every test shares: the data of others, markers, a seeded random generator, a shuffled order.

One seed per run, shown in the header, decides the order of the tests and what `rng` draws. Set
`GRAPHDASK_TEST_SEED` to that number to repeat a run. `pytest` without paths takes a slice of the tests
(helpers/slices.py; `--all`: all of them), and starts one process more than there are processors, up to four
(pytest-xdist; `-n 0`: none). A file, or a folder whose files share a cluster, goes to one of them as a whole, and each
takes the next when it has none left. Tests marked `quiet` need the machine for themselves, and are skipped there.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import random
import secrets
import signal
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slices

ROOT = Path(__file__).resolve().parents[1]
SEED = int(os.environ.get("GRAPHDASK_TEST_SEED") or secrets.randbits(32))
os.environ["GRAPHDASK_TEST_SEED"] = str(SEED)  # processes that share the tests have to agree on their order

MOST_PROCESSES = 4
"""That share all tests: each takes some 2 GiB in the end."""
MORE_PROCESSES = 1
"""Than processors: tests of clusters, and those that another process compiles a kernel for, wait much of their time."""
TOGETHER = ("cluster", "comm", "gang", "output")
"""Folders whose files share processes that take long to start."""
GARBAGE = 50_000, 20, 20
"""Objects made since the last collection of garbage, and collections of each generation, before the next one: Numba
makes and drops so many objects where it compiles that Python's own numbers cost a tenth of the time, or more."""
LONG = ("notebooks", "cluster", "gang", "packaging", "bench", "cli")
"""Folders with tests that take long: where processes share the tests, these begin first."""

# `python -m pytest` puts the working directory first on the path, where graphdask/ stands without kernels/ and
# cluster/. The tests run against the installed package, as they do when started as `pytest`.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real graphs and reference answers, beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared/data beside the repository")
    return folder


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Generator of this run's seed and this test's name, so that the order of the tests does not matter."""
    return np.random.default_rng([SEED, zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture
def tuned() -> Iterator[Callable[..., None]]:
    """Other sizes until the test ends, as in `tuned(SAMPLE, trials=2)`; the tables are `graphdask.<package>.tuning`."""
    with ExitStack() as stack:
        yield lambda table, /, **sizes: stack.enter_context(table.varied(**sizes))


@pytest.fixture
def free_memory() -> Iterator[Callable[..., None]]:
    """So many free bytes until the test ends, as in `free_memory(1 << 20)` or `free_memory(1 << 20, emulated())`."""
    from memory import free

    with ExitStack() as stack:
        yield lambda *given: stack.enter_context(free(*given))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The machine until the test ends, as in `host.cores(2)` and `host.free_disk(1 << 20)`."""
    from outside import Host

    return Host(monkeypatch)


@pytest.fixture
def device_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A device of other properties until the test ends, as in `device_of(backend, processors=132)`."""

    def begin(backend: Any, **properties: int) -> None:
        for name, value in properties.items():
            # The machine has one device, if any.
            monkeypatch.setattr(backend, name, value)

    return begin


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calls that fail until the test ends, or `fault.over()`, as in `fault(os, "open", PermissionError)`.

    `when=` says for what arguments.
    """
    from outside import Faults

    return Faults(monkeypatch)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """What a function is called with from now on, as in `watched(Store, "read")`.

    Or what `note` makes of that, or `answer` of what the function returns.
    """

    def begun(
        owner: Any,
        name: str,
        note: Callable[..., Any] = lambda *given, **named: given,
        answer: Callable[[Any], Any] | None = None,
    ) -> list[Any]:
        function, seen = getattr(owner, name), []

        def noted(*given: Any, **named: Any) -> Any:
            if answer is None:
                seen.append(note(*given, **named))
                return function(*given, **named)
            found = function(*given, **named)
            seen.append(answer(found))
            return found

        # What is watched is what a test names.
        monkeypatch.setattr(owner, name, noted)
        return seen

    return begun


@pytest.fixture(scope="session")
def cluster_of():
    """Clients by number of workers, made on first use; for tests that leave the workers as they were."""
    from gangs import dask_cluster

    with ExitStack() as stack:
        yield cache(lambda workers: stack.enter_context(dask_cluster(workers)))


@pytest.fixture(scope="session")
def two_workers(cluster_of):
    return cluster_of(2)


@pytest.fixture(autouse=True)
def one_gpu(request: pytest.FixtureRequest) -> None:
    """Where a host has several GPUs, a test of one uses one: ranks that are threads share it, as they do elsewhere."""
    if devices_needed(request.node) == 1 and cuda_devices()[0] > 1:
        from emulated import one_device

        one_device(request.getfixturevalue("monkeypatch"))


@pytest.fixture
def alone() -> Iterator[None]:
    """For a test that measures memory: the thread that compiles kernels beside the tests, and keeps them, rests."""
    with sys.modules["nvrtc"].AHEAD.halted() if "nvrtc" in sys.modules else nullcontext():
        yield


@pytest.fixture
def watch(alone):
    """Says, in a test marked `quiet`, whether the machine had processors to spare meanwhile."""
    from quiet import Watch

    with Watch() as watching:
        yield watching


@pytest.fixture(params=["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest):
    """What a test of kernels runs on: the CPU twins, the CUDA kernels on the emulator of a GPU, or a GPU."""
    from emulated import device_backend

    return device_backend(request.param)


@pytest.fixture(params=[np.int32, np.int64], ids=["32-bit", "64-bit"])
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    """What vertices are numbered with."""
    return np.dtype(request.param)


@cache
def cuda_devices() -> tuple[int, str]:
    """Number of CUDA devices that CuPy can use, and why there are none."""
    if importlib.util.find_spec("cupy") is None:
        return 0, "CuPy is not installed"
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount(), ""
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return 0, str(error)


@cache
def lacking(*packages: str) -> str:
    """The first of some packages that is not installed, or nothing."""
    return next((name for name in packages if importlib.util.find_spec(name) is None), "")


def devices_needed(item: pytest.Item) -> int:
    """Devices that the markers of a test ask for: gpu 1, multigpu 2, multigpu(4) 4."""
    several = item.get_closest_marker("multigpu")
    if several is not None:
        return several.args[0] if several.args else 2
    return 1 if item.get_closest_marker("gpu") is not None else 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run all tests, not one slice of those that take turns")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share the whole suite among processes, unless `-n` says otherwise or they need a quiet machine. Refuse a path
    that is not there: processes that share tests would run none, also of the other paths, and say nothing."""
    if hasattr(config, "workerinput"):  # one of them
        return
    folder = config.invocation_params.dir
    missing = [each for each in config.args if not (folder / each.partition("::")[0]).exists()]
    if missing and not config.option.pyargs:
        raise pytest.UsageError(f"file or directory not found: {', '.join(missing)}")
    os.environ[slices.VARIABLE] = slices.chosen(config, SEED)
    option = config.option
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or getattr(option, "numprocesses", 0) is not None:
        return  # files are named, or there is no pytest-xdist
    if not (option.collectonly or option.usepdb or option.markexpr == "quiet"):
        option.numprocesses = min(len(os.sched_getaffinity(0)) + MORE_PROCESSES, MOST_PROCESSES)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import only the files that have such tests, if all that need a quiet machine are asked for."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and config.option.markexpr == "quiet"
    return (whole and collection_path.suffix == ".py" and "mark.quiet" not in collection_path.read_text()) or None


def pytest_configure() -> None:
    """Take Ctrl-C as usual: a shell lets its background jobs, and so what the tests start, ignore it. Collect no
    garbage until all tests are known: there is little."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()


def pytest_report_header() -> str:
    return f"graphdask: GRAPHDASK_TEST_SEED={SEED}, {slices.described()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if out := slices.left_out(items):
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    for item in items:
        needed = devices_needed(item)
        if needed and needed > cuda_devices()[0]:
            found, why = cuda_devices()
            reason = f"needs {needed} CUDA device{'s' * (needed > 1)}, found {found}" + (f" ({why})" if why else "")
            item.add_marker(pytest.mark.skip(reason=reason))
        if item.get_closest_marker("learn") is not None and (package := lacking("torch", "torch_geometric")):
            item.add_marker(pytest.mark.skip(reason=f"needs {package}, which the extra 'learn' installs"))
    shuffle(items, shared="PYTEST_XDIST_WORKER" in os.environ)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Go through the tests and what they import in no collection of garbage. Where many of them run CUDA kernels on the
    CPU, compile the kernels from now on."""
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    gc.enable()
    if session.config.option.collectonly:
        return
    if hasattr(session.config, "workerinput"):  # others run tests on the processors left
        return
    compiling = None
    many = sum("emulated" in item.nodeid for item in session.items)
    if many > 300:
        import emulated

        compiling = emulated.prepare()
    if many > 300 and any("test_nvrtc" in item.nodeid for item in session.items):
        import nvrtc

        nvrtc.AHEAD.begin(after=compiling)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Collect what a file leaves, in this thread, and go through what stays in no collection of garbage any more: what
    Numba compiles is millions of objects in the end, for which each collection of all would take seconds."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


def pytest_sessionfinish() -> None:
    if "nvrtc" in sys.modules:
        sys.modules["nvrtc"].AHEAD.end()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "emulated" in sys.modules:
        sys.modules["emulated"].begin_with([SEED, zlib.crc32(item.nodeid.encode())])
    if item.get_closest_marker("quiet") is not None:
        from quiet import load

        if hasattr(item.config, "workerinput"):
            pytest.skip("another process runs tests beside; pytest -m quiet runs those that are skipped here")
        if reason := load():
            pytest.skip(f"this machine is not quiet: {reason}")


def folder(path: Path) -> str:
    """Name of the folder of a file with tests."""
    return path.parent.name


def shuffle(items: list[pytest.Item], shared: bool) -> None:
    """Shuffle the files, and the tests within each; a file stays together, so its fixtures are made once.

    Tests that need a quiet machine come last, when what compiles beside the tests has ended. Where processes share the
    tests, files that take long begin first, so that all end at about the same time.
    """
    order = random.Random(SEED)
    count = Counter(item.path for item in items)
    place = {path: (shared and (folder(path) not in LONG, -count[path]), order.random()) for path in sorted(count)}
    draw = {item.nodeid: order.random() for item in sorted(items, key=lambda item: item.nodeid)}
    quiet = {item.nodeid: item.get_closest_marker("quiet") is not None for item in items}
    items.sort(key=lambda item: (quiet[item.nodeid], place[item.path], draw[item.nodeid]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Give whole files to the processes that share the tests."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return folder(Path(file)) if folder(Path(file)) in TOGETHER else file

    config.option.loadscopereorder = False  # `shuffle` has put long ones first
    return Files(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    outcome = yield
    report = outcome.get_result()
    if report.failed and "rng" in getattr(item, "fixturenames", ()):
        report.sections.append(("Random seed", f"repeat with GRAPHDASK_TEST_SEED={SEED}"))
