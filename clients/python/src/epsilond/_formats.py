"""Infers the format of files by their names and first bytes, in this process. It looks at the form of a
file only: what a column means, its range and its words are never inferred."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._tables import Table, table_of
from ._transport import Content

HEAD = 65536  # bytes that are examined
DELIMITERS = (";", "\t", "|", ",")  # the comma comes last, because it may be a decimal sign
BY_NAME = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".libsvm": "libsvm", ".svm": "libsvm",
           ".svmlight": "libsvm"}
BY_MAGIC = {b"\x93NUMPY": "npy", b"\0\0\x08": "idx"}
GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def opened(content: Content) -> Iterator[Any]:
    """The bytes of a file, unpacked if they are gzip."""
    with contextlib.ExitStack() as stack:
        file: Any = io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb")
        stack.enter_context(file)
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        yield stack.enter_context(gzip.open(file)) if packed else file


def head_of(content: Content) -> bytes:
    """The first bytes of a file, unpacked if they are gzip."""
    with opened(content) as file:
        head: bytes = file.read(HEAD)
        return head


def format_of(files: Any) -> str:
    """The format of a dataset's file or files. Raises TypeError if neither names nor bytes show it."""
    if table_of(files) is not None:
        return "csv"
    if isinstance(files, Mapping):
        first = next((files[name] for name in ("features", "data") if name in files), None)
        pair = isinstance(first, (bytes, str, os.PathLike)) and _by_magic(head_of(first))
        if pair:
            return pair
        if "features" in files or first is None:
            raise TypeError(UNKNOWN)
        return format_of(first)
    if not isinstance(files, (bytes, str, os.PathLike)):
        raise TypeError(f"give the path of a file, its bytes, or a table: a {type(files).__name__} is none of them")
    by_name = None if isinstance(files, bytes) else _by_name(os.fspath(files))
    found = by_name or _by_lines(head_of(files))
    if found is None:
        raise TypeError(UNKNOWN)
    return found


UNKNOWN = ('give format="csv", "jsonl", "libsvm", "idx", "npy", "cifar10" or "cifar100": '
           "neither the name nor the first bytes of the file show which it is")


def _by_name(name: str) -> str | None:
    return BY_NAME.get(os.path.splitext(name.lower().removesuffix(".gz"))[1])


def _by_magic(head: bytes) -> str | None:
    return next((found for magic, found in BY_MAGIC.items() if head.startswith(magic)), None)


def _by_lines(head: bytes) -> str | None:
    """The format of a text: each line of JSON Lines is an object, and those of libsvm have pairs of a place
    and a number."""
    try:
        lines = head.decode("utf-8-sig", "ignore" if len(head) == HEAD else "strict").splitlines()[:20]
    except UnicodeDecodeError:
        return None
    cells = [line.split() for line in lines if line.strip()]
    if has_objects(lines):
        return "jsonl"
    if not cells or any(not text.isprintable() and "\t" not in text for text in lines):
        return None
    if all(_is_pair(cell) for row in cells for cell in row[1:]) and any(len(row) > 1 for row in cells):
        return "libsvm"
    return "csv" if delimiter_of(lines) is not None else None


def object_of(line: str) -> dict[str, Any] | None:
    """The object of a line of JSON Lines, in which numbers are their own text; None if the line is none."""
    try:
        read = json.loads(line, parse_int=str, parse_float=str)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def has_objects(lines: Sequence[str]) -> bool:
    """True if the first line that is not empty is one of JSON Lines."""
    return object_of(next((line for line in lines if line.strip()), "")) is not None


def _is_pair(text: str) -> bool:
    place, colon, value = text.partition(":")
    return bool(colon) and place.isdigit() and _is_number(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def delimiter_of(lines: Sequence[str]) -> str | None:
    """The delimiter that divides each of these lines into the same number of cells, the most of all; None
    if none divides them."""
    best, most = None, 1
    for delimiter in DELIMITERS:
        counts = {len(row) for row in csv.reader(lines, delimiter=delimiter) if row}
        if len(counts) == 1 and max(counts) > most:
            best, most = delimiter, max(counts)
    return best


def whole_lines(content: Content) -> list[str]:
    """The first lines of a text file; a line that is cut off is left out."""
    text = head_of(content).decode("utf-8-sig", "replace")
    lines = text.splitlines()
    return lines[:-1] if len(text) >= HEAD and len(lines) > 1 else lines


def has_header(source: Content | Table, columns: Sequence[Any], delimiter: str) -> bool:
    """True if the first line of a CSV file has the declared names."""
    if isinstance(source, Table):
        return True
    first = next(csv.reader(whole_lines(source)[:1], delimiter=delimiter), [])
    return {column.get("name") for column in columns} <= {cell.strip() for cell in first}
