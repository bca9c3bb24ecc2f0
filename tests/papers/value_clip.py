"""Fang, Li, Fan and Li (ICLR 2023), section 6: value clipping compared with gradient clipping on
MNIST. As in the paper: B = 128, 10 epochs, sigma 1 or the epsilon named, no biases."""

from trials import BUDGET, CONFIRMED

TITLE = "Value clipping (Fang et al., ICLR 2023)"

RATES = (2e-3, 5e-3, 1e-2)
MODELS = {"linear": [{"type": "dense", "out": 10, "bias": False}],
          "784-128-10": [{"type": "dense", "out": 128, "bias": False}, {"type": "relu"},
                         {"type": "dense", "out": 10, "bias": False}]}
METHODS = {"gradient": {"name": "dpsgd"},
           "paper": {"name": "value_clip", "bound": "paper"},
           "forward": {"name": "value_clip", "bound": "forward"}}
SIGMA = {"noise_multiplier": 1.0}

# Pixels are divided by 255, or by 78.57: the usual standardised MNIST without its shift.
# C, privacy, the rates from which the best is chosen, and the figure of the paper.
CASES = (
    ("linear", "mnist", 5, SIGMA, RATES, "about 2 lower, C not said"),
    ("linear", "mnist", 20, SIGMA, RATES, "the same"),
    ("linear", "mnist-wide", 5, SIGMA, RATES, "the same"),
    ("linear", "mnist-wide", 20, SIGMA, RATES, "the same"),
    ("linear", "mnist-wide", 20, {"epsilon": 10}, RATES, "about 2 lower"),
    ("linear", "mnist-wide", 20, {"epsilon": 0.01}, RATES, "about 5 lower"),
    ("784-128-10", "mnist", 10, SIGMA, RATES[-1:], "about 4 lower"),
    ("784-128-10", "mnist", 20, SIGMA, RATES[-1:], "2 to 3 lower"),
    ("784-128-10", "mnist", 20, {"epsilon": 10}, RATES[-1:], "about 3 lower"),
    ("784-128-10", "mnist", 20, {"epsilon": 0.01}, RATES, "about 9 lower"),
)

REASONS = """
The paper's curves were lost; the last column is its text. Linear models, and the last row, take the
best of its three rates (.002, .005, .01) by one job each, as the paper chose; the other rows take .01.
Which pixels it fed, and C and rate at epsilon 10 and 0.01, are not said.

* **Sigma 1: found.** About 2 points on the linear model, about 4 on the two-layer one at C = 10. With
  pixels in [0, 1] and C = 20 next to nothing is clipped, and the linear models agree. At C = 20 the
  two-layer model loses a point more than the paper's 2 to 3.
* **Where they come from: a finding.** The paper blames f_lb = 0. `forward`, a proved bound with the
  same f_lb, loses less than a point from epsilon 1 on (8 and 11 at 0.01, two layers, in two runs): the rest is the slack
  of the printed bound, at least sqrt 2 and about 5 for two layers at the start. A bound that is k times
  too large is exact clipping at C / k under k times the noise.
* **Epsilon**: the gap grows as epsilon falls, as the paper's numbers say (its sentence says the
  reverse); ours grows faster, from half or two thirds of the paper's at 10 to two and three times its at 0.01.
* Exact norms cost nothing here, so value clipping has no use but the comparison."""


def spec(case, method, rate):
    model, data, clip, privacy, _, _ = case
    return {"dataset": data, "evaluation": f"{data}-test", "model": {"layers": MODELS[model]},
            "algorithm": {**METHODS[method], "clip_norm": clip}, "batch_size": 128, "epochs": 10,
            "optimizer": {"name": "sgd", "learning_rate": rate}, "privacy": privacy}


def figures(trials, case, method):
    specs = [spec(case, method, rate) for rate in case[4]]
    return trials.figures(specs[0] if len(specs) == 1 else trials.best_of(specs))


def run(trials):
    trials.add("mnist", BUDGET, acknowledge=CONFIRMED)
    with trials.another() as wide:
        wide.add("mnist", BUDGET, as_name="mnist-wide", acknowledge=CONFIRMED,
                 features={"shape": [1, 28, 28], "scale": 78.57})
        yield from table({"mnist": trials, "mnist-wide": wide})
    yield REASONS


def table(daemons):
    yield ("| model | pixels over | C | epsilon | gradient clipping | value clipping, `paper` "
           "| value clipping, `forward` | `paper` less gradient | the paper |")
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in CASES:
        model, data, clip, _, _, said = case
        trials = daemons[data]
        found = {method: figures(trials, case, method) for method in METHODS}
        gap = found["paper"].median - found["gradient"].median
        epsilon = trials.estimate(spec(case, "gradient", 1))["epsilon_planned"]
        yield (f"| {model} | {'78.57' if 'wide' in data else '255'} | {clip} | {epsilon:.3g} | "
               + " | ".join(str(found[method]) for method in METHODS)
               + f" | {gap:+.1f} | {said} |")
