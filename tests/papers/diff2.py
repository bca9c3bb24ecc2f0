"""Murata and Suzuki (ICML 2023), section 6: DIFF2-GD compared with DP-GD on California housing.
As in the paper: 8-10-1 softplus, squared loss, standardised features, target divided by its largest
value, R = 2000, epsilon 3 at delta 1e-5, replace-one, 16,510 records, u = 1.25. The API does not show
gradient norms on the training records, so `descent.c` trains with the same engine and with the noise
that an estimate of the daemon names."""

import csv
import gzip
import io
import os
import subprocess

from trials import CONFIRMED, Figures

TITLE = "DIFF2 (Murata and Suzuki, ICML 2023)"

RECORDS, ROUNDS, EPSILON, DELTA = 16510, 2000, 3, 1e-5
RATES = (0.5, 0.25, 0.125)
FIGURES = ("end_gradient", "end_loss", "tail_gradient", "tail_loss")


def diff2(interval):
    return {"name": "diff2_gd", "clip_norm": 1, "difference_clip": 1,
            "restart_interval": interval, "split": 1.25}


# algorithm, sigma of Proposition 4.1 times N
CASES = (({"name": "dpgd", "clip_norm": 1}, 9.383364e-3 * RECORDS),
         (diff2(6), 4.287181e-3 * RECORDS),
         (diff2(20), 2.345841e-3 * RECORDS),
         (diff2(60), 1.367849e-3 * RECORDS))

REASONS = """
The paper's numbers were lost with its figures: "DIFF2-GD consistently outperformed DP-GD at the final
rounds for each metric", at epsilon 3. Medians of three runs at the rate of .125, .25, .5 whose one run had the
smallest gradient, C1 = C2 = 1 (the paper searches 10 rates and 25 pairs, on the training data too, and
charges for neither). Loss is half the squared error; the gradient is of the mean over all records,
averaged over the last 100 of 2,000 rounds.

* **Gradient norm: found.** DIFF2-GD is ahead at equal epsilon: in two runs six- and threefold at T = 6, four- and sevenfold
  at T = 20, where one run at each rate had chosen another rate; at T = 60 twofold, with the larger loss. The spec's own
  study has the same shape in T.
* **Loss: a tie** (within 4 % at T = 6 and 20, of either sign). The paper says every metric.
* **DP-GD with the mean of its last quarter**, which is free and which the paper does not try, takes away
  most of that: DIFF2-GD's last rounds are then 1.1 to 3.5 times better, at T = 60 no better. The same mean
  serves DIFF2-GD too at T = 6 and keeps it fourfold ahead; at T = 60 it is then behind DP-GD's.
* **Noise**: Proposition 4.1 converts loosely; by the exact curve of a Gaussian the same epsilon takes 1.25
  times less noise, for both methods alike."""


def records(path):
    """Returns lines of target and features for descent: the training part, without every fifth row."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    columns = [[float(row[k] or 435) for row in rows] for k in range(9)]
    target = columns.pop()
    largest = max(target)
    for k, column in enumerate(columns):
        mean = sum(column) / len(column)
        deviation = (sum((value - mean) ** 2 for value in column) / len(column)) ** 0.5
        columns[k] = [(value - mean) / deviation for value in column]
    text = io.StringIO()
    kept = [i for i in range(len(rows)) if i % 5 != 4][:RECORDS]
    for i in kept:
        print(target[i] / largest, *(f"{column[i]:.7g}" for column in columns), file=text)
    return text.getvalue()


def noise_of(trials, algorithm):
    """Returns the first release's noise multiplier at EPSILON, by the accountant."""
    answer = trials.estimate(
        {"dataset": f"blank-{RECORDS}", "model": {"preset": "linear"}, "algorithm": algorithm,
         "optimizer": {"name": "sgd", "learning_rate": 1}, "batch_size": RECORDS,
         "steps": ROUNDS, "privacy": {"epsilon": EPSILON}})
    return answer["noise_multiplier"]


def descend(trials, text, algorithm, noise, rate):
    program = os.path.join(os.path.dirname(trials.binary), "tests", "papers", "descent")
    words = [f"{name}={value}" for name, value in algorithm.items() if name != "name"]
    done = subprocess.run([program, algorithm["name"], str(noise), str(ROUNDS), str(rate), *words],
                          input=text, capture_output=True, text=True, check=True)
    return dict(zip(FIGURES, map(float, done.stdout.split())))


def best_runs(trials, text, algorithm, noise, figure):
    """Makes three runs at the rate whose single run has the smallest figure, as the paper tunes."""
    def least(rate):
        value = descend(trials, text, algorithm, noise, rate)[figure]
        return value if value == value else float("inf")
    rate = min(RATES, key=least)
    return rate, [descend(trials, text, algorithm, noise, rate) for _ in range(3)]


def run(trials):
    text = records(trials.path("california-housing", "housing.csv.gz"))
    trials.add_blank(RECORDS, {"epsilon": 30, "delta": DELTA, "relation": "replace_one"}, CONFIRMED)
    yield ("| method | noise of Proposition 4.1 | ours, the same epsilon | rate | gradient norm "
           "squared, last rounds | of the mean of the last quarter | loss, last rounds | of that mean |")
    yield "|---|---|---|---|---|---|---|---|"
    for algorithm, claimed in CASES:
        noise = noise_of(trials, algorithm)
        rate, runs = best_runs(trials, text, algorithm, noise, "end_gradient")
        name = {"dpgd": "DP-GD"}.get(algorithm["name"]) or (
            f"DIFF2-GD, T = {algorithm['restart_interval']}")
        cells = [scientific([run[figure] for run in runs])
                 for figure in ("end_gradient", "tail_gradient", "end_loss", "tail_loss")]
        yield f"| {name} | {claimed:.1f} | {noise:.1f} | {rate:g} | " + " | ".join(cells) + " |"
    yield REASONS


def scientific(values):
    found = Figures(values)
    low, high = found.values[0], found.values[-1]
    return f"{found.median:.2g} ({low:.2g} to {high:.2g})"
