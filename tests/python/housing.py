"""California housing of SHARED: every fifth row is the test part.

The ranges are those that a person would state without seeing these districts: the state's
bounds, ten thousand rooms, five thousand people, an income of 150,000 dollars, house
values up to the census's cap. Values outside are clipped.
"""

import gzip
import os
import statistics

PATH = os.path.join("data", "california-housing", "housing.csv.gz")
VALUE = 8  # the column of the house value


def numeric(name, high, low=0, **more):
    return {"name": name, "kind": "numeric", "range": [low, high], **more}


SCHEMA = {
    "format": "csv", "task": "regression", "header": True,
    "columns": [
        numeric("longitude", -114, low=-125), numeric("latitude", 42, low=32),
        numeric("housing_median_age", 52), numeric("total_rooms", 10000),
        numeric("total_bedrooms", 2000, default=500), numeric("population", 5000),
        numeric("households", 2000), numeric("median_income", 15),
        {"name": "median_house_value", "kind": "label", "range": [0, 500001]},
        {"name": "ocean_proximity", "kind": "categorical",
         "values": ["<1H OCEAN", "INLAND", "NEAR OCEAN", "NEAR BAY", "ISLAND"]},
    ],
}


def lines(shared, test):
    with gzip.open(os.path.join(shared, PATH), "rt") as file:
        head, *rows = file
    return head, [line for row, line in enumerate(rows, 1) if (row % 5 == 0) == test]


def files(shared, test):
    head, rows = lines(shared, test)
    return {"data": (head + "".join(rows)).encode()}


def explained(shared, rmse):
    """Returns R^2 on the test part: 1 - squared error / variance."""
    _, rows = lines(shared, True)
    values = [float(row.split(",")[VALUE]) for row in rows]
    return 1 - rmse ** 2 / statistics.pvariance(values)
