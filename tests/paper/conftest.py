"""A server on this machine, out of reach of the user's own folders.

Other processes find this clone's `paper`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sphericalpca.pages.pictures import Picture


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.delenv("SPHERICALPCA_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))


@pytest.fixture
def undrawn(monkeypatch):
    """For tests of words: a report without its pictures, which take most of the time."""
    for kind in ("svg", "png"):
        monkeypatch.setattr(f"paper.report.{kind}_file", lambda _: b"")
    monkeypatch.setattr(Picture, "inline", lambda self: ["<svg></svg>"] * len(self.panels))


class Answers(BaseHTTPRequestHandler):
    """Plays back what a test wants to happen at an address, one thing per request."""

    def do_GET(self):
        played = self.server.script[self.path]
        self.server.requests.append(self.path)
        self.server.agents.append(self.headers["User-Agent"])
        answer = played.pop(0) if len(played) > 1 else played[0]
        try:
            self._play(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _play(self, answer):
        if isinstance(answer, int):
            self.send_error(answer)
        elif isinstance(answer, bytes):
            self._send(answer, len(answer))
        else:
            kind, body = answer
            if kind == "moved":
                self.send_response(302)
                self.send_header("Location", body)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self._send(body, {"short": 2 * len(body), "unmeasured": None, "stall": 10**6}[kind])
            if kind == "stall":
                self.server.stop_stalling.wait(120)

    def _send(self, body, announced):
        self.send_response(200)
        if announced is not None:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.script = defaultdict(lambda: [404])
        self.requests = []
        self.agents = []
        self.stop_stalling = threading.Event()

    def play(self, path, *answers):
        """Answer requests for `path` in this order, then repeat the last; returns the URL."""
        self.script[path] = list(answers)
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.stop_stalling.set()
        running.shutdown()
        thread.join()
