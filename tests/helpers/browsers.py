"""A browser without a window, and pictures of what it shows, by the protocol of its developer tools."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from matplotlib.image import imread
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

WAIT = 60.0
"""Seconds for each answer of the browser."""


@contextmanager
def browsing(browser: str, url: str, folder: Path) -> Iterator[Callable[[], bytes]]:
    """Open a page; gives a function that takes a picture of it, PNG. The browser is gone afterwards."""
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
        f"--user-data-dir={folder / 'profile'}", "--window-size=1200,1000", url,
    ]  # fmt: skip
    log = folder / "browser.log"
    loop = IOLoop(make_current=False)
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
    try:
        address = loop.run_sync(lambda: _page(process, log, url), WAIT)
        socket = loop.run_sync(lambda: websocket_connect(address, max_message_size=1 << 27), WAIT)

        async def picture() -> bytes:
            await socket.write_message(json.dumps({"id": 1, "method": "Page.captureScreenshot"}))
            while True:
                answer = json.loads(await socket.read_message())
                if answer.get("id") == 1:
                    return base64.b64decode(answer["result"]["data"])

        yield lambda: loop.run_sync(picture, WAIT)
        socket.close()
    finally:
        process.terminate()
        process.wait(WAIT)
        loop.close(all_fds=True)


async def _page(process: subprocess.Popen, log: Path, url: str) -> str:
    """Where the tools of the page listen, once they do."""
    import asyncio

    while not (found := re.search(rb"DevTools listening on ws://([^/]+)/", log.read_bytes())):
        assert process.poll() is None, log.read_text(errors="replace")
        await asyncio.sleep(0.1)
    while True:
        with urllib.request.urlopen(f"http://{found[1].decode()}/json/list", timeout=WAIT) as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page" and page["url"].startswith(url)]
        if pages:
            return pages[0]["webSocketDebuggerUrl"]
        await asyncio.sleep(0.1)


def blue_pixels(picture: bytes) -> int:
    """How much of a picture is of the colour of graphdask's bars."""
    rgb = (imread(io.BytesIO(picture))[..., :3] * 255).round().astype(int)
    return int((np.abs(rgb - (0x3B, 0x82, 0xC4)).max(axis=2) < 8).sum())
