"""Adult of SHARED, with its words and `?`: every fifth row is the test part.

The ranges are those that a person would state without seeing these records.
"""

import gzip
import os

PATH = os.path.join("data", "adult", "adult.data.gz")
INCOME = ">50K"
NAMES = ("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
         "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income")
RANGES = {"age": [0, 100], "fnlwgt": [0, 1000000], "education_num": [1, 16], "capital_gain": [0, 100000],
          "capital_loss": [0, 5000], "hours_per_week": [0, 100]}


def rows(shared):
    with gzip.open(os.path.join(shared, PATH), "rt", encoding="ascii") as file:
        return [[cell.strip() for cell in line.split(",")] for line in file if line.strip()]


def part(shared, test):
    return [row for place, row in enumerate(rows(shared), 1) if (place % 5 == 0) == test]


def column(name, words):
    if name == "income":
        return {"name": name, "kind": "label", "values": ["<=50K", INCOME]}
    if name in RANGES:
        return {"name": name, "kind": "numeric", "range": RANGES[name]}
    return {"name": name, "kind": "categorical", "values": sorted(words - {"?"}), "missing": ["?"],
            "if_missing": "category"}


def schema(shared):
    """The words of the columns are those of the census, which are public."""
    return {"format": "csv", "task": "classification", "header": False,
            "columns": [column(name, set(words)) for name, words in zip(NAMES, zip(*rows(shared)))]}


def files(shared, test):
    return {"data": "".join(",".join(row) + "\n" for row in part(shared, test)).encode()}


def inputs(shared):
    """The rows of the test part as predict takes them, and whether each income is high."""
    test = part(shared, True)
    cells = [[float(cell) if name in RANGES else cell for name, cell in zip(NAMES, row[:-1])] for row in test]
    return cells, [row[-1] == INCOME for row in test]


def auroc(scores, labels):
    """The share of pairs of a high and a low income in which the high one has the larger score; half for ties."""
    order, place = sorted(zip(scores, labels)), 0
    wins = lower = 0
    while place < len(order):
        end = place
        while end < len(order) and order[end][0] == order[place][0]:
            end += 1
        high = sum(label for _, label in order[place:end])
        wins += high * (lower + (end - place - high) / 2)
        lower += end - place - high
        place = end
    return wins / (lower * (len(order) - lower))
