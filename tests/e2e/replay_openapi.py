#!/usr/bin/env python3
"""Replays openapi.yaml, as the daemon serves it, against the daemon: sends every example of a request,
calls every operation until it succeeds, and checks that the document promises each answer: its status
and its type, and no member that the schema does not name.

  replay_openapi.py http://127.0.0.1:PORT DATA_DIR
"""
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings

import yaml

warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver; version 4.10 has no other resolver
import jsonschema  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))
from closed_schema import closed, closed_document  # noqa: E402

METHODS = ("get", "put", "post", "delete")
UNKNOWN = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


class Unfollowed(urllib.request.HTTPRedirectHandler):
    """Treats a redirection like any other answer."""

    def redirect_request(self, *_):
        return None


class Replay:
    def __init__(self, base):
        self.base, self.failures, self.keys = base, [], itertools.count()
        self.succeeded, self.headers = set(), {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Unfollowed())
        self.open = opener.open
        with self.open(base + "/openapi.yaml") as answer:
            self.document = yaml.load(answer.read(), yaml.CSafeLoader)
        self.resolver = jsonschema.RefResolver("", closed_document(self.document))

    def deref(self, node):
        while "$ref" in node:
            _, node = self.resolver.resolve(node["$ref"])
        return node

    def validate(self, schema, value, where):
        checker = jsonschema.Draft202012Validator(closed(schema),
                                                  resolver=self.resolver)
        for error in checker.iter_errors(value):
            place = "/".join(str(part) for part in error.absolute_path)
            self.failures.append(f"{where}: /{place}: {error.message[:300]}")

    def call(self, method, template, body=None, query="", headers=None, **names):
        """Sends a request, checks the answer against the document, returns (status, value)."""
        operation = self.document["paths"][template][method]
        path = template.format(**names) + query
        request = urllib.request.Request(self.base + path, method=method.upper())
        request.add_header("Idempotency-Key", f"replay-{next(self.keys)}")
        if isinstance(body, bytes):
            request.data = body
            request.add_header("Content-Type", "application/octet-stream")
        elif body is not None:
            request.data = json.dumps(body).encode()
            patches = method == "patch"
            request.add_header("Content-Type", "application/merge-patch+json" if patches
                               else "application/json")
        for name, value in {**self.headers, **(headers or {})}.items():
            request.add_header(name, value)
        try:
            answer = self.open(request, timeout=600)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            status, content = answer.status, answer.read()
            kind = answer.headers.get("Content-Type", "").split(";")[0]
        where = f"{method.upper()} {path} answered {status}"
        self.compare(operation["responses"], status, kind, content, where)
        if status < 400:
            self.succeeded.add((method, template))
        return status, json.loads(content) if "json" in kind and "nd" not in kind else content

    def follow(self, template, query="", headers=None, **names):
        """Reads a stream of events up to the first id and, if its subject has ended by then, to its end. Each
        event must be as the document promises; returns the id."""
        where = f"GET {template}"
        request = urllib.request.Request(self.base + template.format(**names) + query,
                                         headers=headers or {})
        operation = self.document["paths"][template]["get"]
        promised = operation["responses"]["200"]["content"]["text/event-stream"]["x-events"]
        with self.open(request, timeout=600) as answer:
            if answer.headers.get("Content-Type") != "text/event-stream":
                self.failures.append(f"{where} as {answer.headers.get('Content-Type')}")
            event = {}
            while "id" not in event:
                line = answer.readline().decode().rstrip("\n")
                name, _, value = line.partition(": ")
                event[name] = value
                if name == "data":
                    self.validate(promised[event["event"]], json.loads(value),
                                  f"{where}: {event['event']}")
        self.succeeded.add(("get", template))
        return event["id"]

    def compare(self, responses, status, kind, content, where):
        if str(status) not in responses:
            self.failures.append(f"{where}, which the document does not name")
            return
        promised = self.deref(responses[str(status)]).get("content", {})
        if not promised and content:
            self.failures.append(f"{where} with a body")
        elif promised and kind not in promised:
            self.failures.append(f"{where} as {kind}, promised {sorted(promised)}")
        elif kind == "application/x-ndjson":
            page = self.deref(promised["application/json"]["schema"])
            for line in content.splitlines():
                self.validate(next(iter(page["properties"].values()))["items"], json.loads(line), where)
        elif kind.endswith("json"):
            self.validate(promised[kind]["schema"], json.loads(content), where)

    def examples(self, method, template):
        body = self.document["paths"][template][method]["requestBody"]["content"]
        kind = "application/merge-patch+json" if method == "patch" else "application/json"
        for name, example in body[kind].get("examples", {}).items():
            yield name, example["value"]

    def rename(self, template, id):
        """Provokes every answer that a PATCH may have."""
        for _, body in self.examples("patch", template):
            for version, expected in (("*", 200), ('"old"', 412), (None, 428)):
                headers = {"If-Match": version} if version else {}
                status, _ = self.call("patch", template, body, id=id, headers=headers)
                if status != expected:
                    self.failures.append(f"a PATCH of {id} under {version}: {status}")
        self.call("patch", template, {"tags": 1}, id=id, headers={"If-Match": "*"})
        self.call("patch", template, b"{}", id=id, headers={"If-Match": "*"})


def images(count, seed):
    draw = random.Random(seed)
    return {"features": struct.pack(">IIII", 0x803, count, 28, 28) + draw.randbytes(count * 784),
            "labels": struct.pack(">II", 0x801, count)
                      + bytes(draw.randrange(10) for _ in range(count))}


def npy(values, *shape):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".encode()
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n"
            + struct.pack(f"<{len(values)}f", *values))


FILES = {"mnist": images(3000, 1), "mnist-test": images(200, 2),
         "adult": {"data": b"39, State-gov, 77516, <=50K\n51,, 1, >50K\n"},
         "a9a": {"data": b"-1 3:1 11:1\n1 5:1\n"},
         "visits": {"data": b"-1 3:1 11:1\n1 5:1\n1 7:1\n", "privacy_id": b"ana\nbo\nana\n"},
         "waves": {"features": npy(range(256), 2, 128), "labels": npy((2.5, 7), 2)},
         "cifar": {"data": bytes((19, 99)) + bytes(3072) + bytes((0, 3)) + bytes(3072)},
         "stays": {"data": b"age,ward,smoker,admitted,postcode,died\n39,surgery,true,03.05.2019,10115,no\n"
                           b"NA,maternity,,?,?,yes\n"},
         "visits-2024": {"data": b"temperature;ward\n36,6;a\n38,1;b\n"},
         "reviews": {"data": b'{"stars":4,"verified":true,"helpful":"yes"}\n{"helpful":"no","stars":1.0}\n'},
         "housing": {"data": b"rooms,value\n6,250000\n,100000\n"}}


def datasets(replay):
    for name, body in replay.examples("post", "/v1/datasets"):
        status, _ = replay.call("post", "/v1/datasets:check", body)
        if status != 200:
            replay.failures.append(f"the example {name} of a dataset does not pass: {status}")
        status, _ = replay.call("post", "/v1/datasets", body)
        if status != 201:
            replay.failures.append(f"the example {name} of a dataset is refused: {status}")
        status, _ = replay.call("put", "/v1/datasets/{id}", body, id=body["id"])
        if status != 200:
            replay.failures.append(f"the example {name} cannot be declared again: {status}")
        for file, content in FILES[body["id"]].items():
            for offset, length, expected in (("0", len(content), 202), ("5", len(content), 409),
                                             ("9", 5, 400), ("x", 5, 400)):
                status, _ = replay.call(
                    "put", "/v1/datasets/{id}/files/{name}", content[:3], id=body["id"], name=file,
                    headers={"Upload-Offset": offset, "Upload-Length": str(length)})
                if status != expected:
                    replay.failures.append(f"a piece at {offset} of {length}: {status}")
            replay.call("get", "/v1/datasets/{id}/files/{name}", id=body["id"], name=file)
            replay.call("put", "/v1/datasets/{id}/files/{name}", content, id=body["id"], name=file)
        status, answer = replay.call("post", "/v1/datasets/{id}:import", id=body["id"])
        if status != 200:
            replay.failures.append(f"{body['id']} cannot be imported: {answer}")
        replay.rename("/v1/datasets/{id}", body["id"])
        replay.call("get", "/v1/datasets/{id}", id=body["id"])
        replay.call("get", "/v1/datasets/{id}/import", id=body["id"])
        replay.call("get", "/v1/datasets/{id}/budget", id=body["id"])
        replay.call("get", "/v1/datasets/{id}/budget/history", id=body["id"])
        replay.call("get", "/v1/datasets/{id}/ledger", id=body["id"])
    replay.call("post", "/v1/datasets", {"id": "mnist", "seed": 1})
    replay.call("put", "/v1/datasets/{id}", {"id": "mnist", "seed": 1}, id="mnist")
    replay.call("put", "/v1/datasets/{id}", {"id": "mnist", "seed": 1}, id="nowhere")
    replay.call("post", "/v1/datasets:check", {"id": "mnist", "seed": 1})
    replay.call("get", "/v1/datasets", query="?page_size=2")
    replay.call("get", "/v1/datasets", query="?view=summary&order_by=left")
    replay.call("get", "/v1/datasets", query="?q=flu&tag=team:north")
    replay.call("get", "/v1/datasets", query="?page_size=-2")
    for method, path in (("get", ""), ("delete", ""), ("get", "/import"), ("get", "/budget"),
                         ("get", "/budget/history"), ("get", "/ledger")):
        replay.call(method, "/v1/datasets/{id}" + path, id="nowhere")


def charges(replay):
    body = None
    for name, body in replay.examples("post", "/v1/charges"):
        replay.call("post", "/v1/charges:estimate", body)
        status, charge = replay.call("post", "/v1/charges", body)
        if status != 201:
            replay.failures.append(f"the example {name} of a charge is refused: {charge}")
            continue
        for _, block in replay.examples("post", "/v1/charges/{id}/blocks"):
            for expected in (201, 409):
                status, _ = replay.call("post", "/v1/charges/{id}/blocks", block, id=charge["id"])
                if status != expected:
                    replay.failures.append(f"a block of {name}: {status}")
        replay.call("get", "/v1/charges/{id}", id=charge["id"])
        for expected in (200, 409):
            status, _ = replay.call("post", "/v1/charges/{id}:settle", id=charge["id"])
            if status != expected:
                replay.failures.append(f"the end of {name}: {status}")
    for _, estimated in replay.examples("post", "/v1/charges:estimate"):
        replay.call("post", "/v1/charges:estimate", estimated)
    replay.call("post", "/v1/charges", {**body, "unit": "person"})
    replay.call("post", "/v1/charges:estimate", {**body, "dataset": "nowhere"})
    for query in ("?dataset=mnist&page_size=1", "?state=OPEN,LAPSED&order=asc", "?state=DONE"):
        replay.call("get", "/v1/charges", query=query)
    replay.call("get", "/v1/charges/{id}", id="chg_" + UNKNOWN)
    replay.call("post", "/v1/charges/{id}:settle", id="chg_" + UNKNOWN)
    replay.call("post", "/v1/charges/{id}/blocks", {"block": 1}, id="chg_" + UNKNOWN)


def jobs(replay):
    finished = []
    replay.call("get", "/v1/job-schema", query="?dataset=mnist")
    replay.call("get", "/v1/job-schema", query="?dataset=nowhere")
    for _, body in replay.examples("post", "/v1/jobs:estimate"):
        replay.call("post", "/v1/jobs:estimate", body)
    for name, body in replay.examples("post", "/v1/jobs"):
        replay.call("post", "/v1/jobs:estimate", body)
        status, job = replay.call("post", "/v1/jobs", body)
        if status not in (201, 409):
            replay.failures.append(f"the example {name} of a job is refused: {job}")
        while status == 201 and job["state"] in ("QUEUED", "RUNNING"):
            _, job = replay.call("get", "/v1/jobs/{id}", query="?wait=10", id=job["id"])
        finished += [job] if status == 201 else []
    replay.call("get", "/v1/jobs", query="?state=SUCCEEDED&page_size=1")
    replay.call("get", "/v1/jobs", query="?state=DONE")
    replay.call("get", "/v1/jobs", query="?view=summary&order_by=epsilon&order=asc")
    replay.call("get", "/v1/status")
    replay.call("get", "/v1/jobs/{id}", id="job_" + UNKNOWN)
    replay.call("post", "/v1/jobs", {"dataset": "nowhere"})
    events = "/v1/jobs/{id}/events"
    last = replay.follow(events, id=finished[0]["id"], query="?histograms=1")
    status, _ = replay.call("get", events, id=finished[0]["id"], headers={"Last-Event-ID": last})
    if status != 204:
        replay.failures.append(f"behind the end of a job: {status}")
    replay.follow("/v1/events")
    for query in ("?histograms=2", "?histograms=x"):
        replay.call("get", events, id=finished[0]["id"], query=query)
    replay.call("get", events, id="job_" + UNKNOWN)
    replay.follow("/v1/events", query="?dataset=mnist")
    for query in ("?dataset=NO", "?dataset=nowhere"):
        replay.call("get", "/v1/events", query=query)
    long = {"dataset": "mnist-test", "model": {"preset": "linear"}, "algorithm": {"name": "sgd"},
            "steps": 10000000}
    _, job = replay.call("post", "/v1/jobs", long)
    replay.call("post", "/v1/jobs/{id}:cancel", id=job["id"])
    while replay.call("get", "/v1/jobs/{id}", id=job["id"])[1]["state"] != "CANCELLED":
        time.sleep(0.05)
    replay.call("post", "/v1/jobs/{id}:cancel", id=finished[0]["id"])
    replay.rename("/v1/jobs/{id}", finished[0]["id"])
    for query in ("", "?page_size=2&order=desc", "?order=sideways"):
        replay.call("get", "/v1/jobs/{id}/logs", query=query, id=finished[0]["id"])
    replay.call("get", "/v1/jobs/{id}/logs", id="job_" + UNKNOWN)
    replay.call("get", "/v1/jobs", query="?q=baseline&tag=team:north")
    replay.call("delete", "/v1/jobs/{id}", id=finished[0]["id"])
    replay.call("delete", "/v1/jobs/{id}", id=job["id"])
    replay.call("delete", "/v1/jobs/{id}", id=job["id"])
    return [job["model"] for job in finished if job["model"]]


def sweeps(replay):
    """Reserves, cancels, awaits and deletes every example."""
    for _, body in replay.examples("post", "/v1/sweeps:estimate"):
        replay.call("post", "/v1/sweeps:estimate", body)
    for name, body in replay.examples("post", "/v1/sweeps"):
        replay.call("post", "/v1/sweeps:estimate", body)
        status, sweep = replay.call("post", "/v1/sweeps", body)
        if status != 201:
            replay.failures.append(f"the example {name} of a sweep is refused: {sweep}")
            continue
        replay.call("get", "/v1/sweeps", query="?dataset=mnist&page_size=1")
        replay.call("post", "/v1/sweeps/{id}:cancel", id=sweep["id"])
        while sweep["state"] == "ACTIVE":
            time.sleep(0.2)
            _, sweep = replay.call("get", "/v1/sweeps/{id}", id=sweep["id"])
        for run in sweep["runs"]:
            if run["model"]:
                replay.call("delete", "/v1/models/{id}", id=run["model"])
        replay.call("delete", "/v1/sweeps/{id}", id=sweep["id"])
        replay.call("get", "/v1/sweeps/{id}", id=sweep["id"])
    for wrong in ({}, {**body, "random": {}}, {**body, "job": {**body["job"], "dataset": "nowhere"}}):
        replay.call("post", "/v1/sweeps", wrong)
        replay.call("post", "/v1/sweeps:estimate", wrong)
    replay.call("get", "/v1/sweeps", query="?order=sideways")


def statistics(replay):
    """Requests, awaits and reads every example."""
    for _, body in replay.examples("post", "/v1/statistics:estimate"):
        replay.call("post", "/v1/statistics:estimate", body)
    for name, body in replay.examples("post", "/v1/statistics"):
        replay.call("post", "/v1/statistics:estimate", body)
        status, asked = replay.call("post", "/v1/statistics", body)
        if status != 201:
            replay.failures.append(f"the example {name} of statistics is refused: {asked}")
            continue
        while asked["state"] == "RUNNING":
            time.sleep(0.2)
            _, asked = replay.call("get", "/v1/statistics/{id}", id=asked["id"])
        if asked["state"] != "SUCCEEDED" or len(asked["answers"]) != len(body["statistics"]):
            replay.failures.append(f"the example {name} of statistics has no answers: {asked}")
    for query in ("", "?dataset=mnist&order=desc&page_size=1", "?dataset=NO", "?order=sideways"):
        replay.call("get", "/v1/statistics", query=query)
    replay.call("get", "/v1/statistics/{id}", id="sta_" + UNKNOWN)
    for body in ({"dataset": "mnist"}, {**body, "dataset": "nowhere"}, {**body, "dataset": "mnist-test"}):
        replay.call("post", "/v1/statistics", body)
        replay.call("post", "/v1/statistics:estimate", body)


def files(replay):
    """A safetensors file of one number, as public weights."""
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    content = struct.pack("<Q", len(head)) + head + struct.pack("<f", 1.5)
    status, file = replay.call("post", "/v1/files", content, query="?note=made%20up")
    if status != 201:
        replay.failures.append(f"a file of public weights is refused: {file}")
        return
    replay.call("post", "/v1/files", b"no tensors")
    replay.call("get", "/v1/files")
    for _ in range(2):
        replay.call("get", "/v1/files/{id}", id=file["id"])
        replay.call("delete", "/v1/files/{id}", id=file["id"])


def evaluations(replay, model):
    """Requests, awaits and reads every example, and some that are refused."""
    evaluate, get = "/v1/models/{id}:evaluate", "/v1/evaluations/{id}"
    for name, body in replay.examples("post", evaluate):
        status, asked = replay.call("post", evaluate, body, id=model)
        if status == 400 and name == "holdout":
            continue  # the example of a dataset has no holdout
        while status < 400 and asked["state"] == "RUNNING":
            time.sleep(0.2)
            status, asked = replay.call("get", get, id=asked["id"])
        if status >= 400 or asked["state"] != "SUCCEEDED":
            replay.failures.append(f"the example {name} of an evaluation has no result: {asked}")
    estimate = "/v1/models/{id}:estimate"
    for _, body in [*replay.examples("post", evaluate), *replay.examples("post", estimate)]:
        replay.call("post", estimate, body, id=model)
    for body in ({}, {"evaluation": "mnist"}, {"evaluation": "nowhere"}):
        replay.call("post", evaluate, body, id=model)
        replay.call("post", estimate, body, id=model)
    replay.call("post", estimate, body, id="mdl_" + UNKNOWN)
    replay.call("post", evaluate, body, id="mdl_" + UNKNOWN)
    for query in ("", f"?model={model}&order=desc&page_size=1", "?model=x", "?order=sideways"):
        replay.call("get", "/v1/evaluations", query=query)
    replay.call("get", get, id="mev_" + UNKNOWN)


def models(replay, published):
    replay.call("get", "/v1/models", query="?page_size=1")
    for model in published:
        replay.call("get", "/v1/models/{id}", id=model)
        replay.call("get", "/v1/models/{id}/content", id=model)
    model = published[0]
    content = "/v1/models/{id}/content"
    replay.call("get", content, id=model, headers={"Range": "bytes=0-7"})
    replay.call("get", content, id=model, headers={"Range": "bytes=999999999-"})
    replay.call("get", content, id="mdl_" + UNKNOWN)
    for _, body in replay.examples("post", "/v1/models/{id}/predict"):
        replay.call("post", "/v1/models/{id}/predict", body, id=model)
    replay.call("post", "/v1/models/{id}/predict", {"inputs": [[0] * 784]}, id=model)
    evaluations(replay, model)
    replay.rename("/v1/models/{id}", model)
    replay.call("get", "/v1/models", query="?q=march&tag=team:north")
    replay.call("delete", "/v1/models/{id}", id=published[-1])
    replay.call("delete", "/v1/models/{id}", id=published[-1])


def predict_files(replay):
    """Trains on a table of its own: the examples of jobs read none."""
    table = {"id": "rows", "format": "csv", "task": "classification", "privacy": "public",
             "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]},
                         {"name": "y", "kind": "label", "values": ["a", "b"]}]}
    replay.call("post", "/v1/datasets", table)
    replay.call("put", "/v1/datasets/{id}/files/{name}", b"0,a\n1,b\n", id="rows", name="data")
    replay.call("post", "/v1/datasets/{id}:import", id="rows")
    while replay.call("get", "/v1/datasets/{id}", id="rows")[1]["state"] == "IMPORTING":
        time.sleep(0.05)
    _, job = replay.call("post", "/v1/jobs", {"dataset": "rows", "model": {"preset": "linear"},
                                              "algorithm": {"name": "sgd"}, "batch_size": 2, "steps": 2})
    while job["state"] in ("QUEUED", "RUNNING"):
        _, job = replay.call("get", "/v1/jobs/{id}", query="?wait=10", id=job["id"])
    file = "/v1/models/{id}:predict-file"
    _, answer = replay.call("post", file, b"0\n1\n", id=job["model"])
    if answer.count(b"\n") != 3:
        replay.failures.append(f"a file of two rows is answered {answer}")
    replay.call("post", file, b"0\nmany\n", id=job["model"])
    replay.call("post", file, b"0\n", id="mdl_" + UNKNOWN)


def fetches(replay):
    """Uses its own dataset, so that nothing waits for a fetch that never ends."""
    names = {"id": "fetched", "name": "data"}
    declared = next(body for _, body in replay.examples("post", "/v1/datasets")
                    if body["id"] == "adult")
    columns = [{"default": column["values"][0], **column} if "values" in column else column
               for column in declared["columns"]]
    replay.call("post", "/v1/datasets", {**declared, "id": "fetched", "columns": columns})
    fetch = "/v1/datasets/{id}/files/{name}"
    replay.call("post", fetch + ":fetch", {"url": "https://hooks.invalid/data"}, **names)
    replay.call("post", fetch + ":fetch", {"url": "https://10.0.0.1/data"}, **names)
    replay.call("get", fetch + "/fetch", **names)
    replay.call("delete", fetch + "/fetch", **names)
    for method in ("get", "delete"):
        replay.call(method, fetch + "/fetch", id="nowhere", name="data")


def webhooks(replay):
    for name, body in replay.examples("post", "/v1/webhooks"):
        status, hook = replay.call("post", "/v1/webhooks", body)
        if status != 201:
            replay.failures.append(f"the example {name} of a webhook is refused: {hook}")
    _, hook = replay.call("post", "/v1/webhooks",
                          {"url": "https://hooks.invalid/", "events": ["job.failed"]})
    replay.call("post", "/v1/webhooks", {"url": "ftp://example.com/", "events": []})
    replay.call("get", "/v1/webhooks")
    for identity in (hook["id"], "whk_" + UNKNOWN):
        replay.call("get", "/v1/webhooks/{id}", id=identity)
        replay.call("post", "/v1/webhooks/{id}:test", id=identity)
        replay.call("get", "/v1/webhooks/{id}/deliveries", id=identity)
        replay.call("post", "/v1/webhooks/{id}:rotate", id=identity)
        replay.call("delete", "/v1/webhooks/{id}", id=identity)
    for hook in replay.call("get", "/v1/webhooks")[1]["webhooks"]:
        replay.call("delete", "/v1/webhooks/{id}", id=hook["id"])


def rest(replay):
    for path in ("/v1/ledger/head", "/v1/algorithms", "/openapi.yaml", "/v1/version",
                 "/livez", "/readyz", "/metrics", "/", "/docs"):
        replay.call("get", path)
    replay.call("get", "/readyz", query="?verbose")
    for query in ("?view=summary&order=desc&page_size=1", "?view=short", "?order=sideways"):
        replay.call("get", "/v1/datasets/{id}/ledger", id="mnist", query=query)
    for query in ("?points=1", "?points=0"):
        replay.call("get", "/v1/datasets/{id}/budget/history", id="mnist", query=query)
    for query in ("", "?order=desc&page_size=1&result=ok", "?object=mnist&action=dataset.create", "?result=good"):
        replay.call("get", "/v1/audit", query=query)
    replay.call("get", "/v1/audit", headers={"Accept": "application/x-ndjson"})
    page = replay.call("get", "/ui/")[1].decode()
    version = page.split('href="/ui/')[1].split("/")[0]
    replay.call("get", "/ui/{id}", id="jobs", query="?state=RUNNING")
    replay.call("get", "/ui/{id}", id="nothing")
    replay.call("get", "/ui/{id}/{name}", id="datasets", name="mnist")
    for name in ("app.js", "look.css", "mark.svg", "openapi.yaml", "nothing.js"):
        replay.call("get", "/ui/{id}/{name}", id=version, name=name)
    replay.call("get", "/v1/datasets/{id}/ledger", id="mnist",
                headers={"Accept": "application/x-ndjson"})
    for _, regrant in replay.examples("post", "/v1/datasets/{id}:regrant"):
        replay.call("post", "/v1/datasets/{id}:regrant", regrant, id="mnist")
    replay.call("delete", "/v1/datasets/{id}", id="mnist")
    replay.call("get", "/v1/datasets/{id}", id="mnist")


def keys(replay, data_dir):
    """Creates an operator's key, then calls all operations of keys. Runs last, because afterwards every request
    needs a key."""
    operator = {"owner": "op", "project": "default", "role": "operator"}
    made = replay.call("post", "/v1/keys", operator)[1]
    replay.call("get", "/v1/keys")
    admin = {"Authorization": f"Bearer {made['key']}"}
    makers = {"analyst": key_of(data_dir, "dana", "data_owner"), "operator": admin}
    ids = []
    for _, body in replay.examples("post", "/v1/keys"):
        replay.headers = makers[body["role"]]
        ids.append(replay.call("post", "/v1/keys", body)[1]["id"])
    replay.call("get", "/v1/keys/{id}", id=ids[0])
    replay.headers = makers["analyst"]
    replay.call("post", "/v1/keys/{id}:rotate", id=ids[0])
    replay.headers = admin
    replay.call("get", "/v1/keys", query="?page_size=1")
    replay.call("post", "/v1/keys/{id}:revoke", id=ids[1])
    replay.call("get", "/v1/keys/{id}", id=UNKNOWN)
    replay.call("get", "/v1/datasets/{id}/ledger", id="mnist")
    replay.headers = {}
    for _, body in replay.examples("post", "/v1/session"):
        replay.call("post", "/v1/session", body)
    replay.call("post", "/v1/session", {"key": made["key"]})
    replay.call("get", "/v1/session")
    replay.call("get", "/v1/session", headers={"X-Forwarded-User": "ops"})
    replay.call("delete", "/v1/session", headers={"Sec-Fetch-Site": "same-origin"})


def key_of(data_dir, owner, role):
    """Creates a key on the host; only such keys may approve."""
    made = subprocess.run([os.environ["EPSILOND"], "key", "create", "--owner", owner, "--role", role,
                           "--project", "default", "--data-dir", data_dir], check=True, capture_output=True, text=True)
    return {"Authorization": "Bearer " + made.stdout.split()[0]}


def grants(replay, data_dir):
    """Uses the keys of two people: one proposes, the other decides."""
    owner, officer = key_of(data_dir, "ana", "data_owner"), key_of(data_dir, "bob", "privacy_officer")
    declaration = {"format": "libsvm", "task": "regression", "target": {"range": [0, 1]}, "features": {"count": 4}}
    for id, privacy, verb in (("asked", {"epsilon": 1, "delta": 1e-5}, "approve"), ("asked-too", "public", "reject")):
        replay.headers = owner
        _, made = replay.call("post", "/v1/datasets", {**declaration, "id": id, "privacy": privacy})
        grant = made["grant"]["id"]
        replay.call("get", "/v1/datasets/{id}/budget", id=id)
        replay.call("get", "/v1/grants/{id}", id=grant)
        for _, body in replay.examples("post", "/v1/grants/{id}:" + verb):
            replay.call("post", "/v1/grants/{id}:" + verb, body, id=grant)
            replay.headers = officer
            replay.call("post", "/v1/grants/{id}:" + verb, {"reason": ""}, id=grant)
            replay.call("post", "/v1/grants/{id}:" + verb, body, id="grt_" + UNKNOWN)
            replay.call("post", "/v1/grants/{id}:" + verb, body, id=grant)
            replay.call("post", "/v1/grants/{id}:" + verb, {"reason": "another"}, id=grant)
    for query in ("", "?state=PENDING,APPROVED&order=asc", "?state=OPEN"):
        replay.call("get", "/v1/grants", query=query)
    replay.headers = owner
    analyst = {"owner": "cy", "project": "default", "role": "analyst", "policy": {"max_epsilon_per_job": 2}}
    key = replay.call("post", "/v1/keys", analyst)[1]["id"]
    for _, body in replay.examples("post", "/v1/keys/{id}:policy"):
        replay.call("post", "/v1/keys/{id}:policy", body, id=key)
    for verb in ("approve", "reject"):
        path = "/v1/keys/{id}:" + verb
        for _, body in replay.examples("post", path):
            replay.headers = owner
            replay.call("post", "/v1/keys/{id}:policy", {"policy": body.get("policy", {})}, id=key)
            replay.headers = officer
            for _ in range(2):  # the second time nothing waits for a decision
                replay.call("post", path, body, id=key)
        replay.headers = owner
        replay.call("post", "/v1/keys/{id}:policy", {"policy": {"max_epsilon_per_job": 1}}, id=key)
    replay.call("get", "/v1/datasets", query="?view=summary")


# Operations that succeed only on a restored backup; tests/e2e/test_restored_backup.c calls them.
ELSEWHERE = {("post", "/v1/datasets/{id}:regrant")}


def every_operation_succeeded(replay):
    for template, operations in replay.document["paths"].items():
        for method in METHODS:
            if method in operations and (method, template) not in replay.succeeded | ELSEWHERE:
                replay.failures.append(f"{method.upper()} {template} never succeeded")


def main(base, data_dir):
    replay = Replay(base)
    datasets(replay)
    charges(replay)
    sweeps(replay)
    published = jobs(replay)
    statistics(replay)
    files(replay)
    models(replay, published)
    predict_files(replay)
    fetches(replay)
    webhooks(replay)
    rest(replay)
    keys(replay, data_dir)
    grants(replay, data_dir)
    every_operation_succeeded(replay)
    for failure in replay.failures:
        print(failure, file=sys.stderr)
    return 1 if replay.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
