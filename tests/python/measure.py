"""Reproduces the table "Measured" of the README through the HTTP API on real data.

    measure.py EPSILOND SHARED [RUNS]

SHARED is the folder of real data (data/mnist, data/a9a, data/california-housing); the digits
are in the repository, and Fashion-MNIST is Debian's package dataset-fashion-mnist. Missing data are reported as not measured. Accuracies are medians of
RUNS (3) runs; next to them are the claims that they must reach.
"""

import os
import statistics
import sys

import adult
import digits
import housing
from daemon import Daemon

BUDGET = {"epsilon": 30, "delta": 1e-5}  # renewed when used up; each job has its own epsilon
CONFIRMED = ["epsilon_above_10"]  # about that budget
MNIST = {"format": "idx", "task": "classification", "classes": 10,
         "features": {"shape": [1, 28, 28], "scale": 255}}
A9A = {"format": "libsvm", "task": "classification", "classes": 2,
       "features": {"count": 123}}
FASHION = "/usr/share/datasets/fashion-mnist"
LINEAR = {"preset": "linear"}
MLP = {"preset": "mlp", "hidden": [128], "activation": "relu"}


def mnist_files(shared, part):
    return idx_files(os.path.join(shared, "data", "mnist"), part)


def idx_files(folder, part):
    return {"features": os.path.join(folder, f"{part}-images-idx3-ubyte.gz"),
            "labels": os.path.join(folder, f"{part}-labels-idx1-ubyte.gz")}


def job(dataset, model, batch_size, epochs, rate, **privacy):
    return {"dataset": dataset, "evaluation": f"{dataset}-test", "model": model,
            "algorithm": {"name": "dpsgd", "clip_norm": 1.0}, "batch_size": batch_size,
            "epochs": epochs, "optimizer": {"name": "sgd", "learning_rate": rate},
            "privacy": privacy}


def scattered(dataset, epsilon):
    """A linear model of the scattering transform: one setting for both data sets and each epsilon."""
    spec = job(dataset, {"preset": "scatter"}, 2048, 20, 2, epsilon=epsilon)
    spec["algorithm"]["clip_norm"] = 0.1
    spec["optimizer"]["momentum"] = 0.9
    return spec


def by_defaults(dataset, model):
    """Names only dataset, model, algorithm and epsilon; the rest are the defaults of api.md 3."""
    return {"dataset": dataset, "evaluation": f"{dataset}-test", "model": model,
            "algorithm": {"name": "dpsgd"}, "privacy": {"epsilon": 2}}


def boosted(dataset, epsilon, **model):
    """Boosted histograms with the defaults."""
    return {"dataset": dataset, "evaluation": f"{dataset}-test", "model": {"preset": "histograms", **model},
            "algorithm": {"name": "boosted_histograms"}, "privacy": {"epsilon": epsilon}}


def adult_auroc(daemon, done, test):
    """Returns the area under the ROC curve of a job's model; test is adult.inputs."""
    rows, labels = test
    answers = [answer for first in range(0, len(rows), 1000)
               for answer in daemon.post(f"/v1/models/{done['model']}/predict",
                                         {"inputs": rows[first:first + 1000]})["outputs"]]
    return adult.auroc([answer["probabilities"][1] for answer in answers], labels)


def boost(daemon, shared, runs):
    """Adult and California with boosted histograms; the pair of California is longitude and latitude."""
    test = adult.inputs(shared)
    aurocs, explained, times = [], [], []
    for _ in range(runs):
        done, seconds = daemon.run_job(boosted("adult", 1))
        times.append(seconds)
        aurocs.append(adult_auroc(daemon, done, test))
        done, seconds = daemon.run_job(boosted("housing", 2, pairs=[[0, 1]]))
        times.append(seconds)
        explained.append(housing.explained(shared, done["metrics"]["evaluation"]["rmse"]))
    right = True
    for name, epsilon, claim, results in (("Adult, boosted histograms, AUROC", 1, 0.905, aurocs),
                                          ("California housing, boosted histograms, R^2", 2, 0.75, explained)):
        median = statistics.median(results)
        right &= median >= claim
        print(f"| {name} | {epsilon} | {median:.3f} ({min(results):.3f} to {max(results):.3f}) | {claim} "
              f"| defaults | at most {max(times):.2f} s |", flush=True)
    return right


def percentage(evaluation):
    return 100 * evaluation["accuracy"]


def settings(done):
    """Returns the job's settings as the daemon answers them, with its defaults."""
    epochs = done["progress"]["steps"] * done["batch_size"] / done["records"]
    return (f"batch {done['batch_size']}, {epochs:.0f} epochs, "
            f"rate {done['optimizer']['learning_rate']:g}")


def measure(daemon, name, claim, spec, runs, quality=percentage, unit=" %"):
    results, times = [], []
    for _ in range(runs):
        done, seconds = daemon.run_job(spec)
        assert done["privacy"]["epsilon_spent"] <= spec["privacy"]["epsilon"]
        results.append(quality(done["metrics"]["evaluation"]))
        times.append(seconds)
    digits_shown = 1 if unit else 3
    least, median, most = (f"{value:.{digits_shown}f}" for value in
                           (min(results), statistics.median(results), max(results)))
    done["records"] = daemon.get(f"/v1/datasets/{spec['dataset']}")["records"]
    print(f"| {name} | {spec['privacy']['epsilon']} | {median}{unit} ({least} to {most}) "
          f"| {claim}{unit} | {settings(done)} | {statistics.median(times):.2f} s |", flush=True)
    return statistics.median(results) >= claim


def register_all(daemon, shared):
    """Registers the data that can be measured: the digits, and those of SHARED."""
    data = os.path.join(shared, "data")
    parts = {"digits": (digits.SCHEMA, digits.files(False), digits.files(True))}
    if os.path.isdir(os.path.join(data, "a9a")):
        parts["a9a"] = (A9A, *({"data": os.path.join(data, "a9a", name)}
                               for name in ("a9a.gz", "a9a.t.gz")))
    if os.path.isdir(os.path.join(data, "mnist")):
        parts["mnist"] = (MNIST, mnist_files(shared, "train"), mnist_files(shared, "t10k"))
    if os.path.isdir(FASHION):
        parts["fashion"] = (MNIST, idx_files(FASHION, "train"), idx_files(FASHION, "t10k"))
    if os.path.exists(os.path.join(shared, housing.PATH)):
        parts["housing"] = (housing.SCHEMA, housing.files(shared, False),
                            housing.files(shared, True))
    if os.path.exists(os.path.join(shared, adult.PATH)):
        parts["adult"] = (adult.schema(shared), adult.files(shared, False), adult.files(shared, True))
    for name, (schema, train, test) in parts.items():
        daemon.register(name, schema, train, BUDGET, CONFIRMED)
        daemon.register(f"{name}-test", schema, test, "public")
    return parts.keys()


def accuracies(binary, shared, runs):
    tuned = [("digits, linear", 90, job("digits", LINEAR, 256, 30, 1, epsilon=2)),
             ("a9a, logistic", 84.5, job("a9a", LINEAR, 512, 20, 1, epsilon=1)),
             ("MNIST, linear", 90.5, job("mnist", LINEAR, 1024, 20, 2, epsilon=1)),
             ("MNIST, mlp 784-128-10", 93.5, job("mnist", MLP, 1024, 20, 4, epsilon=2))]
    plain = [("digits, linear", 90, by_defaults("digits", LINEAR)),
             ("a9a, logistic", 84.5, by_defaults("a9a", LINEAR)),
             ("MNIST, mlp 784-128-10", 93, by_defaults("mnist", MLP))]
    best = [(f"{title}, scatter", claim, scattered(name, epsilon))
            for name, title, claims in (("mnist", "MNIST", (97.8, 98, 98, 98)),
                                        ("fashion", "Fashion-MNIST", (87, 87, 87, 87)))
            for epsilon, claim in zip((1, 2, 3, 8), claims)]
    head = ("| data, model | epsilon | on the test set, median (range) | claimed at least "
            "| settings | job, end to end |\n|---|---|---|---|---|---|")
    right = True
    with Daemon(binary) as daemon:
        there = register_all(daemon, shared)
        for title, rows in (("Settings chosen", tuned), ("Best of images", best), ("Defaults", plain)):
            print(f"{title}:\n\n{head}")
            for name, claim, spec in rows:
                if spec["dataset"] in there:
                    right &= measure(daemon, name, claim, spec, runs)
                else:
                    print(f"numbers: {shared} holds no {spec['dataset']}: {name} is not measured")
        if "housing" in there:
            right &= measure(daemon, "California housing, linear, R^2", 0.62,
                             by_defaults("housing", LINEAR), runs,
                             lambda evaluation: housing.explained(shared, evaluation["rmse"]), "")
        else:
            print(f"numbers: {shared} holds no {housing.PATH}: California is not measured")
        if {"adult", "housing"} <= there:
            right &= boost(daemon, shared, runs)
        else:
            print(f"numbers: {shared} holds no {adult.PATH}: boosted histograms are not measured")
    return right


def speed(binary, shared, runs):
    """Times the MNIST job without evaluation: private, and `sgd` on the same bytes declared public."""
    with Daemon(binary) as daemon, Daemon(binary) as opened:  # one daemon refuses duplicate datasets
        opened.register("open", MNIST, mnist_files(shared, "train"), "public")
        daemon.register("mnist", MNIST, mnist_files(shared, "train"), BUDGET, CONFIRMED)
        private = job("mnist", MLP, 1024, 20, 4, epsilon=2)
        del private["evaluation"]
        plain = {**private, "dataset": "open", "algorithm": {"name": "sgd"},
                 "optimizer": {"name": "sgd", "learning_rate": 0.1}}
        del plain["privacy"]
        specs = {"dpsgd": (daemon, private), "sgd": (opened, plain)}
        seconds = {name: [] for name in specs}
        for _ in range(runs):  # alternately, so that other load on the machine affects both equally
            for name, (where, spec) in specs.items():
                seconds[name].append(where.run_job(spec)[1])
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
            daemon.register("mnist", MNIST, mnist_files(shared, "train"), BUDGET, CONFIRMED)
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
