"""The real daemon as a child process, and requests to it; measure.py and check_model.py use it. Standard
library only."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


class Refused(Exception):
    """An answer other than success; .problem is its body."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem}")
        self.status, self.problem = status, problem


class Daemon:
    """epsilond on a free loopback port with its own directory; use in a `with` statement."""

    def __init__(self, binary, *options):
        self.binary, self.options, self.keys = binary, options, itertools.count()
        self.registered = []

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="epsilond-check.")
        self.start()
        return self

    def start(self):
        log = os.path.join(self.directory, "log")
        with open(log, "w") as stderr:
            self.process = subprocess.Popen(
                [self.binary, "--data-dir", os.path.join(self.directory, "data"),
                 "--listen", "127.0.0.1:0", *self.options], stderr=stderr,
                env={"EPSILOND_REVEAL_DELAY": "0.05", **os.environ})
        self.base = f"http://127.0.0.1:{self._port(log)}"

    def _port(self, log):
        for _ in range(3600):  # three minutes: only for a hang
            with open(log) as lines:
                for line in lines:
                    if '"listening"' in line and line.endswith("\n"):
                        return json.loads(line)["port"]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        with open(log) as lines:
            raise RuntimeError("the daemon did not start:\n" + lines.read())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory)

    def call(self, method, path, body=None, headers=None, timeout=120):
        """Returns the body of the answer: parsed if it is JSON, otherwise bytes."""
        request = urllib.request.Request(self.base + path, method=method, data=body,
                                         headers=headers or {})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                content, kind = answer.read(), answer.headers.get("Content-Type", "")
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode()) from None
        return json.loads(content) if "json" in kind else content

    def get(self, path):
        return self.call("GET", path)

    def patch(self, path, value):
        return self.call("PATCH", path, json.dumps(value).encode(),
                         {"Content-Type": "application/merge-patch+json", "If-Match": "*"})

    def post(self, path, value, timeout=120):
        return self.call("POST", path, json.dumps(value).encode(),
                         {"Content-Type": "application/json",
                          "Idempotency-Key": f"key-{next(self.keys)}"}, timeout)

    def register(self, dataset, schema, files, privacy, acknowledge=()):
        """Declares the dataset, uploads the files (name to path or bytes), imports. acknowledge: the names of
        what is confirmed about a weak budget."""
        self.registered.append((dataset, schema, files, privacy, acknowledge))
        self._register(dataset, schema, files, privacy, acknowledge)

    def _register(self, dataset, schema, files, privacy, acknowledge):
        confirmed = [{"acknowledge": [name]} if name in acknowledge else {}
                     for name in ("epsilon_above_10", "delta_above_1_over_n")]
        self.post("/v1/datasets", {"id": dataset, **schema, "privacy": privacy, **confirmed[0]})
        for name, content in files.items():
            if isinstance(content, str):
                with open(content, "rb") as file:
                    content = file.read()
            self.call("PUT", f"/v1/datasets/{dataset}/files/{name}", content,
                      {"Content-Type": "application/octet-stream"})
        self.post(f"/v1/datasets/{dataset}:import", confirmed[1], timeout=600)
        while self.get(f"/v1/datasets/{dataset}")["state"] == "IMPORTING":
            time.sleep(0.1)
        state = self.get(f"/v1/datasets/{dataset}")["state"]
        if state != "READY":
            raise RuntimeError(f"the import of {dataset} ended as {state}")

    def renew(self):
        """Another daemon in its own directory, with the same datasets and full budgets: measurements need more
        runs than one budget can pay for."""
        self.__exit__()
        self.__enter__()
        for dataset in self.registered:
            self._register(*dataset)

    def _submit(self, spec):
        try:
            return self.post("/v1/jobs", spec)
        except Refused as refused:
            if json.loads(refused.problem).get("code") != "budget_exhausted":
                raise
        self.renew()
        return self.post("/v1/jobs", spec)

    def run_job(self, spec):
        """Returns the job once it has succeeded, and the seconds since its submission."""
        start = time.monotonic()
        job = self._submit(spec)
        while job["state"] in ("QUEUED", "RUNNING", "CANCELLING"):
            job = self.get(f"/v1/jobs/{job['id']}?wait=60")
        seconds = time.monotonic() - start
        if job["state"] != "SUCCEEDED":
            raise RuntimeError(f"job ended as {job['state']} ({job['state_reason']})")
        return job, seconds

    def processor_seconds(self):
        """Returns the processor time of all threads of the daemon since its start."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Returns resident memory in MiB: (now, the maximum since forget_peak)."""
        values = {}
        with open(f"/proc/{self.process.pid}/status") as lines:
            for line in lines:
                name, _, rest = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    values[name] = int(rest.split()[0]) / 1024
        return values["VmRSS"], values["VmHWM"]

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")
