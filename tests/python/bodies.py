"""Reproduces the README's figures of heads on public bodies through the HTTP API: a linear head on the
scattering transform of CIFAR-10, one on a public encoder's vectors of sentences, and one on the same
sentences as texts, which the daemon encodes.

    bodies.py EPSILOND SHARED [ARCHIVE MODEL]

ARCHIVE is vaderSentiment's source archive and MODEL the folder of all-MiniLM-L6-v2; without them
the sentences are reported as not measured. Accuracies are medians of three runs on a public test
set; next to them are the bands in which they must lie.
"""

import os
import statistics
import sys

import cifar10
from daemon import Daemon

RUNS = 3
BUDGET = {"epsilon": 30, "delta": 1e-5}  # renewed when used up; each job has its own epsilon
CONFIRMED = ["epsilon_above_10"]  # about that budget

# Tramer and Boneh 2021: groups of 9 maps, clip norm 0.1, batches of 8192, 60 epochs, rate 4,
# momentum 0.9.
# 0.45 is about the mean of the numbers of photographs (0.485, 0.456, 0.406 of ImageNet's).
SCATTER = {"trainable": "head", "layers": [
    {"type": "scatter", "centre": 0.45}, {"type": "group_norm", "groups": 27},
    {"type": "flatten"}, {"type": "dense", "out": 10}]}


def scatter(epsilon):
    return {"dataset": "cifar10", "evaluation": "cifar10-test", "model": SCATTER,
            "features": "cached", "algorithm": {"name": "dpsgd", "clip_norm": 0.1},
            "batch_size": 8192, "epochs": 60, "privacy": {"epsilon": epsilon},
            "optimizer": {"name": "sgd", "learning_rate": 4, "momentum": 0.9}}


def sentences(epsilon):
    return {"dataset": "snippets", "evaluation": "snippets-test", "model": {"preset": "linear"},
            "algorithm": {"name": "dpsgd", "clip_norm": 0.5}, "batch_size": 1024, "epochs": 20,
            "averaging": {"kind": "tail", "share": 0.5}, "privacy": {"epsilon": epsilon},
            "optimizer": {"name": "sgd", "learning_rate": 2, "momentum": 0.9}}


def measure(daemon, name, spec, band):
    results = []
    for _ in range(RUNS):
        done, _ = daemon.run_job(spec)
        assert done["privacy"]["epsilon_spent"] <= spec["privacy"]["epsilon"]
        results.append(100 * done["metrics"]["evaluation"]["accuracy"])
    median = statistics.median(results)
    print(f"| {name} | {spec['privacy']['epsilon']} | {median:.1f} % ({min(results):.1f} to "
          f"{max(results):.1f}) | {band[0]} to {band[1]} % |", flush=True)
    return band[0] <= median <= band[1]


def register(daemon, name, part):
    daemon.register(name, part.SCHEMA, part.files(False), BUDGET, CONFIRMED)
    daemon.register(f"{name}-test", part.SCHEMA, part.files(True), "public")


def images(daemon, shared):
    if not os.path.exists(os.path.join(shared, cifar10.PATH)):
        print(f"bodies: {shared} holds no {cifar10.PATH}: CIFAR-10 is not measured")
        return True
    if not cifar10.are_made(shared):
        print("bodies: CIFAR-10's archives need Pillow (Debian: python3-pil): not measured")
        return True
    register(daemon, "cifar10", cifar10)
    return measure(daemon, "CIFAR-10, linear on its scattering transform", scatter(3), (60, 75))


def texts(daemon, archive, model):
    import snippets

    snippets.make(archive, model)
    register(daemon, "snippets", snippets)
    name = "film reviews, linear on MiniLM's vectors"
    return all([measure(daemon, name, sentences(1), (74, 77)),
                measure(daemon, name, sentences(8), (76, 78))])


def raw_texts(daemon, archive, model):
    import reviews

    started = reviews.register(daemon, archive, model, BUDGET, CONFIRMED)
    name = "film reviews as texts, a head on MiniLM"
    right = all([measure(daemon, name, reviews.job(started, 1), (75, 77.5)),
                 measure(daemon, name, reviews.job(started, 8), (76, 78))])
    size = reviews.head_size(daemon)
    ratio = reviews.ratio_to_vectors(daemon, started, BUDGET, CONFIRMED)
    print(f"bodies: the file of the head has {size:,} bytes (below 1,000,000); a job on cached features takes "
          f"{ratio:.2f} times that on vectors of npy (asked: at most 1.1)", flush=True)
    return right and size < 1e6


def main(binary, shared, archive=None, model=None):
    print("| data, model | epsilon | on the test set, median (range) | band |\n|---|---|---|---|")
    with Daemon(binary) as daemon:
        right = images(daemon, shared)
        if archive is None:
            print("bodies: no encoder is here: film reviews are not measured")
        else:
            right = texts(daemon, archive, model) and right
    if archive is not None:
        with Daemon(binary) as daemon:  # its files would not survive a renewed budget
            right = raw_texts(daemon, archive, model) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
