"""Wu, Wang, Cristali, Gu and Willett 2021: noise that grows as the step falls (ADP) against
constant noise, at the same epsilon by the accountant. As the paper: rate 1 / sqrt(20 + t),
B = 256; its CIFAR-10 network was pre-trained on CIFAR-100, ours start from scratch."""

from trials import BUDGET, Figures, accuracy, best_accuracy

TITLE = "ADP-SGD (Wu et al., 2021)"

EPOCHS = 20
POWERS = (0, 0.25, 0.5)
MODELS = {"linear": {"preset": "linear"},
          "3072-64-10": {"preset": "mlp", "hidden": [64], "activation": "relu"}}

# data, model, C, epsilon, the paper's gaps at the like eps-bar (0.8, 6.4) and 60 epochs
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

REASONS = """
20 epochs, rate 1 / sqrt(20 + t), medians of the best point on the path (as the paper reports) and of
the last iterate; power p: noise grows as the inverse rate to the p. The paper's gaps are at eps-bar 0.8
and 6.4 with 60 epochs, calibrated by its formula: at 6.4 that gives ADP 2 to 5 times the epsilon of
constant noise (first table).

* **At equal epsilon by the accountant the gap is small and of both signs.** At 0.2 noise multipliers
  are large and early quiet steps cheap: between +1.5 and -0.8. At 2 they are dear, as the spec's 1.8
  computes, and ADP loses up to 0.5. What the paper gains at large eps-bar is budget. A second run of the first five
  rows gave, best and last: +1.2, +1.0; +1.0, +1.0; +0.9, +0.4 at 0.2, and -0.3, -0.3; -0.5, -0.5 at 2.
* **The paper's +10 to +22 at eps-bar 0.8 and C of 2.5 and more: the sign, not the size.** They are cells
  where constant noise drowns the network, over 12,000 to 39,000 steps, at the best iterate; over all C
  and epochs the paper's own best there is 57.5 against 56.9. Ours run 3,907 steps: at C = 2.5 neither
  31,000 nor 197,000 parameters drown, and at C = 10, where they do, ADP is 1.5 ahead at its best and 0.4
  at the end.
* **Power .25**, the default here, is the best or level in the linear cells: -0.1 to +1.1.
* The last iterate gains less than the best one, as the quadratic of the spec (3.4) has it."""


def spec(case, power):
    data, model, clip, epsilon, _ = case
    return {"dataset": data, "evaluation": f"{data}-test", "model": MODELS[model],
            "algorithm": {"name": "adp", "schedule": "inverse_sqrt", "offset": 20, "slope": 1,
                          "noise_power": power, "clip_norm": clip},
            "optimizer": {"name": "sgd", "learning_rate": 1}, "batch_size": 256,
            "epochs": EPOCHS, "privacy": {"epsilon": epsilon}}


def run(trials):
    for data in sorted({case[0] for case in CASES}):
        trials.add(data, BUDGET)
    yield ("| data, model | C | epsilon | best on the path: constant noise | power .25 "
           "| power .5 (ADP) | last iterate: constant noise | power .25 | power .5 (ADP) "
           "| ADP less constant, best and last | the paper's, at its own accounts |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for case in CASES:
        data, model, clip, epsilon, said = case
        jobs = [trials.jobs(spec(case, power)) for power in POWERS]
        best = [Figures(map(best_accuracy, done)) for done in jobs]
        last = [Figures(map(accuracy, done)) for done in jobs]
        gaps = [found[-1].median - found[0].median for found in (best, last)]
        yield (f"| {data}, {model} | {clip:g} | {epsilon:g} | "
               + " | ".join(map(str, best + last))
               + f" | {gaps[0]:+.1f}, {gaps[1]:+.1f} | {said} |")
    yield REASONS
