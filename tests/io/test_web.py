"""Files of a web server are read, also by signed addresses; a name with brackets is no pattern where it is there."""

from __future__ import annotations

import gzip
import http.server
import importlib.util
import re
import threading
from functools import partial

import fsspec
import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.io import addresses

EDGES = b"1 2\n2 3\n3 1\n7 7\n"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A handler without a log."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def server(tmp_path):
    """The address of a server of tmp_path."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.skipif(importlib.util.find_spec("aiohttp") is None, reason="fsspec needs aiohttp for http://")
def test_a_file_of_a_web_server_is_read(server, tmp_path):
    (tmp_path / "g.txt").write_bytes(EDGES)
    (tmp_path / "g.txt.gz").write_bytes(gzip.compress(EDGES))
    expected = gd.read_graph(tmp_path / "g.txt")
    names = ("g.txt", "g.txt.gz", "g.txt.gz?signature=secret")
    for address in (*(f"{server}/{name}" for name in names), f"simplecache::{server}/g.txt"):
        assert gd.same_graph(gd.read_graph(address), expected)
    with pytest.raises(InputError, match=r"/none\.txt: no such file") as error:
        gd.read_graph(f"{server}/none.txt?signature=secret")
    assert "secret" not in str(error.value)


class Counting(Quiet):
    """A handler of byte ranges that records the method of each request and the bytes of its answer."""

    def do_HEAD(self):
        """Say how long the file is."""
        self._answer(0)

    def do_GET(self):
        """Give the file, or a range of it."""
        self._answer(1)

    def _answer(self, with_body):
        data = self.server.data
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        part = data[int(asked[1]) : int(asked[2] or len(data)) + 1] if asked else data
        self.server.requests.append((self.command, len(part) * with_body))
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        if asked:
            self.send_header("Content-Range", f"bytes {asked[1]}-{int(asked[1]) + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part[: len(part) * with_body])


@pytest.mark.skipif(importlib.util.find_spec("aiohttp") is None, reason="fsspec needs aiohttp for http://")
def test_a_file_of_a_web_server_is_fetched_once(tmp_path):
    rng = np.random.default_rng(3)
    data = b"".join(b"%d %d\n" % tuple(pair) for pair in rng.integers(0, 10**9, (1_000_000, 2)).tolist())
    assert len(data) > 4 * addresses.PIECE
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counting) as running:
        running.data, running.requests = data, []
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        with addresses.local_files(f"http://127.0.0.1:{running.server_port}/g.txt") as (file,):
            assert file.path.read_bytes() == data
        running.shutdown()
        thread.join()
    assert [each for each in running.requests if each[0] == "GET"] == [("GET", len(data))]
    assert len(running.requests) <= 5


def test_a_name_with_brackets_is_a_name(tmp_path):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe({"/g[1].txt": EDGES, "/g1.txt": b"8 9\n"})
    assert gd.read_graph("memory://g[1].txt").num_edges == 4
    del memory.store["/g[1].txt"]
    assert gd.read_graph("memory://g[1].txt").num_edges == 1
    memory.store.clear()
