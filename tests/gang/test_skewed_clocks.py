"""Workers whose clocks are an hour ahead and an hour behind: no time of one host is compared with that of another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

import graphdask as gd

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *found) {
    static int (*given)(clockid_t, struct timespec *);
    if (!given) given = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = given(clock, found);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) found->tv_sec += atol(getenv("AHEAD"));
    return status;
}
time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


@contextmanager
def skewed(folder, seconds):
    """A cluster with a worker for each number of seconds that its clock is ahead; yields a client and the processes."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler on Linux, whose library calls of the time can be replaced")
    (folder / "ahead.c").write_text(SHIM)
    library = folder / "ahead.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "ahead.c", "-ldl"], check=True)
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--nthreads", "1",
                 "--name", str(number), "--no-dashboard", "--local-directory", str(folder)],
                env={**os.environ, "LD_PRELOAD": str(library), "AHEAD": str(ahead)}, stderr=subprocess.DEVNULL,
            )
            for number, ahead in enumerate(seconds)
        ]  # fmt: skip
        try:
            client.wait_for_workers(len(seconds), timeout=120)
            yield client, workers
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


@pytest.mark.chaos
@pytest.mark.slow
def test_clocks_that_are_an_hour_wrong_change_nothing(tmp_path):
    G = gd.generate.rmat(10, edge_factor=8, seed=1)
    D = gd.DynamicGraph(gd.generate.rmat(8, edge_factor=8, seed=1))
    depth = gd.bfs(G.partition(1), 0).depth
    ranks = gd.pagerank(G.partition(1), tol=0, max_iter=40).rank
    walks = gd.sample.random_walk(G.partition(1), np.arange(20), 9, seed=1).walks
    with skewed(tmp_path, (3600, -3600)) as (client, workers), dask.config.set({"graphdask.heartbeat-timeout": 5.0}):
        now = time.time()
        assert sorted(round((clock - now) / 3600) for clock in client.run(time.time).values()) == [-1, 1]
        np.testing.assert_array_equal(gd.bfs(G, 0).depth, depth)
        np.testing.assert_array_equal(gd.sample.random_walk(G, np.arange(20), 9, seed=1).walks, walks)
        for _ in range(2):
            r = gd.pagerank(G, tol=0, max_iter=40, checkpoint=tmp_path / "c", every=10)
            np.testing.assert_array_equal(r.rank, ranks)
        assert r.stats.checkpoints["resumed"] == 40
        r.to_parquet(tmp_path / "ranks.parquet")
        gd.pagerank(D, method="static")
        D.update(insert=([1, 2], [3, 4]))
        gd.pagerank(D, method="dfp").verify()
        workers[0].kill()
        with dask.config.set({"graphdask.recovery-timeout": 2.0}):
            np.testing.assert_array_equal(gd.bfs(G, 0).depth, depth)
        assert len(client.scheduler_info()["workers"]) == 1
