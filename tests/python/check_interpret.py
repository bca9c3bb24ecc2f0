"""Trains InterpretML's DP-EBM on Adult and California housing, on the splits, ranges and delta of measure.py, and
prints its quality and its seconds; tests/papers/boosting.py reads these rows.

    check_interpret.py SHARED [EPSILON ...]     at 1 and 2, unless others are named
"""

import statistics
import sys
import time

import numpy
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

import adult
import housing

DELTA, RUNS = 1e-5, 3


def adult_part(shared, test):
    rows = adult.part(shared, test)
    cells = numpy.array([[float(cell) if name in adult.RANGES else cell
                          for name, cell in zip(adult.NAMES, row[:-1])] for row in rows], dtype=object)
    return cells, numpy.array([row[-1] == adult.INCOME for row in rows])


def housing_part(shared, test):
    columns = housing.SCHEMA["columns"]
    cells, values = [], []
    for line in housing.lines(shared, test)[1]:
        row = line.strip().split(",")
        cells.append([float(cell or 500) if column["kind"] == "numeric" else cell
                      for column, cell in zip(columns, row) if column["kind"] != "label"])
        values.append(float(row[housing.VALUE]))
    return numpy.array(cells, dtype=object), numpy.array(values)


def ranges(names, bounds):
    return {place: tuple(bounds[name]) for place, name in enumerate(names) if name in bounds}


def report(name, epsilon, results, times):
    print(f"| {name} | {epsilon:g} | {statistics.median(results):.3f} ({min(results):.3f} to {max(results):.3f}) | "
          f"{statistics.median(times):.1f} s |", flush=True)


def classify(shared, epsilon):
    rows, labels = adult_part(shared, False)
    tested, truth = adult_part(shared, True)
    results, times = [], []
    names = adult.NAMES[:-1]
    for _ in range(RUNS):
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=DELTA, n_jobs=2, privacy_bounds=ranges(names, adult.RANGES),
            feature_types=["continuous" if name in adult.RANGES else "nominal" for name in names])
        start = time.monotonic()
        model.fit(rows, labels)
        times.append(time.monotonic() - start)
        results.append(adult.auroc(model.predict_proba(tested)[:, 1].tolist(), truth.tolist()))
    report("Adult, AUROC", epsilon, results, times)


def regress(shared, epsilon):
    rows, values = housing_part(shared, False)
    tested, truth = housing_part(shared, True)
    columns = [column for column in housing.SCHEMA["columns"] if column["kind"] != "label"]
    bounds = {column["name"]: column["range"] for column in columns if "range" in column}
    results, times = [], []
    for _ in range(RUNS):
        model = DPExplainableBoostingRegressor(
            epsilon=epsilon, delta=DELTA, n_jobs=2, privacy_target_min=0, privacy_target_max=500001,
            privacy_bounds=ranges([column["name"] for column in columns], bounds),
            feature_types=["continuous" if "range" in column else "nominal" for column in columns])
        start = time.monotonic()
        model.fit(rows, values)
        times.append(time.monotonic() - start)
        results.append(1 - ((model.predict(tested) - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    report("California housing, R^2", epsilon, results, times)


if __name__ == "__main__":
    print("| DP-EBM of interpret-core | epsilon | median (range) | seconds to fit |\n|---|---|---|---|")
    for value in map(float, sys.argv[2:] or (1, 2)):
        classify(sys.argv[1], value)
        regress(sys.argv[1], value)
