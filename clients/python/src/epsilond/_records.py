"""Converts records in the dataset's own units to the numbers that a model takes.

The model's metadata declares this encoding (`inputs`): numbers are clipped to their range and mapped to
[-1, 1], each word of a categorical column and each bucket of a hashed one is one feature, texts are the ids of their
tokens, arrays are divided by their scale. Every feature is a function of one cell and of the declaration.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._errors import Unsupported
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
        parts = [_encoders[column["kind"]](column, values) for column, values in zip(self._columns, cells)]
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


def _is_missing(column: dict[str, Any], value: Any) -> bool:
    """True if a cell is empty or one of the declared texts. A number counts by its value."""
    if value is None or value == "":
        return True
    texts = column.get("missing", [])
    if column["kind"] != "numeric" or isinstance(value, str):
        return value in texts
    return float(value) in {float(text.replace(",", ".")) for text in texts if _NUMBER.fullmatch(text)}


_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def _check_missing(column: dict[str, Any], missing: list[bool]) -> None:
    if any(missing) and "default" not in column and "if_missing" not in column:
        raise ValueError(f"fill row {missing.index(True)}: column {column['name']!r} is empty and has no default")


def _with_indicator(column: dict[str, Any], features: Floats, missing: list[bool]) -> Floats:
    if "if_missing" not in column:
        return features
    joined: Floats = np.column_stack([features, np.array(missing, dtype=np.float64)])
    return joined


def _numbers(column: dict[str, Any], values: list[Any], bounds: Sequence[float],
             number: Callable[[Any], float]) -> tuple[Floats, list[bool]]:
    """The numbers that cells mean, with defaults or the middle of the range filled in."""
    missing = [_is_missing(column, value) for value in values]
    _check_missing(column, missing)
    default = column.get("default")
    filler = (bounds[0] + bounds[1]) / 2 if default is None else number(default)
    try:
        cells = [filler if gone else number(value) for value, gone in zip(values, missing)]
        numbers = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"give {column['kind']} cells in the column {column['name']!r}: {error}") from None
    return numbers, missing


def _numeric(column: dict[str, Any], values: list[Any]) -> Floats:
    numbers, missing = _numbers(column, values, column["range"], float)
    return _with_indicator(column, _between(numbers, column["range"])[:, None], missing)


def _truth(value: Any) -> float:
    if isinstance(value, str):
        for truth, words in enumerate((("false", "0", "no", "n", "f", "off"), ("true", "1", "yes", "y", "t", "on"))):
            if value.strip().lower() in words:
                return float(truth)
        raise ValueError(f"{value!r} is neither true nor false")
    return float(bool(value))


def _boolean(column: dict[str, Any], values: list[Any]) -> Floats:
    numbers, missing = _numbers(column, values, [0, 1], _truth)
    return _with_indicator(column, _between(numbers, [0, 1])[:, None], missing)


_EPOCH = datetime.date(1970, 1, 1).toordinal()
_PARTS: dict[str, tuple[int, Callable[[datetime.date], int]]] = {
    "quarter": (4, lambda day: (day.month - 1) // 3),
    "month": (12, lambda day: day.month - 1),
    "weekday": (7, lambda day: day.weekday()),
}


def _date(column: dict[str, Any], values: list[Any]) -> Floats:
    """Days, then a feature for each value of each part. Texts are in the column's format."""
    bounds = [_iso(day) for day in column["range"]]

    def days(value: Any) -> float:
        if isinstance(value, datetime.datetime):
            value = value.date()
        if not isinstance(value, datetime.date):
            value = datetime.datetime.strptime(str(value), column["format"]).date()
        return float(value.toordinal() - _EPOCH)

    dated = {**column, "default": datetime.date.fromisoformat(column["default"])} if "default" in column else column
    numbers, missing = _numbers(dated, values, bounds, days)
    parts = [_between(numbers, bounds)]
    known = [not gone or "default" in column for gone in missing]
    for name, (size, of) in _PARTS.items():
        if name in column.get("parts", []):
            clipped = [datetime.date.fromordinal(int(day) + _EPOCH) for day in np.clip(numbers, bounds[0], bounds[1])]
            shown = [of(day) if has else -1 for day, has in zip(clipped, known)]
            parts.append(np.array([[float(k == one) for k in range(size)] for one in shown]))
    return _with_indicator(column, np.column_stack(parts), missing)


def _iso(text: str) -> float:
    return float(datetime.date.fromisoformat(text).toordinal() - _EPOCH)


def _words(column: dict[str, Any], values: list[Any], count: int, place: Callable[[str], int | None]) -> Floats:
    """One feature per word, then the one for other words and the one for missing cells, if declared."""
    missing = [_is_missing(column, value) for value in values]
    _check_missing(column, missing)
    other, category = bool(column.get("other")), "if_missing" in column
    found = np.zeros((len(values), count + other + category))
    for row, (value, gone) in enumerate(zip(values, missing)):
        if gone and category:
            found[row, -1] = 1
            continue
        at = place(column["default"] if gone else value)
        if at is None and not other:
            raise ValueError(f"correct row {row}: column {column['name']!r} has no value {value!r}")
        found[row, count if at is None else at] = 1
    return found


def _one_hot(column: dict[str, Any], values: list[Any]) -> Floats:
    places = {value: place for place, value in enumerate(column["values"])}
    return _words(column, values, len(places), places.get)


def _hashed(column: dict[str, Any], values: list[Any]) -> Floats:
    def bucket(text: str) -> int:
        digest = hashlib.sha256(f"{column['seed']}:{text}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % int(column["buckets"])

    return _words(column, values, column["buckets"], bucket)


def _ids(column: dict[str, Any], values: list[Any]) -> Floats:
    """The bytes of each text, with -1 behind its end. Other tokenizers need files that a model's file lacks."""
    if column["tokenizer"]["kind"] != "bytes":
        raise Unsupported("use the model's predict(): its texts need the files of their tokenizer, which the "
                          "service has; torch() takes ids of tokens")
    ids = np.full((len(values), column["length"]), -1.0)
    for row, value in enumerate(values):
        own = ("" if value is None else str(value)).strip(" \t").encode()[: column["length"]]
        ids[row, : len(own)] = list(own)
    return ids


def _size(column: dict[str, Any]) -> int:
    """How many features a column has."""
    own: int = {"categorical": len(column.get("values", [])), "hashed": column.get("buckets", 0),
           "text": column.get("length", 0)}.get(column["kind"], 1)
    parts = sum(_PARTS[name][0] for name in column.get("parts", []))
    return own + parts + bool(column.get("other")) + (column.get("if_missing") in ("category", "indicator"))


def places_of(columns: Sequence[Any]) -> list[tuple[str, int, int]]:
    """The name of each column that a model reads, its first feature, and how many it has."""
    places, first = [], 0
    for column in read_columns(columns):
        places.append((column["name"], first, _size(column)))
        first += places[-1][2]
    return places


# The encodings by kind of column. Other kinds make no features.
_encoders: dict[str, Callable[[dict[str, Any], list[Any]], Floats]] = {
    "numeric": _numeric,
    "categorical": _one_hot,
    "boolean": _boolean,
    "date": _date,
    "hashed": _hashed,
    "text": _ids,
}


def _between(values: Floats, bounds: Sequence[float]) -> Floats:
    """Clips values to [low, high] and maps them to [-1, 1]."""
    low, high = bounds
    mapped: Floats = 2 * ((np.clip(values, low, high) - low) / (high - low)) - 1
    return mapped
