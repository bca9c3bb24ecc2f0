"""A proxy in front of an S3 server that truncates, flips, delays, repeats, fails (faults.py)."""

import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from faults import Faults


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.faults.take(self.command, self.path)
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=60)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():  # Host too, because it is signed
            if name.lower() not in ("connection", "expect"):
                upstream.putheader(name, value)
        upstream.endheaders(body or None)
        answer = upstream.getresponse()
        content, headers = answer.read(), dict(answer.getheaders())
        upstream.close()
        self.server.faults.send(self, fault, answer.status, headers, content)

    do_GET = do_PUT = do_POST = do_DELETE = serve


def start(upstream):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.upstream, server.faults = upstream, Faults()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def ask_for(server, kind, count=1, method="GET"):
    server.faults.set({"kind": kind, "count": str(count), "method": method})


def url_of(server):
    return urllib.parse.urlunsplit(("http", f"127.0.0.1:{server.server_address[1]}", "", "", ""))
