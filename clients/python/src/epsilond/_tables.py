"""Reads tables of other packages part by part: frames of pandas and polars, tables of Arrow, and Parquet
files. Imports pyarrow only for a Parquet file; all other tables convert themselves."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._errors import Unsupported

PART = 10_000  # rows that are converted at a time
PARQUET = b"PAR1"  # the first bytes of a Parquet file
PARQUET_NAMES = (".parquet", ".pq")

Columns = list[list[Any]]  # cells, column by column


class Table:
    """A table of another package: the names of its columns, and its cells, part by part."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.names: list[str] = []

    def parts(self, names: Sequence[str]) -> Iterator[Columns]:
        """The cells of these columns, PART rows at a time. An empty cell is None. Each call reads the
        table from its beginning."""
        self.require(names)
        for part in self._parts(list(names)):
            yield [[cell_of(cell, name) for cell in cells] for name, cells in zip(names, part)]

    def require(self, names: Sequence[str]) -> None:
        """Raises ValueError if the table lacks one of these columns."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ValueError(f"add the columns {missing}: the table has only {self.names}")

    def _parts(self, names: list[str]) -> Iterator[Columns]:
        raise NotImplementedError


class _Pandas(Table):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.names = _distinct(source.columns)

    def _parts(self, names: list[str]) -> Iterator[Columns]:
        for start in range(0, len(self._source), PART):
            part = self._source.iloc[start : start + PART]
            yield [part[name].tolist() for name in names]


class _Polars(Table):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.names = _distinct(source.columns)

    def _parts(self, names: list[str]) -> Iterator[Columns]:
        for part in self._source.select(names).iter_slices(PART):
            yield [part[name].to_list() for name in names]


class _Arrow(Table):
    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.names = _distinct(source.schema.names)

    def _parts(self, names: list[str]) -> Iterator[Columns]:
        chosen = self._source.select(names)
        batches = chosen.to_batches(max_chunksize=PART) if hasattr(chosen, "to_batches") else [chosen]
        for batch in batches:
            yield [batch.column(place).to_pylist() for place in range(len(names))]


class _Parquet(Table):
    """A Parquet file. It is opened for each reading, and only PART rows of it are in memory."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        with _parquet(source) as file:
            self.names = _distinct(file.schema_arrow.names)

    def _parts(self, names: list[str]) -> Iterator[Columns]:
        with _parquet(self._source) as file:
            for batch in file.iter_batches(batch_size=PART, columns=names):
                yield [batch.column(name).to_pylist() for name in names]


def _parquet(path: Any) -> Any:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise Unsupported("install pyarrow to read Parquet files: pip install epsilond[arrow]") from None
    return ParquetFile(path)


def _distinct(names: Any) -> list[str]:
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts) or list(names) != texts:
        raise ValueError("name each column with a text of its own: the columns of the table are "
                         f"{list(names)}")
    return texts


def is_parquet(path: Any) -> bool:
    """True if this is the path of a Parquet file, by its name or its first bytes."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    if os.fspath(path).endswith(PARQUET_NAMES):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except OSError:
        return False


def table_of(source: Any) -> Table | None:
    """The table, if `source` is a frame, an Arrow table or the path of a Parquet file; otherwise None."""
    package = type(source).__module__.split(".")[0]
    if package == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns"):
        return _Pandas(source)
    if package == "polars" and hasattr(source, "iter_slices"):
        return _Polars(source)
    if package == "polars" and hasattr(source, "collect"):
        raise TypeError("collect() the lazy frame first: its query runs in your process")
    if package == "pyarrow" and hasattr(source, "schema") and hasattr(source, "select"):
        return _Arrow(source)
    return _Parquet(source) if is_parquet(source) else None


def cell_of(value: Any, name: str) -> Any:
    """A cell as JSON and CSV know it: None, a text, a number or a truth value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # empty cells of pandas
        return None
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, (Mapping, Sequence)) or hasattr(value, "__array__"):
        raise ValueError(f"replace the column {name!r} by columns of single values: its cells are "
                         f"{type(value).__name__}s")
    if hasattr(value, "item"):  # a number of numpy
        return cell_of(value.item(), name)
    return str(value)


def text_of(cell: Any) -> str:
    """A cell as a CSV file has it. A whole number has no decimal point: a column of whole numbers with
    empty cells is a column of floats in pandas."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell)


def csv_of(table: Table, names: Sequence[str]) -> Iterator[bytes]:
    """The table as CSV with a header, part by part."""
    yield _lines([list(names)])
    for columns in table.parts(names):
        yield _lines([list(row) for row in zip(*([text_of(cell) for cell in cells] for cells in columns))])


def _lines(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
