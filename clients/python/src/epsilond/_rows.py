"""Converts records (lists, dicts, arrays, frames, tables, sparse matrices) to rows of cells. Does not
import numpy: arrays and frames convert themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._tables import PART, Columns, table_of, text_of

UNREAD = ("label", "ignored", "privacy_id")  # kinds of columns that a model does not read

Row = list[Any] | dict[str, Any]


def read_columns(columns: Sequence[Any]) -> list[Any]:
    """The declared columns that a row has a cell for."""
    return [column for column in columns if column["kind"] not in UNREAD]


def parts_of(X: Any, columns: Sequence[Any]) -> Iterator[list[Row]]:
    """Rows for JSON, a part of them at a time. The columns of a table are selected by name, if the
    dataset has columns; an empty cell of a table or an array (NaN) becomes null. A dict stays one."""
    table = table_of(X)
    if table is not None and columns:
        for part in table.parts([column["name"] for column in columns]):
            yield [list(row) for row in zip(*_typed(columns, part))]
    elif table is not None:
        for part in table.parts(table.names):
            yield [list(row) for row in zip(*part)]
    elif hasattr(X, "columns") and columns:
        yield [list(row) for row in zip(*columns_of(X, columns))]
    else:
        rows = _rows(X)
        for start in range(0, len(rows), PART):
            yield rows[start : start + PART]


def columns_of(X: Any, columns: Sequence[Any]) -> Columns:
    """The cells column by column, in the order of `columns`."""
    names = [column["name"] for column in columns]
    table = table_of(X)
    if table is not None:
        found: Columns = [[] for _ in names]
        for part in table.parts(names):
            for cells, more in zip(found, _typed(columns, part)):
                cells += more
        return found
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise ValueError(f"add the columns {missing} to the frame")
        return [_flat(X[name]) for name in names]
    rows = [_cells(row, names, place) for place, row in enumerate(_rows(X))]
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in names]


def _cells(row: Row, names: list[str], place: int) -> list[Any]:
    """The cells of one row in the order of `names`."""
    if isinstance(row, dict):
        missing = [name for name in names if name not in row]
        if missing:
            raise ValueError(f"add {missing} to row {place}: it has only {list(row)}")
        return [row[name] for name in names]
    if len(row) != len(names):
        raise ValueError(f"give the cells {names}: row {place} has {len(row)} cells, must have {len(names)}")
    return row


def _typed(columns: Sequence[Any], part: Columns) -> Columns:
    """The cells of a table as the kinds of their columns need them: a table may have whole numbers for
    words, truth values for numbers, and days for texts."""
    return [[None if cell is None else _cell(column, cell) for cell in cells] for column, cells in zip(columns, part)]


def _cell(column: Any, cell: Any) -> Any:
    if column["kind"] == "date":
        return cell.strftime(column["format"]) if hasattr(cell, "strftime") else str(cell)
    if column["kind"] in ("categorical", "hashed"):
        return text_of(cell)
    return int(cell) if isinstance(cell, bool) and column["kind"] == "numeric" else cell


def _rows(X: Any) -> list[Row]:
    if isinstance(X, Mapping):  # one record
        X = [X]
    for convert in ("toarray", "to_numpy"):
        if hasattr(X, convert):
            X = getattr(X, convert)()
    rows = X.tolist() if hasattr(X, "tolist") else X
    return [_named(row) if isinstance(row, Mapping) else _flat(row) for row in rows]


def _named(row: Mapping[Any, Any]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name, cell in row.items():
        cell = cell.tolist() if hasattr(cell, "tolist") else cell
        if isinstance(cell, (list, tuple, Mapping)):
            raise ValueError(f"give a list of records, each with one cell for {name!r}")
        cells[str(name)] = None if _is_empty(cell) else cell
    return cells


def _flat(row: Any) -> list[Any]:
    row = row.tolist() if hasattr(row, "tolist") else row
    if isinstance(row, str) or not hasattr(row, "__iter__"):
        raise ValueError("give a list of records, each a list of cells or a dict")
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
