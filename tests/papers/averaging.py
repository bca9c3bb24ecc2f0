"""Choices that cost no privacy: averages of the points that training passed through, and the size of a
batch, at equal epsilon. The settings of `make numbers`, at epsilon 1, 2 and 8."""

from measure import LINEAR, MLP, job
from trials import BUDGET, CONFIRMED

TITLE = "Averages, and large batches"

EPSILONS = (1, 2, 8)
AVERAGES = {"the last point": {"kind": "none"}, "tail, half": {"kind": "tail", "share": 0.5},
            "ema, .99": {"kind": "ema", "decay": 0.99}}

# Data, model, batch, epochs, rate.
CASES = (("a9a", "linear", LINEAR, 512, 20, 1), ("mnist", "linear", LINEAR, 1024, 20, 2),
         ("mnist", "784-128-10", MLP, 1024, 20, 4), ("cifar10", "linear", LINEAR, 1024, 20, 0.5))

# The powers of two nearest n / 60, n / 20 and n / 10, at the default rate and 20 epochs.
BATCHES = (("a9a", "linear", LINEAR, (512, 2048, 4096)),
           ("mnist", "linear", LINEAR, (1024, 2048, 4096)),
           ("mnist", "784-128-10", MLP, (1024, 2048, 4096)))

REASONS = """
* **Averages are worth having where noise moves the last point**: the two-layer network at epsilon 1
  gains .8 points from either, CIFAR-10 some .5 from the exponential one. Where training has settled
  they change nothing (a9a), and where it still moves a mean of half the steps is behind it: linear
  MNIST loses .3. So no average is the default, and the exponential one is the one to try first.
* **The default batch stays the power of two nearest n / 60.** At the default rate and 20 epochs three
  times the batch is as good on a9a and up to a point worse on MNIST: fewer steps outweigh the noise
  that they save. Larger rates and more epochs, which a job may name, were not tried here."""


def averages(trials):
    yield "| data, model | epsilon | " + " | ".join(AVERAGES) + " |"
    yield "|---|---|" + "---|" * len(AVERAGES)
    for data, name, model, batch, epochs, rate in CASES:
        for epsilon in EPSILONS:
            spec = job(data, model, batch, epochs, rate, epsilon=epsilon)
            found = [trials.figures({**spec, "averaging": kind}) for kind in AVERAGES.values()]
            yield f"| {data}, {name} | {epsilon} | " + " | ".join(map(str, found)) + " |"


def batches(trials):
    yield ""
    yield "| data, model | epsilon | batch nearest n / 60 | n / 20 | n / 10 |"
    yield "|---|---|---|---|---|"
    for data, name, model, sizes in BATCHES:
        for epsilon in EPSILONS:
            found = [trials.figures(job(data, model, size, 20, 2, epsilon=epsilon)) for size in sizes]
            yield f"| {data}, {name} | {epsilon} | " + " | ".join(map(str, found)) + " |"


def run(trials):
    for name in ("a9a", "mnist", "cifar10"):
        trials.add(name, BUDGET, acknowledge=CONFIRMED)
    yield from averages(trials)
    yield from batches(trials)
    yield REASONS
