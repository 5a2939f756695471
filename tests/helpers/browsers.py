"""A browser without a window, and pictures of what it shows, by the protocol of its developer tools."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tornado.httpclient import HTTPClientError
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

WAIT = 120.0
"""Seconds that the browser has to start, and for each answer."""


@contextmanager
def browsing(browser: str, url: str, folder: Path) -> Iterator[Callable[[], bytes]]:
    """Open a page; gives a function that takes a picture of it, PNG. The browser is gone afterwards."""
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
        f"--user-data-dir={folder / 'profile'}", "--window-size=1200,1000", "about:blank",
    ]  # fmt: skip
    log = folder / "browser.log"
    loop = IOLoop(make_current=False)
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
    try:
        tools = loop.run_sync(lambda: _started(process, log))
        tab = loop.run_sync(lambda: _ask(tools, "Target.createTarget", url=url), WAIT)["targetId"]
        page = re.sub("browser/.*", f"page/{tab}", tools)
        yield lambda: base64.b64decode(loop.run_sync(lambda: _ask(page, "Page.captureScreenshot"), WAIT)["data"])
    finally:
        process.kill()
        process.wait(WAIT)
        loop.close(all_fds=True)


async def _started(process: subprocess.Popen, log: Path) -> str:
    """Where the tools of a browser are, once they answer; skip the test where this machine's does not come so far."""
    try:
        async with asyncio.timeout(WAIT):
            while not (found := re.search(rb"DevTools listening on (ws://\S+)\n", log.read_bytes())):
                if process.poll() is not None:
                    raise OSError(f"exit status {process.returncode}")
                await asyncio.sleep(0.1)
            await _ask(found[1].decode(), "Browser.getVersion")
            return found[1].decode()
    except (OSError, HTTPClientError) as error:  # the first is TimeoutError too
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        pytest.skip(f"the browser of this machine does not start: {error!r} {' '.join(last)}")


async def _ask(tools: str, method: str, **parameters: str) -> dict:
    """What the tools at an address answer; a page that is not there yet is asked again."""
    socket = await websocket_connect(tools, max_message_size=1 << 27)
    try:
        while True:
            await socket.write_message(json.dumps({"id": 1, "method": method, "params": parameters}))
            message = await socket.read_message()
            if message is None:
                raise ConnectionResetError(f"the browser has ended during {method}")
            answer = json.loads(message)
            if answer.get("error", {}).get("message") == "Not attached to an active page":
                await asyncio.sleep(0.1)
            elif answer.get("id") == 1:
                return answer["result"]
    finally:
        socket.close()


def blue_pixels(picture: bytes) -> int:
    """How much of a picture is of the colour of graphdask's bars."""
    rgb = (imread(io.BytesIO(picture))[..., :3] * 255).round().astype(int)
    return int((np.abs(rgb - (0x3B, 0x82, 0xC4)).max(axis=2) < 8).sum())
