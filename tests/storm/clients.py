"""Clients that use the service as people do and retry: a request that got no answer, or 429, 500, 503 or
a conflict, is sent again, with the same Idempotency-Key if the route has one."""

import hashlib
import http.client
import json
import random
import threading
import time

TIMEOUT_S = 15  # for one try
PATIENCE_S = 300  # for all tries of one request: no fault lasts half as long
OPEN_JOBS_MAX = 40
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
COLUMNS = [{"name": "x", "kind": "numeric", "range": [-1, 1]}, {"name": "y", "kind": "numeric", "range": [-1, 1]},
           {"name": "class", "kind": "label", "values": ["no", "yes"]}]
SCHEMA = {"format": "csv", "task": "classification", "header": True, "columns": COLUMNS}
ROWS = 300
LONG = {"steps": 3000000, "privacy": {"noise_multiplier": 60000}}


class Answer:
    def __init__(self, status, headers, content, front):
        self.status, self.headers, self.content, self.front = status, headers, content, front
        is_json = "json" in headers.get("content-type", "")
        self.body = json.loads(content) if is_json else None
        self.code = self.body.get("code") if is_json and status >= 400 else None
        self.repeated = False  # whether an earlier try may have done the work


class Client:
    """A client with its keys. `fronts` are the links to the daemons that answer."""

    def __init__(self, name, fronts, record, keys, seed):
        self.name, self.fronts, self.record, self.keys = name, fronts, record, keys
        self.random = random.Random(f"{seed} {name}")
        self.number = 0

    def once(self, who, method, path, body=None, headers=None):
        front = self.random.choice(self.fronts)
        headers = {"Authorization": f"Bearer {self.keys.get(who, who)}", **(headers or {})}
        if isinstance(body, dict):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            fields = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, fields, reply.read(), front)
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def ask(self, who, method, path, body=None, headers=None, expected=()):
        """Returns the answer if it is an expected one. Otherwise records a fault and returns None. A body that
        is a function is created for each try."""
        latest, tries = time.monotonic() + PATIENCE_S, 0
        while time.monotonic() < latest:
            answer = self.once(who, method, path, body(tries) if callable(body) else body, headers)
            tries += 1
            if answer is not None and not self.is_to_repeat(answer, path):
                answer.repeated = tries > 1
                self.record.count(f"{method} {answer.status} {answer.code or ''}".strip())
                if answer.status in expected:
                    return answer
                self.record.fault(f"{method} {path} was answered {answer.status} {answer.content[:300]!r}")
                return None
            self.record.count(f"{method} {f'{answer.status} {answer.code}' if answer else 'nothing'}")
            time.sleep(self.random.uniform(0.1, 0.5))
        self.record.fault(f"{method} {path} was not answered for {PATIENCE_S} s")
        return None

    def is_to_repeat(self, answer, path):
        """429, 503 and some 409 conflicts ask for a retry. 500 is retried too; whether it was legitimate is
        judged at the end."""
        if answer.status == 500:
            self.failed(answer, path)
        return answer.status in (429, 500, 503) or answer.code == "conflict"

    def failed(self, answer, path):
        self.record.failed(answer.front.daemon, f"{path} was answered {answer.content[:200]!r}")

    def key(self):
        self.number += 1
        return {"Idempotency-Key": f"{self.name}-{self.number}"}

    # --- datasets, by ana, and olga, who approves ---

    def make_dataset(self):
        self.number += 1
        name = f"{self.name}-{self.number}"
        epsilon = self.random.choice([0.5, 2, 8])
        declared = self.ask("ana", "POST", "/v1/datasets", {"id": name, **SCHEMA, "privacy": {
            "epsilon": epsilon, "delta": 1e-5}}, self.key(), (201,))
        if declared is None:
            return
        self.record.note("datasets", name, state="CREATED", taken=True, epsilon=epsilon)
        self.approve(name, declared.body["grant"]["id"])
        self.upload(name)
        self.import_dataset(name)
        self.record.give_back("datasets", {"id": name})

    def approve(self, name, grant):
        approved = self.ask("olga", "POST", f"/v1/grants/{grant}:approve", {"reason": "storm"}, None, (200,))
        if approved is not None:
            self.record.note("grants", grant, dataset=name, state=approved.body["state"])

    def rows(self):
        lines = [f"{self.random.uniform(-1, 1):.6f},{self.random.uniform(-1, 1):.6f},"
                 f"{self.random.choice(['no', 'yes'])}" for _ in range(ROWS)]
        return ("x,y,class\n" + "\n".join(lines) + "\n").encode()

    def upload(self, name):
        sent = self.ask("ana", "PUT", f"/v1/datasets/{name}/files/data", self.rows(),
                        {"Content-Type": "application/octet-stream"}, (201, 204))
        if sent is not None:
            self.record.note("datasets", name, uploaded=True)

    def import_dataset(self, name):
        """If the worker of an import dies, the import may be requested again; its file still exists."""
        latest = time.monotonic() + PATIENCE_S
        while time.monotonic() < latest:
            begun = self.ask("ana", "POST", f"/v1/datasets/{name}:import", None, None, (200, 202, 409, 422))
            if begun is None:
                return
            if begun.status == 422:  # legitimate only from a daemon that has just lost its database
                self.failed(begun, f"the import of {name}")
                time.sleep(1)
                continue
            if begun.status == 409 and begun.code != "dataset_busy":
                self.record.fault(f"the import of {name} was refused: {begun.content[:300]!r}")
                return
            if self.await_import(name, latest):
                self.record.note("datasets", name, state="READY")
                return
        self.record.fault(f"the import of {name} did not end within {PATIENCE_S} s")

    def await_import(self, name, latest):
        while time.monotonic() < latest:
            read = self.ask("ana", "GET", f"/v1/datasets/{name}", None, None, (200,))
            if read is None or read.body["state"] != "IMPORTING":
                return read is not None and read.body["state"] == "READY"
            time.sleep(0.5)
        return False

    def delete_dataset(self):
        if sum(thing["state"] == "READY" for thing in self.record.all("datasets")) < 6:
            return
        self.delete("ana", "datasets", lambda thing: thing["state"] == "READY", (204,))

    def delete(self, who, kind, wanted, expected):
        """Deletes a thing that another client may be using. A second deletion is 404; 204 for a dataset."""
        thing = self.record.take(kind, self.random, lambda one: not one.get("deleting") and wanted(one))
        if thing is None:
            return
        self.record.note(kind, thing["id"], deleting=True)
        gone = self.ask(who, "DELETE", f"/v1/{kind}/{thing['id']}", None, None, (*expected, 404, 409))
        if gone is not None and gone.status in expected:
            self.record.note(kind, thing["id"], state="DELETED", deleted=True)
        elif gone is not None and gone.status == 404 and not gone.repeated:
            self.record.fault(f"{kind} {thing['id']} was gone before it was deleted")
        elif gone is not None and gone.status == 404:
            self.record.note(kind, thing["id"], state="DELETED", deleted=True)
        elif gone is not None and not gone.repeated:
            self.record.note(kind, thing["id"], deleting=False)
        self.record.give_back(kind, thing)

    # --- jobs, by ann ---

    def dataset(self):
        ready = [thing for thing in self.record.all("datasets")
                 if thing["state"] == "READY" and not thing.get("deleting")]
        return self.random.choice(ready)["id"] if ready else None

    def create(self, kind, body):
        """The answer is 201 or a refusal: a budget is used up, or a dataset is being deleted. Sometimes sends
        the request again with the same key, which must return the same thing."""
        headers = self.key()
        made = self.ask("ann", "POST", f"/v1/{kind}", body, headers, (201, 404, 409, 410))
        if made is None or made.status != 201:
            return None
        self.record.note(kind, made.body["id"], key=headers["Idempotency-Key"], request=body, dataset=self.named(body))
        if self.random.random() < 0.1:
            again = self.ask("ann", "POST", f"/v1/{kind}", body, headers, (201, 410))
            if again is not None and again.status == 201 and again.body["id"] != made.body["id"]:
                self.record.fault(f"{headers} made {made.body['id']} and {again.body['id']}")
        return made.body

    @staticmethod
    def named(body):
        return body.get("dataset") or body["job"]["dataset"]

    def is_full(self):
        return sum(thing.get("state") not in (*ENDED, "DELETED") for thing in self.record.all("jobs")) >= OPEN_JOBS_MAX

    def submit(self):
        name = self.dataset()
        if name is None or self.is_full():
            self.look()
            return
        body = {"dataset": name, "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "batch_size": 50,
                "steps": self.random.choice([20, 200, 2000]),
                "privacy": {"noise_multiplier": self.random.choice([3, 20, 200])}}
        if self.random.random() < 0.15:
            body.update(LONG)
        self.create("jobs", body)

    def measure(self):
        name = self.dataset()
        if name is not None:
            self.create("statistics", {"dataset": name, "statistics": [{"kind": "histogram", "column": "class"}],
                                       "privacy": {"epsilon": 0.02}})

    def sweep(self):
        name = self.dataset()
        if name is None or self.is_full():
            return
        job = {"dataset": name, "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "batch_size": 50,
               "privacy": {"noise_multiplier": 60}}
        made = self.create("sweeps", {"job": job, "grid": {"/steps": [20, 40]}})
        if made is not None:
            for run in made["runs"]:
                self.record.note("jobs", run["job"], dataset=name)

    def look(self):
        """Checks that the end of a job, once shown, does not change."""
        thing = self.record.take("jobs", self.random, lambda job: not job.get("deleting"))
        if thing is None:
            return
        read = self.ask("ann", "GET", f"/v1/jobs/{thing['id']}", None, None, (200,))
        if read is not None:
            if thing.get("state") in ENDED and read.body["state"] != thing["state"]:
                self.record.fault(f"job {thing['id']} was {thing['state']} and is {read.body['state']}")
            self.record.note("jobs", thing["id"], state=read.body["state"],
                             steps=max(thing.get("steps", 0), read.body["privacy"]["authorised_steps"]))
            if read.body["model"] is not None:
                self.record.note("models", read.body["model"], job=thing["id"])
                self.record.note("jobs", thing["id"], model=read.body["model"])
        self.record.give_back("jobs", thing)

    def cancel(self):
        thing = self.record.take("jobs", self.random, lambda job: job.get("state", "QUEUED") not in ENDED
                                 and not job.get("deleting"))
        if thing is None:
            return
        asked = self.ask("ann", "POST", f"/v1/jobs/{thing['id']}:cancel", None, None, (200, 409))
        if asked is not None and asked.status == 409 and asked.code != "job_terminal":
            self.record.fault(f"cancelling {thing['id']} was refused: {asked.content[:300]!r}")
        if asked is not None and asked.status == 200:
            self.record.note("jobs", thing["id"], state=asked.body["state"], cancelled=asked.body["state"])
        self.record.give_back("jobs", thing)

    def delete_job(self):
        models = {thing["id"]: thing for thing in self.record.all("models")}
        self.delete("ann", "jobs", lambda job: job.get("state") in ENDED and (
            job.get("model") is None or models[job["model"]].get("deleted")) and job.get("key"), (204,))

    # --- models ---

    def download(self):
        thing = self.record.take("models", self.random, lambda model: not model.get("deleting"))
        if thing is None:
            return
        got = self.ask("ann", "GET", f"/v1/models/{thing['id']}/content", None, None, (200,))
        if got is not None:
            digest = hashlib.sha256(got.content).hexdigest()
            if thing.get("sha256", digest) != digest:
                self.record.fault(f"model {thing['id']} had the content {thing['sha256']} and has {digest}")
            self.record.note("models", thing["id"], sha256=digest)
        self.record.give_back("models", thing)

    def delete_model(self):
        self.delete("ann", "models", lambda model: True, (204,))

    # --- charges, by ann ---

    def charge(self):
        name = self.dataset()
        if name is None:
            return
        made = self.create("charges", {"dataset": name, "engine": "storm", "unit": "record", "block_steps": 2,
                                       "lease_s": self.random.choice([30, 3600]), "mechanism": {
                                           "kind": "zcdp", "rho": self.random.choice([0.0002, 0.005]), "steps": 10,
                                           "neighbour": "zero_out"}})
        if made is None:
            return
        for block in range(1, self.random.randint(1, 5)):
            granted = self.ask("ann", "POST", f"/v1/charges/{made['id']}/blocks", {
                "block": block, "process": f"process-of-the-storm-{self.name}"}, self.key(), (201, 409))
            if granted is None or granted.status == 409:  # the lease has ended
                break
            self.record.note("charges", made["id"], blocks=block, steps=granted.body["last_step"])
            time.sleep(self.random.uniform(0, 0.5))
        if self.random.random() < 0.7:
            settled = self.ask("ann", "POST", f"/v1/charges/{made['id']}:settle", None, None, (200, 409))
            if settled is not None and settled.status == 200:
                self.record.note("charges", made["id"], state="SETTLED")

    # --- keys, by ana ---

    def make_key(self):
        self.number += 1
        made = self.ask("ana", "POST", "/v1/keys", lambda tries: {
            "owner": f"{self.name}.{self.number}.{tries}", "project": "default", "role": "analyst"}, None, (201,))
        if made is not None:
            self.record.note("keys", made.body["id"], key=made.body["key"], state="ACTIVE")

    def revoke(self):
        """Revokes a key. After the answer, no daemon accepts it for a request that changes something."""
        thing = self.record.take("keys", self.random, lambda key: key["state"] == "ACTIVE")
        if thing is None:
            return
        self.record.note("keys", thing["id"], state="UNKNOWN")
        gone = self.ask("ana", "POST", f"/v1/keys/{thing['id']}:revoke", None, None, (200,))
        if gone is not None:
            self.record.note("keys", thing["id"], state="REVOKED")
            self.number += 1
            self.ask(thing["key"], "POST", "/v1/jobs", {}, self.key(), (401,))
        self.record.give_back("keys", thing)

    def read_head(self):
        head = self.ask("olga", "GET", "/v1/ledger/head", None, None, (200,))
        if head is not None and head.body["seq"] > 0:
            self.record.note("heads", head.body["seq"], hash=head.body["hash"])


ANALYST = {Client.submit: 10, Client.look: 12, Client.cancel: 2, Client.download: 3, Client.delete_model: 1,
           Client.delete_job: 1, Client.charge: 3, Client.measure: 1, Client.sweep: 1, Client.read_head: 1}
OWNER = {Client.make_dataset: 2, Client.delete_dataset: 1, Client.make_key: 2, Client.revoke: 1, Client.read_head: 2}


class Crowd:
    """Threads that act as clients until they are stopped."""

    def __init__(self, clients):
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.live, args=(client, does), daemon=True)
                        for client, does in clients]
        for thread in self.threads:
            thread.start()

    def live(self, client, does):
        try:
            while not self.stopping.is_set():
                action = client.random.choices(list(does), list(does.values()))[0]
                action(client)
                time.sleep(client.random.uniform(0, 0.3))
        except Exception as error:  # a client that dies is a fault of the storm, and must be recorded
            client.record.fault(f"client {client.name} ended: {type(error).__name__} {error}")

    def stop(self, seconds):
        """Lets each client finish its current action; returns False if one does not finish."""
        self.stopping.set()
        latest = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0, latest - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)
