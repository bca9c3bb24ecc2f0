"""Injects faults for ten minutes into two daemons that answer, two that train, a real PostgreSQL and an
S3 server, and checks the result from outside. README.md lists the claims.

    [MINUTES=10] [SEED=n] [ONLY=word] [PLANT=history] storm.py EPSILOND POSTGRESQL_PROGRAMS
"""

import json
import os
import random
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time

from checker import Checker, falsify
from clients import ANALYST, OWNER, Client, Crowd
from endings import Endings
from link import Links
from record import Record
from schedule import Storm, draw
from servers import STOP_S, Bucket, Daemon, Postgres, wait_until

DAEMONS = (("one", "api"), ("other", "api"), ("first", "worker"), ("second", "worker"))
PEOPLE = {"ana": "data_owner", "olga": "privacy_officer", "ann": "analyst"}
ANALYSTS, OWNERS = 5, 3
LOGS = os.path.join("build", "storm")
TURN_S = 0.1
RESTART_S = 3  # before a daemon is restarted that has ended by itself or did not start
CALM_S = 240  # the time that clients, jobs and daemons have to finish after the last fault
DRAIN_S = 60
EXTRA_S = 900  # beyond MINUTES; after that the run is aborted


class Scene:
    def __init__(self, binary, programs, seed):
        self.random, self.begun = random.Random(seed), time.monotonic()
        shutil.rmtree(LOGS, ignore_errors=True)
        os.makedirs(LOGS)
        self.log = open(os.path.join(LOGS, "log"), "w")
        self.folder = tempfile.mkdtemp(prefix="epsilond-storm.")
        self.record, self.endings, self.unruly = Record(), Endings(), []
        self.daemons, self.postgres, self.bucket = {}, None, None
        self.links = Links().__enter__()
        self.postgres, self.bucket = Postgres(programs), Bucket()
        blobs_key = secrets.token_hex(32)
        for name, role in DAEMONS:
            daemon = Daemon(os.path.abspath(binary), name, role, self.folder, LOGS)
            daemon.open_links(self.links, self.random, self.postgres, self.bucket)
            daemon.environment(blobs_key)
            self.daemons[name] = daemon
        self.storm = Storm(self.daemons, self.postgres, self.bucket, self.say)

    def say(self, text, aloud=False):
        line = f"{time.monotonic() - self.begun:8.2f} {text}"
        print(line, file=self.log, flush=True)
        if aloud:
            print(f"storm: {text}", flush=True)

    def start_all(self):
        for daemon in self.daemons.values():
            daemon.start()
            wait_until(daemon.listens, 60, f"daemon {daemon.name}")
            daemon.start_at = None

    def make_people(self):
        self.keys = {}
        for owner, role in PEOPLE.items():
            made = self.daemons["first"].run("key", "create", "--owner", owner, "--role", role)
            if made.returncode != 0:
                raise RuntimeError(made.stdout)
            self.keys[owner] = made.stdout.split()[0]

    def client(self, name, seed):
        return Client(name, [self.daemons[name].front for name, role in DAEMONS if role == "api"], self.record,
                      self.keys, seed)

    # --- processes ---

    def watch(self):
        """Judges the daemons that have ended, and starts them again."""
        now = time.monotonic()
        for daemon in self.daemons.values():
            if daemon.process is not None and daemon.process.poll() is not None:
                self.judge(daemon)
                daemon.start_at = now + getattr(daemon, "start_after", RESTART_S)
                daemon.process, daemon.start_after = None, RESTART_S
                daemon.front.lead_to(None)
            elif daemon.process is None and daemon.start_at is not None and now >= daemon.start_at:
                daemon.start()
            elif daemon.process is not None:
                daemon.listens()

    def judge(self, daemon):
        what, wrong = self.endings.judge(daemon.process.returncode, daemon.killed_by, daemon.events(),
                                         self.storm.recent(daemon.name, time.monotonic()))
        if daemon.killed_by is None:
            self.storm.ended.append((daemon.name, time.monotonic()))
        self.say(f"end of {daemon.name} ({os.path.basename(daemon.log())}): {what}")
        if wrong is not None:
            self.unruly.append(f"{daemon.log()}: {what}: {wrong}")
            self.say(f"FAULT: {self.unruly[-1]}", True)

    def pass_time(self, seconds, act=lambda: None, until=lambda: False):
        latest = time.monotonic() + seconds
        while time.monotonic() < latest and not until():
            self.storm.turn()
            act()
            self.watch()
            time.sleep(TURN_S)

    def all_up(self):
        return all(daemon.process is not None and daemon.port is not None for daemon in self.daemons.values())

    # --- the phases of the run ---

    def blow(self, acts, minutes, plant):
        """Executes all acts of the schedule, each at its time."""
        begun = time.monotonic()
        waiting = list(acts)

        def act():
            while waiting and waiting[0].at <= time.monotonic() - begun:
                self.storm.begin(waiting.pop(0))
            if plant is not None:
                plant(self, time.monotonic() - begun, minutes * 60)
        self.pass_time(minutes * 60, act)

    def calm(self, crowd):
        """Ends the faults: clients finish their actions, daemons come back, jobs end."""
        self.storm.calm()
        stopped = []
        waiter = threading.Thread(target=lambda: stopped.append(crowd.stop(CALM_S)), daemon=True)
        waiter.start()
        self.pass_time(CALM_S, until=lambda: not waiter.is_alive() and self.all_up())
        if stopped != [True]:
            self.record.fault("a client did not come to the end of what it was doing")
        if not self.all_up():
            self.record.fault("not all daemons came back")
        self.end_jobs()

    def open_work(self):
        return int(self.postgres.ask("SELECT (SELECT count(*) FROM job WHERE state IN('QUEUED','RUNNING','CANCELLING'))"
                                     " + (SELECT count(*) FROM claim)")[0][0])

    def end_jobs(self):
        client = self.client("last", 0)
        for state in ("QUEUED", "RUNNING"):
            page = client.ask("ann", "GET", f"/v1/jobs?state={state}&page_size=1000", None, None, (200,))
            for job in page.body["jobs"] if page is not None else []:
                client.ask("ann", "POST", f"/v1/jobs/{job['id']}:cancel", None, None, (200, 409))
        self.pass_time(CALM_S, until=lambda: self.open_work() == 0)
        if self.open_work() > 0:
            self.record.fault(f"{self.open_work()} jobs and claims did not end")

    def verify(self, moment):
        for name in ("one", "first"):
            daemon = self.daemons[name]
            result = daemon.run("verify", "--head-file", os.path.join(daemon.data, "epsilond.head"),
                                "--check-objects", "on")
            self.say(f"verify {moment} ({name}): {result.returncode}\n{result.stdout}")
            if result.returncode != 0:
                self.record.fault(f"verify {moment} ends with {result.returncode}: {result.stdout[-300:]}")

    def check(self, client):
        complaints = Checker(client, self.record, self.postgres).check()
        for text in complaints:
            self.say(f"FAULT: {text}", True)
        return complaints

    def check_the_checker(self, client):
        """Invents one thing of each kind; the checker must report each as missing."""
        lies = list(falsify(self.record))
        told = "\n".join(Checker(client, self.record, self.postgres).check())
        missed = [f"{kind} {name}" for kind, name in lies if name not in told]
        if missed:
            self.record.fault(f"the checker believes in {', '.join(missed)}")
        self.say(f"the checker was told of {len(lies)} things that never were, and missed {len(lies) - len(missed)}", True)

    def stop_all(self):
        """Sends SIGTERM to each daemon: each must end with 0."""
        for daemon in self.daemons.values():
            if daemon.process is not None:
                daemon.signal(signal.SIGTERM)
                daemon.process.wait(DRAIN_S)
                self.judge(daemon)
                daemon.process = None

    def judge_failures(self):
        """Judges answers of 500: legitimate while the bucket fails, and from a daemon that is about to end."""
        excused = 0
        for when, daemon, text in self.record.failures:
            if self.storm.excuses(daemon, when):
                excused += 1
            else:
                self.record.fault(f"{daemon}: {text}")
        self.say(f"{excused} answers of 500 while the bucket failed, or by a daemon that was about to end", True)

    def summary(self):
        counts = {kind: len(things) for kind, things in self.record.things.items()}
        deleted = sum(bool(thing.get("deleted")) for things in self.record.things.values() for thing in things.values())
        swallowed = {name: (daemon.front.swallowed, daemon.database.swallowed) for name, daemon in self.daemons.items()}
        self.say(f"acts: {json.dumps(self.storm.done)}", True)
        self.say(f"acknowledged: {json.dumps(counts)}; {deleted} deletions", True)
        self.say(f"answers: {json.dumps(dict(sorted(self.record.answers.items())))}")
        self.say(f"swallowed (front, database): {json.dumps(swallowed)}; starts: "
                 f"{json.dumps({name: daemon.starts for name, daemon in self.daemons.items()})}", True)
        for text in self.record.faults:
            self.say(f"FAULT: {text}", True)

    def end(self):
        for daemon in self.daemons.values():
            daemon.end()
        if self.postgres is not None:
            self.postgres.end()
        if self.bucket is not None:
            self.bucket.end()
        self.links.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)


def plant_history():
    """PLANT=history: restores the server's data of an earlier moment. The storm must fail."""
    done = []

    def plant(scene, at, seconds):
        if not done and at > seconds / 2:
            scene.postgres.kill()
            scene.postgres.copy(".old")
            scene.postgres.start()
            done.append("copied")
            scene.say("planted: the database is copied", True)
        if len(done) == 1 and at > seconds * 3 / 4:
            scene.postgres.kill()
            scene.postgres.put_back(".old")
            scene.postgres.start()
            done.append("put back")
            scene.say("planted: the copy is put back", True)
    return plant


def run(scene, seed, minutes):
    acts = draw(scene.random, minutes, DAEMONS, os.environ.get("ONLY", ""))
    scene.start_all()
    scene.make_people()
    roles = [(f"ann{i}", ANALYST) for i in range(ANALYSTS)] + [(f"ana{i}", OWNER) for i in range(OWNERS)]
    crowd = Crowd([(scene.client(name, seed), does) for name, does in roles])
    scene.blow(acts, minutes, plant_history() if os.environ.get("PLANT") == "history" else None)
    scene.say("calm", True)
    scene.calm(crowd)
    client = scene.client("checker", seed)
    scene.verify("beside the daemons")
    complaints = scene.check(client)
    if not complaints:
        scene.check_the_checker(client)
    scene.judge_failures()
    scene.stop_all()
    scene.verify("after they have ended")
    scene.summary()
    return not complaints and not scene.record.faults and not scene.unruly


def give_up(*_):
    raise SystemExit("storm: it is given up")


def main():
    minutes = float(os.environ.get("MINUTES", "10"))
    seed = int(os.environ.get("SEED") or secrets.randbelow(10 ** 9))
    print(f"storm: SEED={seed} MINUTES={minutes:g}; the log is {LOGS}/log", flush=True)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, give_up)
    signal.alarm(int(minutes * 60) + EXTRA_S)
    scene = Scene(sys.argv[1], sys.argv[2], seed)
    try:
        well = run(scene, seed, minutes)
        print(f"storm: {'nothing was lost' if well else 'FAILED'}; SEED={seed}", flush=True)
    finally:
        scene.end()
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
