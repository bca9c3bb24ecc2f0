"""Wu, Wang, Cristali, Gu and Willett 2021: noise that grows as the step falls (ADP), compared with
constant noise, at the same epsilon by the accountant. As in the paper: rate 1 / sqrt(20 + t), B = 256.
The paper's CIFAR-10 network was pre-trained on CIFAR-100; ours starts from scratch."""

from trials import BUDGET, CONFIRMED, Figures, accuracy, best_accuracy

TITLE = "ADP-SGD (Wu et al., 2021)"

EPOCHS = 20
POWERS = (0, 0.25, 0.5)
MODELS = {"linear": {"preset": "linear"},
          "3072-64-10": {"preset": "mlp", "hidden": [64], "activation": "relu"}}

# data, model, C, epsilon, the paper's gaps at similar eps-bar (0.8, 6.4) and 60 epochs
CASES = (
    ("cifar10", "linear", 1, 0.2, "+0.2, -0.3"),
    ("cifar10", "linear", 2.5, 0.2, "+10.6, -1.4"),
    ("cifar10", "linear", 10, 0.2, "+17.3, -0.8 (C = 5)"),
    ("cifar10", "linear", 1, 2, "+0.1, +0.2"),
    ("cifar10", "linear", 2.5, 2, "+0.3, +0.4"),
    ("cifar10", "3072-64-10", 2.5, 0.2, "+10.6, -1.4"),
    ("mnist", "linear", 2.5, 0.2, ""),
    ("mnist", "linear", 2.5, 2, ""),
    ("a9a", "linear", 1, 0.2, ""),
    ("a9a", "linear", 1, 2, ""),
)

# AdaGrad-Norm on CIFAR-10, linear: C, epsilon, the paper's gaps at eps-bar 0.8 and 6.4
ADAGRAD_CASES = ((1, 0.2, "+0.4"), (2.5, 0.2, "+0.6"), (1, 2, "+0.3"), (2.5, 2, "+1.3"))
ADAGRAD_POWERS = (0, 0.5)

REASONS = """
20 epochs, rate 1 / sqrt(20 + t), medians of the best point on the path (as the paper reports) and of
the last iterate; power p: noise grows as the inverse rate to the p. The paper's gaps are at eps-bar 0.8
and 6.4 with 60 epochs, calibrated by its formula: at 6.4 that gives ADP 2 to 5 times the epsilon of
constant noise (first table).

* **At equal epsilon by the accountant the gap is small and of both signs.** At 0.2 noise multipliers
  are large and early quiet steps cheap: between +1.5 and -0.8. At 2 they are dear, as the spec's 1.8
  computes, and ADP loses up to 0.8. What the paper gains at large eps-bar is budget. Two earlier runs of the first five
  rows gave, best and last: +0.7, +0.4; +0.1, -0.4; +1.5, +0.4; -0.2, -0.1; -0.4, -0.2, and
  +1.2, +1.0; +1.0, +1.0; +0.9, +0.4; -0.3, -0.3; -0.5, -0.5.
* **The paper's +10 to +22 at eps-bar 0.8 and C of 2.5 and more: the sign, not the size.** They are cells
  where constant noise drowns the network, over 12,000 to 39,000 steps, at the best iterate; over all C
  and epochs the paper's own best there is 57.5 against 56.9. Ours run 3,907 steps: at C = 2.5 neither
  31,000 nor 197,000 parameters drown, and at C = 10, where they do, ADP is 0.9 to 1.5 ahead at its best and
  0.4 to 0.9 at the end.
* **Power .25**, the default here, is the best or level in the linear cells: -0.2 to +1.3.
* The last iterate gains no more than the best one over the three runs, as the quadratic of the spec (3.4) has it."""

ADAGRAD_REASONS = """
* **The same picture**: ADP gains where epsilon is small (in another run +0.4, +0.3 and +0.4, +0.2) and nothing at 2. The
  paper's +1.3 is at an eps-bar of 6.4, where its formula gave ADP more budget.
* The envelope lets noise grow by a third over the 3,907 steps, and is known before the first of them. What the
  paper rules out, noise that follows the divisor itself, is offered under the filter."""


def job(data, model, algorithm, epsilon):
    return {"dataset": data, "evaluation": f"{data}-test", "model": MODELS[model],
            "algorithm": {"name": "adp", **algorithm},
            "optimizer": {"name": "sgd", "learning_rate": 1}, "batch_size": 256,
            "epochs": EPOCHS, "privacy": {"epsilon": epsilon}}


def spec(case, power):
    data, model, clip, epsilon, _ = case
    falling = {"schedule": "inverse_sqrt", "offset": 20, "slope": 1,
               "noise_power": power, "clip_norm": clip}
    return job(data, model, falling, epsilon)


def adagrad_spec(case, power):
    clip, epsilon, _ = case
    norms = {"schedule": "adagrad_norm", "noise_power": power, "clip_norm": clip}
    return job("cifar10", "linear", norms, epsilon)


def compared(trials, specs):
    """Returns the cells of the best iterate and of the last one, and the gain of the last spec over the
    first in both."""
    jobs = [trials.jobs(spec) for spec in specs]
    figures = [[Figures(map(of, done)) for done in jobs] for of in (best_accuracy, accuracy)]
    gaps = [f"{found[-1].median - found[0].median:+.1f}" for found in figures]
    return " | ".join(str(cell) for found in figures for cell in found), ", ".join(gaps)


def adagrad_table(trials):
    yield ("| C | epsilon | best on the path: constant noise | envelope (ADP) "
           "| last iterate: constant noise | envelope (ADP) "
           "| ADP less constant, best and last | the paper's best |")
    yield "|---|---|---|---|---|---|---|---|"
    for case in ADAGRAD_CASES:
        cells, gaps = compared(trials, [adagrad_spec(case, power) for power in ADAGRAD_POWERS])
        clip, epsilon, said = case
        yield f"| {clip:g} | {epsilon:g} | {cells} | {gaps} | {said} |"


def run(trials):
    for data in sorted({case[0] for case in CASES}):
        trials.add(data, BUDGET, acknowledge=CONFIRMED)
    yield ("| data, model | C | epsilon | best on the path: constant noise | power .25 "
           "| power .5 (ADP) | last iterate: constant noise | power .25 | power .5 (ADP) "
           "| ADP less constant, best and last | the paper's, at its own accounts |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for case in CASES:
        data, model, clip, epsilon, said = case
        cells, gaps = compared(trials, [spec(case, power) for power in POWERS])
        yield f"| {data}, {model} | {clip:g} | {epsilon:g} | {cells} | {gaps} | {said} |"
    yield REASONS
    yield ("\nAdaGrad-Norm (Table 3 of the paper, which divides by raw norms and is not private): ours releases the norm of "
           "each\nstep's sum, with noise, and is charged for it. CIFAR-10, linear, the defaults of `adp`:\n")
    yield from adagrad_table(trials)
    yield ADAGRAD_REASONS
