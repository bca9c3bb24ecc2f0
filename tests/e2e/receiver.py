#!/usr/bin/env python3
"""A third-party server that the daemon calls: it receives webhooks, serves files, and misbehaves on paths
that request it. It listens on 127.0.0.1 and prints its port to standard output; it ends when its
standard input is closed.

  receiver.py [CERTIFICATE KEY]     with these it speaks TLS

  /ok/...      204                  /gone/...    410
  /twice/...   500 first, then 204  /back/...    410 first, then 204
  /away?URL    302 to the URL       /here/...    302 to /files/points
  /never/...   no answer            /flood/...   200, and an endless body
  /head/...    an endless head
  /files/NAME  a file that was stored by PUT; also a range of it, signed or not
  /cut/NAME    the same, but the connection ends after half of it, unless a range is requested
  /slow/NAME   the same, but it stops after half of it until /go is requested
  /unsized/... a body that ends with the connection

  /log         the requests received, as a JSON list
  /secrets     takes a JSON list of secrets: deliveries signed by one of them are valid
  /key         takes {"id", "secret", "region"}: from then on requests of files must be signed

Signatures are checked according to the specifications (Standard Webhooks 1.0; AWS Signature Version 4),
with only Python's own hmac.
"""
import base64
import hashlib
import hmac
import http.server
import json
import re
import ssl
import sys
import threading
import urllib.parse

received, seen, files, secrets, key = [], set(), {}, [], {}
lock, go = threading.Lock(), threading.Event()


def valid_delivery(headers, body):
    content = b".".join([headers.get("webhook-id", "").encode(),
                         headers.get("webhook-timestamp", "").encode(), body])
    given = headers.get("webhook-signature", "").split(" ")
    return sum(
        "v1," + base64.b64encode(hmac.digest(base64.b64decode(secret.removeprefix("whsec_")),
                                             content, "sha256")).decode() in given
        for secret in secrets)


def valid_signature(method, target, headers):
    """AWS Signature Version 4, as its documentation defines it."""
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
                         r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})",
                         headers.get("authorization", ""))
    if match is None or match[1] != key["id"] or match[3] != key["region"]:
        return False
    if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(match[4].split(";")):
        return False
    url = urllib.parse.urlsplit(target)
    query = "&".join(sorted(url.query.split("&"))) if url.query else ""
    canonical = "\n".join(
        [method, url.path, query]
        + [f"{name}:{' '.join(headers[name].split())}" for name in match[4].split(";")]
        + ["", match[4], headers["x-amz-content-sha256"]])
    scope = f"{match[2]}/{match[3]}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    digest = ("AWS4" + key["secret"]).encode()
    for part in (match[2], match[3], "s3", "aws4_request"):
        digest = hmac.digest(digest, part.encode(), "sha256")
    return hmac.compare_digest(hmac.digest(digest, text.encode(), "sha256").hex(), match[5])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_all(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.split("/")[1].split("?")[0]
        headers = {k.lower(): v for k, v in self.headers.items()}
        if name in ("log", "secrets", "key", "go"):
            getattr(self, "do_" + name)(body)
            return
        if self.command == "PUT":
            files[self.path.split("/")[2]] = body
            self.answer(204)
            return
        with lock:
            again = self.path in seen
            seen.add(self.path)
            received.append({"method": self.command, "path": self.path, "headers": headers,
                             "body": body.decode(errors="replace"),
                             "valid": valid_delivery(headers, body)})
        getattr(self, "serve_" + name)(headers, again)

    do_GET = do_POST = do_PUT = handle_all

    def do_log(self, _):
        with lock:
            self.answer(200, json.dumps(received).encode(), Content_Type="application/json")

    def do_secrets(self, body):
        secrets[:] = json.loads(body)
        self.answer(204)

    def do_key(self, body):
        key.clear()
        key.update(json.loads(body))
        self.answer(204)

    def do_go(self, _):
        go.set()
        self.answer(204)

    def serve_ok(self, *_):
        self.answer(204)

    def serve_gone(self, *_):
        self.answer(410)

    def serve_twice(self, _, again):
        self.answer(204 if again else 500)

    def serve_back(self, _, again):
        self.answer(204 if again else 410)

    def serve_away(self, *_):
        self.answer(302, Location=self.path.split("?", 1)[1])

    def serve_here(self, *_):
        self.answer(302, Location="/files/points")

    def serve_never(self, *_):
        self.close_connection = True
        self.rfile.read(1)  # until the other side has closed

    def serve_head(self, *_):
        self.endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1000 + b"\r\n")

    def serve_flood(self, *_):
        self.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", bytes(65536))

    def endless(self, first, more):
        """Sends until the other side stops reading, and records how much that was."""
        self.close_connection = True
        sent = 0
        try:
            self.wfile.write(first)
            while sent < 1 << 30:
                self.wfile.write(more)
                sent += len(more)
        except OSError:
            pass
        with lock:
            received[-1]["sent"] = sent

    def serve_files(self, headers, _):
        self.send_file(headers, 1)

    def serve_cut(self, headers, _):
        self.send_file(headers, 1 if "range" in headers else 2)

    def serve_unsized(self, *_):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0,0,no\n")

    def serve_slow(self, headers, _):
        self.send_file(headers, 2, wait=True)

    def send_file(self, headers, part, wait=False):
        name = urllib.parse.urlsplit(self.path).path.split("/")[2]
        if key and not valid_signature(self.command, self.path, headers):
            self.answer(403, b"<Error>no</Error>")
            return
        if name not in files:
            self.answer(404, b"no such file, and this is no part of one")
            return
        body, first = files[name], 0
        match = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
        if match is not None:
            first = int(match[1])
        self.send_response(206 if match else 200)
        if match is not None:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()[:16]}"')
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        rest = body[first:]
        self.wfile.write(rest[:-(-len(rest) // part)])
        if wait:
            self.wfile.flush()
            go.wait()
            self.wfile.write(rest[-(-len(rest) // part):])
        elif part > 1:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # the other side has closed


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
