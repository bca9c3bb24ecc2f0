"""The answers that the service has acknowledged to its clients, and the faults that they found."""

import threading
import time

KINDS = ("datasets", "grants", "jobs", "sweeps", "statistics", "models", "charges", "keys", "heads")
FAULTS_KEPT = 200


class Record:
    """Things by kind and id; each is a dictionary of facts. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.things = {kind: {} for kind in KINDS}
        self.faults, self.answers = [], {}
        self.failures = []  # answers of 500: when, from which daemon, to what

    def note(self, kind, name, **facts):
        with self.lock:
            self.things[kind].setdefault(name, {"id": name}).update(facts)

    def all(self, kind):
        with self.lock:
            return [dict(thing) for thing in self.things[kind].values()]

    def take(self, kind, random, wanted):
        """Takes one that `wanted` accepts, or returns None; no one else gets it until it is given back."""
        with self.lock:
            free = [thing for thing in self.things[kind].values() if not thing.get("taken") and wanted(thing)]
            if not free:
                return None
            thing = random.choice(free)
            thing["taken"] = True
            return dict(thing)

    def give_back(self, kind, thing):
        with self.lock:
            self.things[kind][thing["id"]]["taken"] = False

    def fault(self, text):
        with self.lock:
            if len(self.faults) < FAULTS_KEPT:
                self.faults.append(text)

    def failed(self, daemon, text):
        with self.lock:
            self.failures.append((time.monotonic(), daemon, text))

    def count(self, answer):
        with self.lock:
            self.answers[answer] = self.answers.get(answer, 0) + 1
