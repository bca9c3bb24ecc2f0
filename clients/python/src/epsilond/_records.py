"""Converts records in the dataset's own units to the numbers that a model takes.

The model's metadata declares this encoding (`inputs`): numeric columns are clipped to their range and
mapped to [-1, 1], each word of a categorical column is one feature, arrays are divided by their scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._rows import columns_of, parts_of, read_columns
from ._tables import table_of

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Records:
    """The `inputs` of a model: how to encode a record, and how to interpret the model's output."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        self._inputs = inputs
        self._features: dict[str, Any] = inputs.get("features") or {}
        columns = inputs.get("columns") or []
        self._columns = read_columns(columns)
        self._label = next((c for c in columns if c["kind"] == "label"), None)

    @property
    def classes(self) -> list[Any] | None:
        """The declared classes, in the order of the outputs; None if the model is a regression."""
        if self._inputs["task"] != "classification":
            return None
        if self._label is not None:
            return list(self._label["values"])
        labels = self._inputs.get("labels") or range(self._inputs["classes"])
        return [int(label) if float(label).is_integer() else label for label in labels]

    @property
    def target_range(self) -> tuple[float, float]:
        """For a regression: the range of the label that is mapped to [-1, 1]."""
        low, high = (self._label or self._inputs["target"])["range"]
        return low, high

    def encode(self, X: Any) -> Floats:
        """Returns (rows, features), float64. A ValueError names the row and column that cannot be read."""
        if not self._columns:
            return self._encode_array(X)
        cells = columns_of(X, self._columns)
        parts = [_numeric(column, values) if column["kind"] == "numeric" else _one_hot(column, values)
                 for column, values in zip(self._columns, cells)]
        features: Floats = np.column_stack(parts)
        return features

    def _encode_array(self, X: Any) -> Floats:
        if hasattr(X, "toarray"):  # a sparse matrix of scipy
            X = X.toarray()
        if table_of(X) is not None:
            X = [row for part in parts_of(X, []) for row in part]
        values: Floats = np.asarray(X, dtype=np.float64)
        if values.ndim < 2:
            raise ValueError("give a list of records, each a list of values")
        values = values.reshape(len(values), -1)
        count = self._features.get("count") or math.prod(self._features["shape"])
        if values.shape[1] != count:
            raise ValueError(f"give {count} values for each record: one has {values.shape[1]} values, must have {count}")
        if not np.isfinite(values).all():
            raise ValueError("give finite numbers: a value is not a finite one")
        if "scale" in self._features:
            values = values / self._features["scale"]
        elif "range" in self._features:
            values = _between(values, self._features["range"])
        return values


def _filled(column: dict[str, Any], values: list[Any]) -> list[Any]:
    """Replaces empty cells by the column's default; raises ValueError if it has none."""
    for place, value in enumerate(values):
        if value is None and "default" not in column:
            raise ValueError(f"fill row {place}: column {column['name']!r} is empty and has no default")
    return [column["default"] if value is None else value for value in values]


def _numeric(column: dict[str, Any], values: list[Any]) -> Floats:
    try:
        return _between(np.array(_filled(column, values), dtype=np.float64), column["range"])
    except TypeError as error:
        raise ValueError(f"give numbers in the column {column['name']!r}: {error}") from None


def _one_hot(column: dict[str, Any], values: list[Any]) -> Floats:
    places = {value: place for place, value in enumerate(column["values"])}
    found = np.zeros((len(values), len(places)))
    for row, value in enumerate(_filled(column, values)):
        if value not in places:
            raise ValueError(f"correct row {row}: column {column['name']!r} has no value {value!r}")
        found[row, places[value]] = 1
    return found


def _between(values: Floats, bounds: Sequence[float]) -> Floats:
    """Clips values to [low, high] and maps them to [-1, 1]."""
    low, high = bounds
    mapped: Floats = 2 * (np.clip(values, low, high) - low) / (high - low) - 1
    return mapped
