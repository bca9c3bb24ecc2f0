#!/usr/bin/env python3
"""The part of an S3 server that the daemon needs, with only Python's standard library. It checks every
signature (AWS Signature Version 4) and the digest of every body. Objects are in memory.

  s3_server.py BUCKET ACCESS_KEY SECRET [PORT]      prints its port

faults.py describes the faults that it can inject."""

import base64
import hashlib
import hmac
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

from faults import Faults


class Objects:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}  # key: (bytes, seconds)
        self.uploads = {}  # id: {"key", "parts": {number: bytes}}
        self.made = 0


class Refused(Exception):
    def __init__(self, status, code):
        self.status, self.code = status, code


def encode(text, safe="-_.~"):
    return urllib.parse.quote(text, safe=safe)


def signature_of(secret, date, region, text):
    key = ("AWS4" + secret).encode()
    for part in (date, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # --- authentication ---

    def check_signature(self, path, query_text, body):
        found = re.match(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
                         r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$",
                         self.headers.get("Authorization", ""))
        if not found:
            raise Refused(403, "AccessDenied")
        key_id, date, region, names, signature = found.groups()
        temporary = key_id == "ASIA" + self.server.access_key[4:]
        if key_id != self.server.access_key and not temporary:
            raise Refused(403, "InvalidAccessKeyId")
        if temporary != ("x-amz-security-token" in self.headers):
            raise Refused(403, "InvalidToken")
        digest = self.headers.get("x-amz-content-sha256", "")
        if digest != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch")
        names = names.split(";")
        required = {name.lower() for name in self.headers if name.lower().startswith("x-amz-")} | {"host"}
        if not required <= set(names) or names != sorted(names):
            raise Refused(403, "AccessDenied")
        pairs = urllib.parse.parse_qsl(query_text, keep_blank_values=True)
        query = "&".join(f"{encode(n)}={encode(v)}" for n, v in sorted(pairs))
        headers = "".join(f"{n}:{' '.join(self.headers[n].split())}\n" for n in names)
        canonical = "\n".join((self.command, encode(urllib.parse.unquote(path), "/-_.~"), query, headers,
                               ";".join(names), digest))
        when = self.headers["x-amz-date"]
        text = "\n".join(("AWS4-HMAC-SHA256", when, f"{date}/{region}/s3/aws4_request",
                          hashlib.sha256(canonical.encode()).hexdigest()))
        if not hmac.compare_digest(signature_of(self.server.secret, date, region, text), signature):
            raise Refused(403, "SignatureDoesNotMatch")

    # --- answers ---

    def answer(self, status, body=b"", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.server.faults.send(self, self.fault, status, headers, body)

    def put(self, key, query, body):
        checksum = self.headers.get("x-amz-checksum-sha256")
        if checksum and base64.b64decode(checksum) != hashlib.sha256(body).digest():
            raise Refused(400, "BadDigest")
        tag = f'"{hashlib.new("md5", body).hexdigest()}"'
        objects = self.server.objects
        with objects.lock:
            if "uploadId" in query:
                if query["uploadId"] not in objects.uploads:
                    raise Refused(404, "NoSuchUpload")
                objects.uploads[query["uploadId"]]["parts"][int(query["partNumber"])] = (body, tag)
            else:
                objects.objects[key] = (body, time.time())
        self.answer(200, ETag=tag)

    def get(self, key):
        with self.server.objects.lock:
            body, when = self.server.objects.objects.get(key, (None, 0))
        if body is None:
            raise Refused(404, "NoSuchKey")
        ranged = re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
        if not ranged:
            return self.answer(200, body)
        first, last = int(ranged[1]), int(ranged[2])
        if first >= len(body):
            raise Refused(416, "InvalidRange")
        part = body[first:last + 1]
        return self.answer(206, part, Content_Range=f"bytes {first}-{first + len(part) - 1}/{len(body)}")

    def list(self, query):
        with self.server.objects.lock:
            keys = sorted(k for k in self.server.objects.objects
                          if k.startswith(query.get("prefix", "")) and k > query.get("start-after", ""))
            shown = keys[:min(int(query.get("max-keys", "1000")), 1000)]
            rows = "".join(
                f"<Contents><Key>{escape(k)}</Key><LastModified>"
                + time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.server.objects.objects[k][1]))
                + "</LastModified></Contents>" for k in shown)
        more = "true" if len(shown) < len(keys) else "false"
        body = f"<ListBucketResult><IsTruncated>{more}</IsTruncated>{rows}</ListBucketResult>"
        self.answer(200, body.encode())

    def post(self, key, query, body):
        objects = self.server.objects
        with objects.lock:
            if "uploads" in query:
                objects.made += 1
                upload = f"upload/{objects.made}+="  # must be percent-encoded
                objects.uploads[upload] = {"key": key, "parts": {}}
                text = f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            else:
                upload = objects.uploads.get(query.get("uploadId"))
                if upload is None:
                    raise Refused(404, "NoSuchUpload")
                named = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>([^<]+)</ETag>", body.decode())
                if [(int(n), t) for n, t in named] != [(n, p[1]) for n, p in sorted(upload["parts"].items())]:
                    raise Refused(400, "InvalidPart")
                if any(len(upload["parts"][int(n)][0]) < 5 << 20 for n, _ in named[:-1]):
                    raise Refused(400, "EntityTooSmall")
                objects.objects[key] = (b"".join(upload["parts"][int(n)][0] for n, _ in named), time.time())
                del objects.uploads[query["uploadId"]]
                text = "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"
        self.answer(200, text.encode())

    def delete(self, key, query):
        with self.server.objects.lock:
            if "uploadId" in query:
                self.server.objects.uploads.pop(query["uploadId"], None)
            else:
                self.server.objects.objects.pop(key, None)
        self.answer(204)

    # --- requests of a test to the server itself ---

    def control(self, path, query):
        objects = self.server.objects
        if path == "/~faults":
            self.server.faults.set(query)
            text = ""
        elif path == "/~log":
            text = "\n".join(self.server.faults.log)
        elif path == "/~age":
            with objects.lock:
                older = int(query["seconds"])
                objects.objects = {k: (b, when - older) for k, (b, when) in objects.objects.items()}
            text = ""
        else:
            with objects.lock:
                text = "\n".join(f"{k} {len(b)}" for k, (b, _) in sorted(objects.objects.items()))
        self.fault = None
        self.answer(200, text.encode())

    def serve(self):
        path, _, query_text = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query_text, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path.startswith("/~"):
            return self.control(path, query)
        self.fault = self.server.faults.take(self.command, self.path)
        try:
            self.check_signature(path, query_text, body)
            bucket, _, key = path[1:].partition("/")
            if bucket != self.server.bucket:
                raise Refused(404, "NoSuchBucket")
            if self.command == "PUT":
                self.put(key, query, body)
            elif self.command == "GET" and key == "":
                self.list(query)
            elif self.command == "GET":
                self.get(key)
            elif self.command == "POST":
                self.post(key, query, body)
            else:
                self.delete(key, query)
        except Refused as refused:
            text = f"<Error><Code>{refused.code}</Code></Error>"
            self.answer(refused.status, text.encode(), Content_Type="application/xml")
        return None

    do_GET = do_PUT = do_POST = do_DELETE = serve


def start(bucket, access_key, secret, port=0):
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.bucket, server.access_key, server.secret = bucket, access_key, secret
    server.objects, server.faults = Objects(), Faults()
    return server


def main():
    server = start(*sys.argv[1:4], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # until the process that started it has ended


if __name__ == "__main__":
    main()
