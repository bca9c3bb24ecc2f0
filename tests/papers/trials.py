"""A daemon with the data of an experiment, and repeated runs of jobs: the base of the papers' tables.
Uses only the standard library and tests/python/daemon.py."""

import gzip
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
import cifar10  # noqa: E402
from daemon import Daemon  # noqa: E402
from measure import A9A, MNIST, mnist_files  # noqa: E402

RUNS = 3
BUDGET = {"epsilon": 30, "delta": 1e-5}  # renewed when used up; each job has its own epsilon
CONFIRMED = ["epsilon_above_10"]  # about that budget
BLANK = {"format": "libsvm", "task": "classification", "classes": 2,
         "features": {"count": 1}}
STANDARD = [struct.pack(">f", (value / 255 - 0.1307) / 0.3081) for value in range(256)]


def _standardised(path):
    """Converts the IDX images at path (a header of 16 bytes): each byte as its float32."""
    with gzip.open(path) as file:
        content = file.read()
    images = range(16, len(content), 784)
    return bytes([0, 0, 0x0d, 3]) + content[4:16] + b"".join(
        b"".join(STANDARD[value] for value in content[at:at + 784]) for at in images)


class Missing(Exception):
    """Data that an experiment needs is missing; the text says which."""


class Figures:
    """The same figure of several runs: its median, its minimum and its maximum."""

    def __init__(self, values):
        self.values = sorted(values)
        self.median = self.values[len(self.values) // 2]

    def text(self, digits=1):
        low, high = self.values[0], self.values[-1]
        return f"{self.median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"

    def __str__(self):
        return self.text()


def accuracy(job):
    return 100 * job["metrics"]["evaluation"]["accuracy"]


def best_accuracy(job):
    """Returns the best over the whole path, as some papers report it; on the public test set, so it is free."""
    return max(100 * point["accuracy"] for point in job["metrics"]["history"])


class Trials(Daemon):
    """A daemon that knows the public data sets by name; SHARED is their folder."""

    def __init__(self, binary, shared, *options):
        super().__init__(binary, *options)
        self.shared = shared

    def another(self):
        """A second daemon, for the same records with another declaration: one daemon refuses duplicates."""
        return Trials(self.binary, self.shared, *self.options)

    def jobs(self, spec, runs=RUNS):
        """Runs jobs of one spec one after the other."""
        done = [self.run_job(spec)[0] for _ in range(runs)]
        asked = spec.get("privacy", {}).get("epsilon")
        for job in done:
            assert asked is None or job["privacy"]["epsilon_planned"] <= asked
        return done

    def estimate(self, spec, query=""):
        return self.post(f"/v1/jobs:estimate{query}", spec)

    def figures(self, spec, figure=accuracy, runs=RUNS):
        return Figures(figure(job) for job in self.jobs(spec, runs))

    def best_of(self, specs, figure=accuracy):
        """Returns the spec whose single run is best on the public test set. This tuning is not charged, as in
        the papers. With a private data set it would have to be paid for."""
        return max(specs, key=lambda spec: figure(self.run_job(spec)[0]))

    def add(self, name, privacy, as_name=None, acknowledge=(), **changes):
        """Registers the training part of a data set and, as NAME-test, its public test."""
        schema, train, test = getattr(self, "_" + name)()
        schema = {**schema, **changes}
        as_name = as_name or name
        self.register(as_name, schema, train, privacy, acknowledge)
        self.register(f"{as_name}-test", schema, test, "public")

    def add_blank(self, records, privacy, acknowledge):
        """Registers records without content, for results that depend only on their number."""
        self.register(f"blank-{records}", BLANK, {"data": b"0\n" * records}, privacy, acknowledge)

    def path(self, *parts):
        path = os.path.join(self.shared, "data", *parts)
        if not os.path.exists(path):
            raise Missing(f"{path} is not there")
        return path

    def _mnist(self):
        self.path("mnist")
        return MNIST, mnist_files(self.shared, "train"), mnist_files(self.shared, "t10k")

    def _mnist_standard(self):
        """MNIST as the authors of DC-SGD preprocess it: mean .1307, deviation .3081; as float32."""
        schema, *parts = self._mnist()
        for files in parts:
            files["features"] = _standardised(files["features"])
        return {**schema, "features": {"shape": [1, 28, 28], "scale": 1}}, *parts

    def _a9a(self):
        return A9A, {"data": self.path("a9a", "a9a.gz")}, {"data": self.path("a9a", "a9a.t.gz")}

    def _cifar10(self):
        self.path("cifar10", "make-binary")
        if not cifar10.are_made(self.shared):
            raise Missing("CIFAR-10's archives need Pillow (Debian: python3-pil)")
        return cifar10.SCHEMA, cifar10.files(False), cifar10.files(True)
