#!/usr/bin/env python3
"""Tests the daemon with its files in real S3 servers, packages of PyPI, behind a proxy that injects faults.

  blobs.py EPSILOND NANIO MOTO_SERVER      run by `check`, in the environment that has boto3

nanio checks signatures; moto does not, and supports conditions that nanio ignores."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import boto3  # noqa: E402
import lying_proxy  # noqa: E402
from daemon import Daemon, Refused  # noqa: E402

KEY, SECRET, REGION, BUCKET = "AKIDEXAMPLE", "secret/of+the=tests", "us-east-1", "eps-files"
COLUMNS = [{"name": "x", "kind": "numeric", "range": [-1, 1]},
           {"name": "y", "kind": "numeric", "range": [-1, 1]},
           {"name": "class", "kind": "label", "values": ["no", "yes"]}]
SCHEMA = {"format": "csv", "task": "classification", "header": True, "columns": COLUMNS}
PRIVACY = {"epsilon": 8, "delta": 1e-5}
JOB = {"dataset": "points", "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"},
       "batch_size": 50, "steps": 20, "privacy": {"noise_multiplier": 3.0}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def points(rows):
    line = "".join(f"{((i * 37) % 200) / 100 - 1:.2f},{((i * 53) % 200) / 100 - 1:.2f},"
                   f"{'yes' if i % 3 else 'no'}\n" for i in range(600))
    return ("x,y,class\n" + line * (rows // 600)).encode()


def await_server(process, port):
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


class Server:
    """One of the two servers, with an empty bucket."""

    def __init__(self, name, program):
        self.name, self.program, self.port = name, program, free_port()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="epsilond-blobs.")
        environment = dict(os.environ, NANIO_ACCESS_KEY=KEY, NANIO_SECRET_KEY=SECRET)
        command = ([self.program, "serve", "--data-dir", self.folder.name, "--host", "127.0.0.1", "--port",
                    str(self.port), "--no-access-log", "--log-level", "error"] if self.name == "nanio" else
                   [self.program, "-H", "127.0.0.1", "-p", str(self.port)])
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        await_server(self.process, self.port)
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name=REGION,
                                   aws_access_key_id=KEY, aws_secret_access_key=SECRET)
        self.client.create_bucket(Bucket=BUCKET)
        self.proxy = lying_proxy.start(self.port)
        return self

    def __exit__(self, *_):
        self.proxy.shutdown()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def objects(self):
        return {o["Key"]: o["Size"] for o in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])}

    def make_old(self, key):
        """Changes an object's time in nanio's metadata file; moto's objects cannot be made old."""
        path = os.path.join(self.folder.name, BUCKET, ".nanio-meta", key + ".json")
        with open(path) as file:
            said = json.load(file)
        said["last_modified"] = "2001-09-09T01:46:40+00:00"
        with open(path, "w") as file:
            json.dump(said, file)


def say(server, what):
    print(f"check-blobs: {server.name}: {what}", flush=True)


def verify(daemon, *more):
    return subprocess.run([daemon.binary, "verify", "--data-dir", os.path.join(daemon.directory, "data"),
                           *daemon.options, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def train(daemon):
    job = daemon.post("/v1/jobs", JOB)["id"]
    while daemon.get(f"/v1/jobs/{job}")["state"] in ("QUEUED", "RUNNING"):
        time.sleep(0.05)
    return daemon.get(f"/v1/jobs/{job}")


def main_job(daemon, server):
    daemon.register("points", SCHEMA, {"data": points(1200)}, PRIVACY)
    job = train(daemon)
    assert job["state"] == "SUCCEEDED", job
    names = server.objects()
    assert all(name == "eps/epsilond" or len(name) == 4 + 32 for name in names), names
    say(server, f"the main job; {len(names)} objects, of names that tell nothing")
    return f"/v1/models/{job['model']}/content"


def faults(daemon, server, content):
    whole = daemon.get(content)
    for kind in ("truncate", "cut", "flip", "delay", "repeat", "error", "slow"):
        daemon.stop()
        daemon.start()
        lying_proxy.ask_for(server.proxy, kind, 2)
        assert daemon.get(content) == whole, kind
        server.proxy.faults.count = 0
    for kind in ("truncate", "flip", "repeat"):  # permanently
        daemon.stop()
        daemon.start()
        lying_proxy.ask_for(server.proxy, kind, 1000)
        try:
            daemon.get(content)
            raise AssertionError(f"{kind} was believed")
        except Refused as refused:
            assert refused.status == 500, refused
        server.proxy.faults.count = 0
        assert daemon.get(content) == whole, kind
    say(server, "what is truncated, cut, flipped, delayed, repeated, failed and slow is asked for again")


def pieces(daemon, server):
    rows = points(6_000_000)
    lying_proxy.ask_for(server.proxy, "error", 2, "PUT")
    daemon.post("/v1/datasets", {"id": "many", **SCHEMA, "privacy": PRIVACY})
    daemon.call("PUT", "/v1/datasets/many/files/data", rows, {"Content-Type": "application/octet-stream"})
    assert max(server.objects().values()) > 64 << 20
    daemon.stop()
    daemon.start()
    daemon.call("POST", "/v1/datasets/many:import", timeout=600)
    while daemon.get("/v1/datasets/many")["state"] == "IMPORTING":
        time.sleep(0.1)
    assert daemon.get("/v1/datasets/many")["state"] == "READY"
    say(server, f"{len(rows) >> 20} MiB in pieces, and imported from there")


def killed(daemon, server):
    before = set(server.objects())
    lying_proxy.ask_for(server.proxy, "delay", 1000, "PUT")
    daemon.post("/v1/jobs", JOB)
    while set(server.objects()) <= before:
        time.sleep(0.01)
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    server.proxy.faults.count = 0
    stray = (set(server.objects()) - before).pop()
    result = verify(daemon, "--check-objects", "on")
    assert result.returncode == 0 and "each was read" in result.stdout, result.stdout
    if server.name == "nanio":
        server.make_old(stray)
    daemon.start()
    deadline = time.monotonic() + 20
    while server.name == "nanio" and stray in server.objects():
        assert time.monotonic() < deadline, "the garbage stays"
        time.sleep(0.1)
    assert before <= set(server.objects()) | {stray}
    say(server, "a publication that was cut short leaves garbage" +
        (", which goes" if server.name == "nanio" else ""))


def refused(daemon, server):
    daemon.stop()
    if server.name == "nanio":
        os.environ["AWS_SECRET_ACCESS_KEY"] = "wrong"
        result = verify(daemon, "--check-objects", "on")
        assert result.returncode == 78 and "403" in result.stdout, result.stdout
        os.environ["AWS_SECRET_ACCESS_KEY"] = SECRET
    os.environ["EPSILOND_BLOBS_KEY"] = secrets.token_hex(32)
    result = verify(daemon, "--check-objects", "on")
    assert result.returncode == 78 and "the key of the blobs" in result.stdout, result.stdout
    say(server, "wrong credentials and another key are refused")


def run(binary, server):
    os.environ.update(AWS_ENDPOINT_URL_S3=lying_proxy.url_of(server.proxy), AWS_ACCESS_KEY_ID=KEY,
                      AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION=REGION, EPSILOND_BLOBS_KEY=secrets.token_hex(32))
    with Daemon(binary, "--blobs", f"s3://{BUCKET}/eps", "--workers", "1") as daemon:
        content = main_job(daemon, server)
        faults(daemon, server, content)
        pieces(daemon, server)
        killed(daemon, server)
        refused(daemon, server)


def main():
    binary, nanio, moto = sys.argv[1:4]
    for name, program in (("nanio", nanio), ("moto", moto)):
        with Server(name, program) as server:
            run(binary, server)


if __name__ == "__main__":
    main()
