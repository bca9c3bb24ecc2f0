"""The step functions of a model of the preset ``histograms`` as a table: what each column, each pair of columns and the
constant add to a record's score: a log of odds, or for a regression the target as it is stored, on [-1, 1]. Everything
in it was released with noise, so small steps may be noise."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from ._errors import Unsupported
from ._listing import Listing
from ._rows import read_columns

CELLS, SIDE_CELLS = 256, 64  # of a number: for itself, and as a side of a pair (engine/nn/layers/histograms.h)
PARTS = {"quarter": 4, "month": 12, "weekday": 7}  # of a date, in the order of their features


class Cell(NamedTuple):
    """A place of one column: of a number from low to below high, or one word. The word None has the records that have
    no declared word."""

    low: Any = None
    high: Any = None
    word: str | None = None


class Step(NamedTuple):
    """What the records of one cell get. A pair has two names and two cells, the constant none. output is a class, or
    None for a regression."""

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    output: Any
    adds: float

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for end, place in (("", 0), ("_2", 1)):
            there = place < len(self.columns)
            row["column" + end] = self.columns[place] if there else None
            row |= {name + end: getattr(self.cells[place], name) if there else None for name in Cell._fields}
        return row | {"class": self.output, "adds": self.adds}


class Shapes(Listing):
    """The steps of all shapes: columns, then pairs, then the constant. Neighbouring cells of a number that add the same
    are one step, since the job joined them to one bin."""

    def __init__(self, arch: dict[str, Any], inputs: dict[str, Any], numbers: dict[str, Any]) -> None:
        """numbers: the tensors by name, each its shape and its bytes."""
        if arch.get("preset") != "histograms":
            raise Unsupported("give a model of the preset histograms: others have no step functions")
        self._pairs: list[tuple[int, int]] = [(left, right) for left, right in arch["pairs"]]
        shape, data = numbers["0.weight"]
        self._outputs = shape[1]
        self._table = struct.unpack(f"<{shape[0] * shape[1]}f", data)
        self._axes = [axis for column in read_columns(inputs["columns"]) for axis in _axes_of(column)]
        self._classes = _classes(inputs, self._outputs)

    def __iter__(self) -> Iterator[Step]:
        first = 0
        for axis in self._axes:
            cells = axis.cells(CELLS)
            yield from self._joined(axis, cells, first)
            first += len(cells)
        for left, right in self._pairs:
            sides = self._axes[left], self._axes[right]
            cells_of = [axis.cells(SIDE_CELLS) for axis in sides]
            for own in cells_of[0]:
                for other in cells_of[1]:
                    yield from self._steps((sides[0].name, sides[1].name), (own, other), first)
                    first += 1
        yield from self._steps((), (), first)

    def __repr__(self) -> str:
        return f"<shapes of {', '.join(axis.name for axis in self._axes)}: iterate, or to_pandas(), to_dicts()>"

    def _values(self, row: int) -> tuple[float, ...]:
        return self._table[row * self._outputs : (row + 1) * self._outputs]

    def _steps(self, columns: tuple[str, ...], cells: tuple[Cell, ...], row: int) -> Iterator[Step]:
        for output, adds in zip(self._classes, self._values(row)):
            yield Step(columns, cells, output, adds)

    def _joined(self, axis: _Axis, cells: list[Cell], first: int) -> Iterator[Step]:
        """The steps of one column."""
        begun = cells[0]
        for place, cell in enumerate(cells):
            row, is_last = first + place, place + 1 == len(cells)
            if axis.words is None and not is_last and self._values(row) == self._values(row + 1):
                continue
            yield from self._steps((axis.name,), (cell._replace(low=begun.low),), row)
            begun = cell if is_last else cells[place + 1]


class _Axis:
    """A column of the model: the words of its cells, or the range of its numbers."""

    def __init__(self, name: str, words: list[str | None] | None = None, bounds: tuple[float, float] = (0, 1),
                 is_date: bool = False) -> None:
        self.name, self.words, self.bounds, self.is_date = name, words, bounds, is_date

    def cells(self, count: int) -> list[Cell]:
        if self.words is not None:
            return [Cell(word=word) for word in self.words]
        edges = [self._edge(k / count) for k in range(count + 1)]
        return [Cell(low, high) for low, high in zip(edges, edges[1:])]

    def _edge(self, share: float) -> Any:
        value = self.bounds[0] * (1 - share) + self.bounds[1] * share
        return datetime.date.fromordinal(int(value)) if self.is_date else value


def _axes_of(column: dict[str, Any]) -> Iterator[_Axis]:
    """The columns of the model that a column of the dataset becomes."""
    name, kind = column["name"], column["kind"]
    if kind in ("categorical", "hashed"):
        words = list(column["values"]) if kind == "categorical" else [f"bucket {k}" for k in range(column["buckets"])]
        words += ["(other)"] * bool(column.get("other")) + ["(missing)"] * (column.get("if_missing") == "category")
        # A single word is a number of 0 or 1.
        yield _Axis(name, [*words, None]) if len(words) > 1 else _Axis(name, bounds=(-1, 1))
        return
    if kind == "date":
        low, high = (datetime.date.fromisoformat(day).toordinal() for day in column["range"])
        yield _Axis(name, bounds=(low, high), is_date=True)
    else:
        low, high = column.get("range", (0, 1))
        yield _Axis(name, bounds=(low, high))
    for part, count in PARTS.items():
        if part in column.get("parts", []):
            yield _Axis(f"{part} of {name}", [*(str(k + 1) for k in range(count)), None])
    if column.get("if_missing") == "indicator":
        yield _Axis(f"{name} is missing", bounds=(-1, 1))


def _classes(inputs: dict[str, Any], outputs: int) -> list[Any]:
    """What each output scores: two classes have one, of the second class."""
    if inputs["task"] != "classification":
        return [None] * outputs
    label = next(column for column in inputs["columns"] if column["kind"] == "label")
    names = list(label["values"])
    return names if outputs > 1 else names[1:2]
