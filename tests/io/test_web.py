"""Files of a web server are read, also by signed addresses; a name with brackets is no pattern where it is there."""

from __future__ import annotations

import gzip
import http.server
import importlib.util
import threading
from functools import partial

import fsspec
import pytest

import graphdask as gd
from graphdask.errors import InputError

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
    for address in (f"{server}/g.txt", f"{server}/g.txt.gz", f"{server}/g.txt.gz?signature=secret"):
        assert gd.same_graph(gd.read_graph(address), expected)
    with pytest.raises(InputError, match=r"/none\.txt: no such file") as error:
        gd.read_graph(f"{server}/none.txt?signature=secret")
    assert "secret" not in str(error.value)


def test_a_name_with_brackets_is_a_name(tmp_path):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe({"/g[1].txt": EDGES, "/g1.txt": b"8 9\n"})
    assert gd.read_graph("memory://g[1].txt").num_edges == 4
    del memory.store["/g[1].txt"]
    assert gd.read_graph("memory://g[1].txt").num_edges == 1
    memory.store.clear()
