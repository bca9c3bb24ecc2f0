#!/usr/bin/env python3
"""Creates an archive of a data directory that an earlier daemon wrote, and of what that daemon showed.

  make.py EPSILOND ARCHIVE      EPSILOND: the daemon of that version; ARCHIVE: schemaN.tar.gz

It contains a private and a public dataset, and one of persons; jobs that succeeded and their models, one
that was cancelled while it ran, one that was queued when the daemon was stopped; and expected.json."""

import json
import os
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from daemon import Daemon  # noqa: E402

COLUMNS = [{"name": "x", "kind": "numeric", "range": [-1, 1]},
           {"name": "y", "kind": "numeric", "range": [-1, 1]},
           {"name": "class", "kind": "label", "values": ["no", "yes"]}]
SCHEMA = {"format": "csv", "task": "classification", "header": True, "columns": COLUMNS}
LEFT_OUT = ("ballast", "lock", "scratch")


def points(salt, whose=None):
    """Rows of points; `whose` maps a row's number to the person in its first column."""
    rows = [f"{'person,' if whose else ''}x,y,class"]
    for i in range(400):
        x, y = ((i * 37 + salt) % 200) / 100 - 1, ((i * 53 + salt) % 200) / 100 - 1
        rows.append(f"{f'p{whose(i)},' if whose else ''}{x:.2f},{y:.2f},{'yes' if x + y > 0 else 'no'}")
    return {"data": "\n".join(rows).encode() + b"\n"}


def job(steps, noise, **more):
    return {"dataset": "points", "evaluation": "open", "model": {"preset": "linear"},
            "algorithm": {"name": "dpsgd"}, "batch_size": 50, "steps": steps,
            "privacy": {"noise_multiplier": noise}, **more}


def wait(daemon, id_, holds):
    while not holds(shown := daemon.get(f"/v1/jobs/{id_}")):
        time.sleep(0.1)
    return shown


def predict(daemon, model):
    return daemon.call("POST", f"/v1/models/{model}/predict", json.dumps({"inputs": [[0.25, -0.5]]}).encode(),
                       {"Content-Type": "application/json"})["outputs"][0]


def people(daemon):
    """Two hundred persons with one to three rows each, and the result of a job on them."""
    columns = [{"name": "person", "kind": "privacy_id"}, *COLUMNS]
    daemon.register("people", {**SCHEMA, "columns": columns}, points(3, lambda i: i // 2 + i % 3 // 2), {"epsilon": 2, "delta": 1e-5})
    done = daemon.post("/v1/jobs", job(100, 20.0, dataset="people", rows_per_person=2))["id"]
    done = wait(daemon, done, lambda shown: shown["end_time"])
    return {"done": done["id"], "model": done["model"], "prediction": predict(daemon, done["model"]),
            "epsilon_spent": daemon.get("/v1/datasets/people/budget")["epsilon_spent"]}


def live(daemon):
    """The data that an upgrade must read correctly."""
    daemon.register("points", SCHEMA, points(1), {"epsilon": 4, "delta": 1e-5})
    daemon.register("open", SCHEMA, points(2), "public")
    persons = people(daemon)
    done = daemon.post("/v1/jobs", job(200, 20.0))["id"]
    done = wait(daemon, done, lambda shown: shown["end_time"])
    cancelled = daemon.post("/v1/jobs", job(10000000, 30000.0))["id"]
    wait(daemon, cancelled, lambda shown: shown["privacy"]["authorised_steps"] > 0)
    running = daemon.post("/v1/jobs", job(10000000, 30000.0))["id"]
    queued = daemon.post("/v1/jobs", job(100, 50.0))["id"]
    daemon.call("POST", f"/v1/jobs/{cancelled}:cancel")
    wait(daemon, running, lambda shown: shown["privacy"]["authorised_steps"] > 0)
    return {"done": done["id"], "model": done["model"], "cancelled": cancelled, "queued": queued,
            "running": running, "prediction": predict(daemon, done["model"]), "people": persons}


def pack(data, archive, expected):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as told, tarfile.open(archive, "w:gz") as tar:
        json.dump(expected, told, indent=1)
        told.flush()
        for name in sorted(os.listdir(data)):
            if name not in LEFT_OUT:
                tar.add(os.path.join(data, name), arcname=f"data/{name}", filter=anonymous)
        tar.add(told.name, arcname="expected.json", filter=anonymous)


def anonymous(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main():
    binary, archive = sys.argv[1:]
    with Daemon(binary, "--workers", "1", "--drain-timeout", "0") as daemon:
        expected = live(daemon)
        expected["head"] = daemon.get("/v1/ledger/head")
        expected["budget"] = {name: daemon.get("/v1/datasets/points/budget")[name]
                              for name in ("epsilon", "delta", "epsilon_spent")}
        daemon.process.terminate()
        daemon.process.wait()
        pack(os.path.join(daemon.directory, "data"), archive, expected)


main()
