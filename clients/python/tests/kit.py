"""Helpers of the tests: the real daemon, data for it, and services that misbehave.

EPSILOND is the daemon's path. One daemon is started for all tests of a process and stopped at its end.
Standard library only, like the client itself.
"""

import atexit
import http.server
import importlib.util
import os
import pathlib
import random
import socket
import sys
import threading
import unittest
from urllib.parse import urlsplit

import epsilond

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "python"))
import digits  # noqa: E402
from daemon import Daemon  # noqa: E402

_running = []


def daemon():
    """This process's daemon, with the digits: the training part private, the test part public."""
    if not _running:
        started = Daemon(os.environ["EPSILOND"]).__enter__()
        atexit.register(started.__exit__)
        _running.append(started)
        client = epsilond.Client(started.base)
        register_digits(client, "digits", epsilon=8, delta=1e-5)
        client.datasets.register("digits-test", digits.files(True)["data"], public=True,
                                 **digits.SCHEMA)
    return _running[0]


def client(**more):
    return epsilond.Client(daemon().base, **more)


def register_digits(client, id, count=None, **privacy):
    """The training part of the digits, or its first records; no two datasets have the same records."""
    lines = digits.lines(False)[:count]
    random.Random(id).shuffle(lines)
    return client.datasets.register(id, "".join(lines).encode(), **digits.SCHEMA, **privacy)


def digits_rows(test=True):
    """(rows, classes) of the digits."""
    cells = [line.strip().split(",") for line in digits.lines(test)]
    return [[float(cell) for cell in row[:64]] for row in cells], [row[64] for row in cells]


def lacks(*packages):
    """Skips a test with a message if a package is not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"without {', '.join(missing)}")


class Fake:
    """A service whose answers a function computes; use in a `with` statement.

    answer(request) -> (status, headers, body); a request has .command .path .headers .content.
    Returning None closes the connection without an answer.
    """

    def __init__(self, answer):
        self.requests = []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self):
                self.content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fake.requests.append(self)
                answered = answer(self)
                if answered is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, body = answered
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Deaf:
    """Forwards connections to a service, and drops the answers of the first ones."""

    def __init__(self, base, lost):
        parts = urlsplit(base)
        self._service, self.left, self.taken = (parts.hostname, parts.port), lost, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.taken += 1
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        far = socket.create_connection(self._service)
        # The client sends its head and its body in one or two pieces; then the service answers.
        threading.Thread(target=_pour, args=(near, far), daemon=True).start()
        answer = far.recv(1 << 16)
        if self.left > 0:
            self.left -= 1
        else:
            near.sendall(answer)
            _pour(far, near)
        for end in (near, far):
            try:
                end.shutdown(socket.SHUT_RDWR)  # wakes the thread that still reads from it
            except OSError:
                pass  # the other side closed first
            end.close()


def _pour(source, sink):
    try:
        while piece := source.recv(1 << 16):
            sink.sendall(piece)
    except OSError:
        pass
