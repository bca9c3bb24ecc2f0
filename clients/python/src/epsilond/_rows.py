"""Converts records (lists, arrays, frames, sparse matrices) to rows of cells. Does not import numpy:
arrays and frames convert themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def rows_of(X: Any, names: Sequence[str] | None) -> list[list[Any]]:
    """Rows of values for JSON. The columns of a frame are selected by name, if the dataset has names;
    an empty cell of a frame or an array (NaN) becomes null."""
    if hasattr(X, "columns") and names is not None:
        return [list(row) for row in zip(*columns_of(X, names))]
    for convert in ("toarray", "to_numpy"):
        if hasattr(X, convert):
            X = getattr(X, convert)()
    rows = X.tolist() if hasattr(X, "tolist") else X
    return [_flat(row) for row in rows]


def _flat(row: Any) -> list[Any]:
    row = row.tolist() if hasattr(row, "tolist") else row
    if isinstance(row, str) or not hasattr(row, "__iter__"):
        raise ValueError("give a list of records, each a list of cells")
    cells: list[Any] = []
    for cell in row:
        cell = cell.tolist() if hasattr(cell, "tolist") else cell
        if isinstance(cell, (list, tuple)):
            cells += _flat(cell)
        else:
            cells.append(None if _is_empty(cell) else cell)
    return cells


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def columns_of(X: Any, names: Sequence[str]) -> list[list[Any]]:
    """The cells column by column, in the order of `names`."""
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise ValueError(f"the frame lacks the columns {missing}")
        return [_flat(X[name]) for name in names]
    rows = rows_of(X, None)
    for place, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError(f"row {place} has {len(row)} cells, must have {len(names)}: {list(names)}")
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in names]
