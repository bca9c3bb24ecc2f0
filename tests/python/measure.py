"""The table "Measured" of the README, made anew through the HTTP API on real data.

    measure.py EPSILOND SHARED [RUNS]

SHARED is the folder of real data (data/mnist, data/a9a); the digits are in the repository.
Accuracies are medians of RUNS (3) runs; the claims that they must reach are beside them.
"""

import os
import statistics
import sys

import digits
from daemon import Daemon

BUDGET = {"epsilon": 50, "delta": 1e-5}  # room for every run; a job's epsilon is its own
MNIST = {"format": "idx", "task": "classification", "classes": 10,
         "features": {"shape": [1, 28, 28], "scale": 255}}
A9A = {"format": "libsvm", "task": "classification", "classes": 2,
       "features": {"count": 123}}
LINEAR = {"preset": "linear"}
MLP = {"preset": "mlp", "hidden": [128], "activation": "relu"}


def mnist_files(shared, part):
    folder = os.path.join(shared, "data", "mnist")
    return {"features": os.path.join(folder, f"{part}-images-idx3-ubyte.gz"),
            "labels": os.path.join(folder, f"{part}-labels-idx1-ubyte.gz")}


def job(dataset, model, batch_size, epochs, rate, **privacy):
    return {"dataset": dataset, "evaluation": f"{dataset}-test", "model": model,
            "algorithm": {"name": "dpsgd", "clip_norm": 1.0}, "batch_size": batch_size,
            "epochs": epochs, "optimizer": {"name": "sgd", "learning_rate": rate},
            "privacy": privacy}


def accuracy(daemon, name, claim, spec, runs):
    results, times = [], []
    for _ in range(runs):
        done, seconds = daemon.run_job(spec)
        assert done["privacy"]["epsilon_spent"] <= spec["privacy"]["epsilon"]
        results.append(100 * done["metrics"]["evaluation"]["accuracy"])
        times.append(seconds)
    median = statistics.median(results)
    print(f"| {name} | {spec['privacy']['epsilon']} | {median:.1f} % "
          f"({min(results):.1f} to {max(results):.1f}) | {claim} % "
          f"| {statistics.median(times):.2f} s |", flush=True)
    return median >= claim


def accuracies(binary, shared, runs):
    print("| data, model | epsilon | test accuracy, median (range) | claimed at least | job, end to end |")
    print("|---|---|---|---|---|")
    with Daemon(binary) as daemon:
        daemon.register("digits", digits.SCHEMA, digits.files(False), BUDGET)
        daemon.register("digits-test", digits.SCHEMA, digits.files(True), "public")
        right = accuracy(daemon, "digits, linear", 90, job("digits", LINEAR, 256, 30, 1, epsilon=2), runs)
        a9a = os.path.join(shared, "data", "a9a")
        if os.path.isdir(a9a):
            daemon.register("a9a", A9A, {"data": os.path.join(a9a, "a9a.gz")}, BUDGET)
            daemon.register("a9a-test", A9A, {"data": os.path.join(a9a, "a9a.t.gz")}, "public")
            right &= accuracy(daemon, "a9a, logistic", 84.5, job("a9a", LINEAR, 512, 20, 1, epsilon=1), runs)
        if os.path.isdir(os.path.join(shared, "data", "mnist")):
            daemon.register("mnist", MNIST, mnist_files(shared, "train"), BUDGET)
            daemon.register("mnist-test", MNIST, mnist_files(shared, "t10k"), "public")
            right &= accuracy(daemon, "MNIST, linear", 90.5, job("mnist", LINEAR, 1024, 20, 2, epsilon=1), runs)
            right &= accuracy(daemon, "MNIST, mlp 784-128-10", 93.5, job("mnist", MLP, 1024, 20, 4, epsilon=2), runs)
    return right


def speed(binary, shared, runs):
    """The MNIST job without evaluation: private, and `sgd` on the same bytes made public."""
    with Daemon(binary) as daemon:
        daemon.register("open", MNIST, mnist_files(shared, "train"), "public")
        daemon.register("mnist", MNIST, mnist_files(shared, "train"), BUDGET)
        private = job("mnist", MLP, 1024, 20, 4, epsilon=2)
        del private["evaluation"]
        plain = {**private, "dataset": "open", "algorithm": {"name": "sgd"},
                 "optimizer": {"name": "sgd", "learning_rate": 0.1}}
        del plain["privacy"]
        specs = {"dpsgd": private, "sgd": plain}
        seconds = {name: [] for name in specs}
        for _ in range(runs):  # in turns: whatever else the machine does, it does to both
            for name, spec in specs.items():
                seconds[name].append(daemon.run_job(spec)[1])
        median = {name: statistics.median(taken) for name, taken in seconds.items()}
        for name, taken in median.items():
            print(f"| MNIST, mlp, batch 1024, 20 epochs, `{name}`, submit to model published "
                  f"| {taken:.2f} s, {20 * 60000 / taken:,.0f} examples/s |", flush=True)
        print(f"| speed of `dpsgd` over that of `sgd`, same model, batch and threads "
              f"| {median['sgd'] / median['dpsgd']:.2f} |", flush=True)


def memory(binary, shared):
    peaks = []
    for batch_size in (1024, 8192):
        with Daemon(binary) as daemon:
            daemon.register("mnist", MNIST, mnist_files(shared, "train"), BUDGET)
            spec = job("mnist", MLP, batch_size, 3, 4, epsilon=2)
            del spec["evaluation"]
            before, _ = daemon.resident()
            daemon.forget_peak()
            daemon.run_job(spec)
            peaks.append(daemon.resident()[1])
            print(f"| resident memory, MNIST mlp, batch {batch_size} | {peaks[-1]:.0f} MiB "
                  f"at most during the job ({before:.0f} MiB before it) |", flush=True)
    print(f"| growth when the batch grows eight-fold | {max(0, peaks[1] - peaks[0]):.1f} MiB "
          f"(batch x parameters would be {7168 * 101770 * 4 / 2**20:,.0f} MiB) |")


def main(binary, shared, runs="3"):
    right = accuracies(binary, shared, int(runs))
    if os.path.isdir(os.path.join(shared, "data", "mnist")):
        print("\n| what | measured |\n|---|---|")
        speed(binary, shared, int(runs))
        memory(binary, shared)
    else:
        print(f"numbers: {shared} holds no data/mnist: its figures are not measured")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
