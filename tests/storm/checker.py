"""Compares what was acknowledged with what the service says after the storm. It shares no code with the
service: it reads by HTTP and SQL, and adds up the budgets itself."""

import concurrent.futures
import hashlib
import json
import math
from fractions import Fraction

PAGE, AT_ONCE, UNIT, DOUBLE = 1000, 8, 2 ** 40, 2 ** 53
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


class Checker:
    def __init__(self, client, record, postgres):
        self.client, self.record, self.postgres = client, record, postgres
        self.complaints = []

    def complain(self, text):
        self.complaints.append(text)

    def get(self, who, path):
        """Sends a GET to either daemon; returns None if no answer comes."""
        return self.client.ask(who, "GET", path, None, None, (200, 401, 404))

    def check(self):
        """Returns a list of missing and wrong things; empty if all is well."""
        self.read_ledger()
        for kind, one in (("datasets", self.dataset), ("grants", self.grant), ("jobs", self.job),
                          ("sweeps", self.sweep), ("statistics", self.statistics), ("models", self.model),
                          ("charges", self.charge), ("keys", self.key), ("heads", self.head)):
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(one, self.record.all(kind)))
        for dataset in self.budgets:
            self.budget(dataset)
        return self.complaints

    # --- the ledger, as rows ---

    def read_ledger(self):
        rows = self.postgres.ask("SELECT seq,kind,coalesce(dataset,''),coalesce(job,''),epoch,meta,encode(prev,'hex'),"
                                 "encode(hash,'hex') FROM ledger ORDER BY seq")
        self.entries = [dict(zip(("seq", "kind", "dataset", "job", "epoch", "meta", "prev", "hash"), row))
                        for row in rows]
        self.of_job, self.budgets, self.hashes = {}, [], {}
        before = "00" * 32
        for number, entry in enumerate(self.entries, 1):
            entry["meta"] = json.loads(entry["meta"])
            if int(entry["seq"]) != number or entry["prev"] != before:
                self.complain(f"entry {entry['seq']} of the ledger does not follow the one before")
            before = entry["hash"]
            self.hashes[number] = entry["hash"]
            self.of_job.setdefault((entry["kind"], entry["job"]), []).append(entry)
            if entry["kind"] == "GRANT":
                self.budgets.append(entry["dataset"])

    def entry(self, kind, job):
        """Returns the only entry of this kind of a job or a charge; otherwise None, with a complaint."""
        found = self.of_job.get((kind, job), [])
        if len(found) != 1:
            self.complain(f"{job} has {len(found)} entries of kind {kind}")
        return found[0] if len(found) == 1 else None

    def head(self, thing):
        if self.hashes.get(thing["id"]) != thing["hash"]:
            self.complain(f"the ledger's head was {thing['id']} {thing['hash']}, which is not in it")

    # --- things ---

    def there(self, who, kind, thing):
        """Returns the thing as it is now, or None if it is gone: a complaint unless its deletion was requested."""
        answer = self.get(who, f"/v1/{kind}/{thing['id']}")
        if answer is None:
            return None
        if answer.status == 200 and thing.get("deleted") and kind != "datasets":
            self.complain(f"{kind} {thing['id']} was deleted and is there")
        if answer.status != 200 and not thing.get("deleting"):
            self.complain(f"{kind} {thing['id']} was acknowledged and is {answer.status}")
        return answer.body if answer.status == 200 else None

    def dataset(self, thing):
        body = self.there("ana", "datasets", thing)
        if body is None:
            return
        state, wanted = body["state"], thing["state"]
        if state != wanted and not (thing.get("deleting") and state == "DELETED") and wanted in ("READY", "DELETED"):
            self.complain(f"dataset {thing['id']} was {wanted} and is {state}")

    def grant(self, thing):
        body = self.there("olga", "grants", thing)
        granted = [entry for entry in self.entries if entry["kind"] == "GRANT" and entry["dataset"] == thing["dataset"]]
        if body is not None and (body["state"] != "APPROVED" or len(granted) != 1):
            self.complain(f"grant {thing['id']} was approved, is {body['state']} and has {len(granted)} entries")

    def job(self, thing):
        body = self.there("ann", "jobs", thing)
        self.entry("RESERVE", thing["id"])
        commit = self.entry("COMMIT", thing["id"])
        if commit is not None and commit["meta"]["steps"] < thing.get("steps", 0):
            self.complain(f"job {thing['id']} showed {thing['steps']} authorised steps and is charged {commit['meta']['steps']}")
        if body is None:
            return
        state = body["state"]
        if state not in ENDED or (thing.get("state") in ENDED and thing["state"] != state):
            self.complain(f"job {thing['id']} was {thing.get('state')} and is {state}")
        if thing.get("cancelled") == "CANCELLING" and state == "FAILED" and body["state_reason"] == "worker_lost":
            self.complain(f"job {thing['id']} was cancelled and is {state} ({body['state_reason']})")
        if commit is not None and commit["meta"]["steps"] != body["privacy"]["authorised_steps"]:
            self.complain(f"job {thing['id']} shows other steps than the ledger")
        if state == "SUCCEEDED" and body["model"] is None and not thing.get("model"):
            self.complain(f"job {thing['id']} has succeeded and published nothing")

    def sweep(self, thing):
        self.there("ann", "sweeps", thing)

    def statistics(self, thing):
        body = self.there("ann", "statistics", thing)
        self.entry("RESERVE", thing["id"])
        self.entry("COMMIT", thing["id"])
        if body is not None and body["state"] not in ENDED:
            self.complain(f"statistics {thing['id']} are {body['state']}")

    def model(self, thing):
        body = self.there("ann", "models", thing)
        if body is None:
            return
        answer = self.client.ask("ann", "GET", f"/v1/models/{thing['id']}/content", None, None, (200, 404))
        if answer is None or answer.status == 404:
            self.complain(f"model {thing['id']} has no content")
            return
        digest = hashlib.sha256(answer.content).hexdigest()
        commit = self.entry("COMMIT", thing["job"])
        if digest != body["sha256"] or digest != thing.get("sha256", digest) or (
                commit is not None and digest not in json.dumps(commit["meta"])):
            self.complain(f"model {thing['id']} has another content than was published")

    def charge(self, thing):
        body = self.there("ann", "charges", thing)
        reserve = self.entry("RESERVE", thing["id"])
        if body is None or reserve is None:
            return
        if thing.get("blocks", 0) > body["blocks_granted"] or thing.get("steps", 0) > body["authorised_steps"]:
            self.complain(f"charge {thing['id']} had {thing['blocks']} blocks and has {body['blocks_granted']}")
        if thing.get("state") == "SETTLED" and body["state"] != "SETTLED":
            self.complain(f"charge {thing['id']} was settled and is {body['state']}")
        if body["state"] != "OPEN":
            commit = self.entry("COMMIT", thing["id"])
            if commit is not None and commit["meta"]["steps"] != body["authorised_steps"]:
                self.complain(f"charge {thing['id']} shows other steps than the ledger")

    def key(self, thing):
        if thing["state"] == "UNKNOWN":
            return
        answer = self.client.ask(thing["key"], "GET", "/v1/jobs?page_size=1", None, None, (200, 401))
        right = 200 if thing["state"] == "ACTIVE" else 401
        if answer is not None and answer.status != right:
            self.complain(f"key {thing['id']} is {thing['state']} and was answered {answer.status}")

    # --- budgets, added up here ---

    def ledger_of(self, dataset):
        """Returns the entries and the budget of one moment, because a lease may end at any time."""
        path, before = f"/v1/datasets/{dataset}/budget", None
        shown = self.get("olga", path).body
        while shown != before:
            entries = self.entries_of(dataset)
            before, shown = shown, self.get("olga", path).body
        return entries, shown

    def entries_of(self, dataset):
        token, entries = "", []
        while token is not None:
            page = self.get("olga", f"/v1/datasets/{dataset}/ledger?page_size={PAGE}&page_token={token}"
                            if token else f"/v1/datasets/{dataset}/ledger?page_size={PAGE}")
            entries += page.body["entries"]
            token = page.body["next_page_token"]
        return entries

    def budget(self, dataset):
        """At each entry the sum of what is spent and held must fit at one of the orders with weight. Sums are
        exact, because all values are multiples of 2^-40. At the end the service must show the same sums."""
        entries, shown = self.ledger_of(dataset)
        capacity = [exact(value) for value in shown["capacity"]]
        orders = len(capacity)
        spent, held = [0] * orders, {}
        for entry in entries:
            curve = [exact(value) for value in entry["curve"]]
            if entry["kind"] == "GRANT":
                if curve != capacity:
                    self.complain(f"{dataset}: entry {entry['seq']} grants another capacity than is shown")
                continue
            if entry["kind"] == "RESERVE":
                held[entry["job"]] = curve
                self.priced(dataset, entry, curve, shown["orders"])
            elif any(c > h for c, h in zip(curve, held.pop(entry["job"]))):
                self.complain(f"{dataset}: {entry['job']} was charged more than it had reserved")
            else:
                spent = [s + c for s, c in zip(spent, curve)]
            sums = [s + sum(h[i] for h in held.values()) for i, s in enumerate(spent)]
            if not any(math.isfinite(c) and s <= c for s, c in zip(sums, capacity)):
                self.complain(f"{dataset}: entry {entry['seq']} takes more than was granted")
        open_held = [sum(h[i] for h in held.values()) for i in range(orders)]
        for name, sums in (("committed", spent), ("held", open_held)):
            if not all(same(exact(value), total) for value, total in zip(shown[name], sums)):
                self.complain(f"{dataset}: what is shown as {name} is not the sum of its entries")

    def priced(self, dataset, entry, curve, orders):
        """The curve of zCDP has a closed form: rho a in each step."""
        if not entry["job"].startswith("chg_"):
            return
        thing = next((t for t in self.record.all("charges") if t["id"] == entry["job"]), None)
        if thing is None:
            return
        work = thing["request"]["mechanism"]
        for order, value in zip(orders, curve):
            if value < work["rho"] * (1 - 1e-12) * work["steps"] * order * UNIT:
                self.complain(f"{dataset}: {entry['job']} is priced below rho a at order {order}")


def same(shown, total):
    """Doubles are exact up to 2^53 units; orders with larger values have no weight."""
    return shown == total or min(shown, total) >= DOUBLE and math.isclose(shown, total, rel_tol=1e-12)


def exact(value):
    """Converts a value to units of 2^-40; all values in the ledger are whole numbers of these units."""
    if value is None:
        return math.inf
    units = Fraction(value) * UNIT
    if units.denominator != 1:
        raise ValueError(f"{value} is no multiple of 2^-40")
    return units.numerator


def falsify(record):
    """Adds to the record one thing of each kind that never existed, and yields their names: a correct
    checker reports all of them as missing."""
    lies = {"datasets": {"state": "READY"}, "grants": {"dataset": "never"}, "jobs": {"state": "SUCCEEDED"},
            "sweeps": {}, "statistics": {}, "models": {"job": "job_never"},
            "charges": {"blocks": 1, "state": "SETTLED"}, "keys": {"key": "dpk_" + "A" * 8 + "_" + "B" * 43, "state": "ACTIVE"},
            "heads": {"hash": "00" * 32}}
    prefixes = {"jobs": "job_", "sweeps": "swp_", "statistics": "sta_", "models": "mdl_", "charges": "chg_",
                "grants": "grt_", "keys": ""}
    for kind, facts in lies.items():
        name = 10 ** 9 if kind == "heads" else prefixes[kind] + "0" * 26 if kind in prefixes else "never"
        record.note(kind, name, **facts)
        yield kind, str(name)
