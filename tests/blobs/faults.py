"""Faults of an object store, for a server and a proxy of the tests.

PUT /~faults?kind=KIND&count=N&method=METHOD injects a fault into the next N answers to that method
(default GET). /~log returns the requests, one on each line; /~age?seconds=N makes a server's objects older
by that time."""

import threading
import time

KINDS = ("truncate", "cut", "flip", "delay", "repeat", "error", "slow", "drip", "babble", "hold", "redirect")


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.kind, self.method, self.count = "", "GET", 0
        self.before = None  # the previous good answer to the method
        self.log = []

    def set(self, query):
        with self.lock:
            self.kind = query["kind"]
            assert self.kind in KINDS, self.kind
            self.method, self.count = query.get("method", "GET"), int(query.get("count", "1"))

    def take(self, method, path):
        """Returns the fault for this answer, or None."""
        with self.lock:
            self.log.append(f"{method} {path}")
            if self.count == 0 or method != self.method:
                return None
            self.count -= 1
            return self.kind

    def send(self, handler, fault, status, headers, body):
        """Sends the answer with the fault."""
        try:
            self._send(handler, fault, status, headers, body)
        except OSError:  # the client has closed the connection
            handler.close_connection = True

    def _send(self, handler, fault, status, headers, body):
        kept = (status, dict(headers), body)
        if fault == "babble":  # an endless refusal
            status, headers, body = 403, {"Content-Type": "application/xml"}, b"<Error><Code>Babble</Code>"
        if fault == "error":
            status, headers, body = 500, {"Content-Type": "application/xml"}, b"<Error><Code>InternalError</Code></Error>"
        elif fault == "redirect":  # to another object, whose name continues this one's path
            status, headers, body = 307, {"Location": handler.path + "elsewhere"}, b""
        elif fault == "repeat" and self.before is not None:
            status, headers, body = self.before
        elif fault == "flip" and body:
            at = len(body) // 2
            body = body[:at] + bytes([body[at] ^ 4]) + body[at + 1:]
        elif fault == "truncate":
            body = body[:len(body) // 2]
        elif fault == "delay":
            time.sleep(1)
        elif fault == "hold":  # until another fault is set
            while self.kind == "hold":
                time.sleep(0.005)
        if fault is None and handler.command == "GET":
            self.before = kept
        handler.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                handler.send_header(name, value)
        if status not in (204, 304):
            handler.send_header("Content-Length", str(1 << 40 if fault == "babble" else len(body)))
        handler.end_headers()
        if fault == "cut":
            handler.wfile.write(body[:len(body) // 2])
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.close()
        elif fault == "slow":
            step = max(1, len(body) // 10)
            for at in range(0, len(body), step):
                handler.wfile.write(body[at:at + step])
                handler.wfile.flush()
                time.sleep(0.05)
        elif fault == "drip":  # never stalls, and never ends while the client waits
            for at in range(len(body)):
                handler.wfile.write(body[at:at + 1])
                handler.wfile.flush()
                time.sleep(0.02)
        elif fault == "babble":
            while True:
                handler.wfile.write(body)
        elif handler.command != "HEAD":
            handler.wfile.write(body)
