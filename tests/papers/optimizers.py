"""Optimizers at equal epsilon: sgd, adam, and adam_bc, which subtracts the variance of the noise from the
mean squares (Tang, Shpilevskiy & Lecuyer 2024, 2312.14334). Each has the best of four rates."""

from measure import LINEAR, MLP, job
from trials import BUDGET, CONFIRMED

TITLE = "Optimizers"

EPSILONS = (1, 8)
OPTIMIZERS = {"sgd": (0.5, 1, 2, 4), "adam": (1e-3, 3e-3, 1e-2, 3e-2), "adam_bc": (3e-4, 1e-3, 3e-3, 1e-2)}
FLOORS = (0.1, 0.5, 1)

# Data, model, batch, epochs.
CASES = (("a9a", "linear", LINEAR, 512, 20), ("mnist", "linear", LINEAR, 1024, 20),
         ("mnist", "784-128-10", MLP, 1024, 20))


def specs(case, epsilon, name, **members):
    data, _, model, batch, epochs = case
    for rate in OPTIMIZERS[name]:
        spec = job(data, model, batch, epochs, rate, epsilon=epsilon)
        yield {**spec, "optimizer": {"name": name, "learning_rate": rate, **members}}


def cell(trials, case, epsilon, name, **members):
    best = trials.best_of(list(specs(case, epsilon, name, **members)))
    return f"{trials.figures(best)} at {best['optimizer']['learning_rate']:g}"


def run(trials):
    for name in ("a9a", "mnist"):
        trials.add(name, BUDGET, acknowledge=CONFIRMED)
    yield "| data, model | epsilon | " + " | ".join(OPTIMIZERS) + " |"
    yield "|---|---|" + "---|" * len(OPTIMIZERS)
    for case in CASES:
        for epsilon in EPSILONS:
            cells = [cell(trials, case, epsilon, name) for name in OPTIMIZERS]
            yield f"| {case[0]}, {case[1]} | {epsilon} | " + " | ".join(cells) + " |"
    yield ""
    yield "| data, model | epsilon | " + " | ".join(f"adam_bc, floor {floor}" for floor in FLOORS) + " |"
    yield "|---|---|" + "---|" * len(FLOORS)
    for epsilon in EPSILONS:
        cells = [cell(trials, CASES[-1], epsilon, "adam_bc", floor=floor) for floor in FLOORS]
        yield f"| mnist, 784-128-10 | {epsilon} | " + " | ".join(cells) + " |"
