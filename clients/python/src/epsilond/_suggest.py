"""Suggests the declaration of a table from the owner's own file, which is read in this process only. A
suggestion is never adopted silently: the owner confirms each list of words and types each range."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from ._errors import EpsilondError
from ._figures import plain
from ._formats import delimiter_of, opened, whole_lines
from ._html import Html, element, facts
from ._tables import Columns, Table, table_of, text_of
from ._transport import Content

WORDS_MOST = 1000  # more different words are no categories, but names, codes or texts
NUMBERS_FEW = 10  # so few different numbers may be codes
CLASSES_MOST = 20  # a label of more different numbers is a quantity
SHOWN = 12  # words of a column that are displayed

Source = Union[Content, Any]  # a file, its bytes, or a table of another package


class Unconfirmed(EpsilondError, TypeError):
    """The declaration is not complete: ``suggestion`` has what was read from the file, and the message
    lists what is still to confirm or to type."""

    def __init__(self, message: str, suggestion: Suggestion) -> None:
        super().__init__(message)
        self.suggestion = suggestion


class Suggested:
    """What the file shows of one column."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.words: dict[str, None] | None = {}  # different cells in order of appearance; None: too many
        self.numbers = {".": True, ",": True}  # by decimal sign: whether each cell is a number
        self.decimal = "."
        self.has_empty = False

    def take(self, cell: str) -> None:
        cell = cell.strip()
        if not cell:
            self.has_empty = True
            return
        for sign in self.numbers:
            self.numbers[sign] = self.numbers[sign] and _is_number(cell, sign)
        if self.words is not None:
            self.words[cell] = None
            if len(self.words) > WORDS_MOST:
                self.words = None

    @property
    def is_number(self) -> bool:
        return self.numbers[self.decimal]

    @property
    def kind(self) -> str:
        """The kind that the cells suggest: "numeric", "categorical", or "ignored" for too many words."""
        if self.is_number and (self.words is None or self.words):
            return "numeric"
        return "ignored" if not self.words else "categorical"

    @property
    def is_class(self) -> bool:
        """As a label: whether its cells are classes rather than a quantity."""
        return self.words is not None and (not self.is_number or len(self.words) <= CLASSES_MOST)


class Suggestion:
    """The columns of a table as its file suggests them; nothing was sent anywhere.

    confirm() returns the arguments of register(). Print the suggestion first: names and words become
    public with the declaration.
    """

    def __init__(self, columns: Sequence[Suggested], label: str | None, **form: Any) -> None:
        self.columns = {column.name: column for column in columns}
        self.label = label
        self.form = form  # header, delimiter and decimal sign, as register() takes them

    def confirm(self, *, words: Sequence[str] = (), ranges: Mapping[str, Sequence[float]] | None = None,
                defaults: Mapping[str, Any] | None = None, ignore: Sequence[str] = (),
                label: str | None = None) -> dict[str, Any]:
        """The arguments for register() that declare this table. Raises Unconfirmed, which lists all that is
        open, until everything has been said.

        words       the names of the columns whose words, as the suggestion shows them, may be public
        ranges      the range of each numeric column: what its numbers can mean, not what the file has
        defaults    for columns with empty cells: what such a cell means
        ignore      columns that are left out
        label       the column to predict, if suggest() got none
        """
        ranges, defaults = dict(ranges or {}), dict(defaults or {})
        label = label or self.label
        for name in [*words, *ranges, *defaults, *ignore, *([label] if label else [])]:
            if name not in self.columns:
                raise ValueError(f"name a column of the table: {name!r} is none of {list(self.columns)}")
        open_ones = self._open(set(words), ranges, defaults, set(ignore), label)
        if open_ones:
            raise Unconfirmed(self._explained(open_ones), self)
        declared = [_declared(column, ranges, defaults, set(ignore), label) for column in self.columns.values()]
        is_class = label is not None and label not in ranges
        return {"format": "csv", "task": "classification" if is_class else "regression",
                "columns": declared, **self.form}

    def _open(self, words: set[str], ranges: Mapping[str, Any], defaults: Mapping[str, Any],
              ignore: set[str], label: str | None) -> list[str]:
        """What is still to be said, a line each."""
        lines = [] if label else [f"label: the column to predict, one of {list(self.columns)}"]
        for name, column in self.columns.items():
            if name in ignore:
                continue
            needs_words = column.is_class if name == label else column.kind == "categorical"
            if name not in ranges and name not in words:
                if needs_words:
                    lines.append(f"words=[{name!r}]: these may be public: {_shown(column)}")
                elif column.kind == "numeric":
                    lines.append(f"ranges={{{name!r}: [lowest, highest]}}: by what the numbers mean, never "
                                 "from the file")
                else:
                    lines.append(f"ignore=[{name!r}]: it has {_count(column)}")
            if name in words and name not in ranges and not column.words:
                lines.append(f"ignore=[{name!r}], not words: it has {_count(column)}")
            if column.has_empty and name not in defaults:
                lines.append(f"defaults={{{name!r}: ...}}: the value of an empty cell")
        return lines

    def _explained(self, lines: Sequence[str]) -> str:
        return plain_lines(["say what the file cannot: register(..., **suggestion.confirm(...)) with",
                            *(f"  {line}" for line in lines)])

    def __repr__(self) -> str:
        lines = [f"from your file: confirm that these {len(self.columns)} names and these words may be public"]
        for title, columns in self._groups():
            lines += [title, *(f"  {name}: {what}" for name, what in columns)]
        return plain_lines(lines)

    def _repr_html_(self) -> str:
        tables = [Html(facts(title, columns)) for title, columns in self._groups()]
        return element("div", element("p", "From your file: confirm that these names and words may be "
                                      "public."), *tables)

    def _groups(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Omitted columns first, then those with words, then those that need a range."""
        titles = {"ignored": "left out: too many different words, or none",
                  "categorical": "words, to confirm with words=[...]",
                  "numeric": "numbers: type ranges={...} by what the column means, never from the file"}
        for kind, title in titles.items():
            found = [(name, _shown(column) + (", has empty cells" if column.has_empty else ""))
                     for name, column in self.columns.items() if self._shown_kind(column) == kind]
            if found:
                yield title, found

    def _shown_kind(self, column: Suggested) -> str:
        return "categorical" if column.name == self.label and column.is_class else column.kind


def plain_lines(lines: Sequence[str]) -> str:
    return "\n".join(plain(line) for line in lines)


def _count(column: Suggested) -> str:
    return f"more than {WORDS_MOST} different words" if column.words is None else "only empty cells"


def _shown(column: Suggested) -> str:
    if not column.words:
        return _count(column) if not column.is_number else "numbers"
    if column.is_number and len(column.words) > NUMBERS_FEW:
        return "numbers"
    words = sorted(column.words)
    more = f" and {len(words) - SHOWN} more (suggestion.columns[{column.name!r}].words)" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


def _declared(column: Suggested, ranges: Mapping[str, Any], defaults: Mapping[str, Any], ignore: set[str],
              label: str | None) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": column.name}
    if column.name in ignore:
        return {**declared, "kind": "ignored"}
    if column.name in ranges:
        declared.update(kind="numeric", range=list(ranges[column.name]))
    else:
        declared.update(kind="categorical", values=sorted(column.words or {}))
    if column.name == label:
        declared["kind"] = "label"
    if column.name in defaults:
        declared["default"] = defaults[column.name]
    return declared


def _is_number(text: str, decimal: str = ".") -> bool:
    if decimal == "," and "." in text:
        return False
    try:
        float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return False
    return True


def _decimal(columns: Sequence[Suggested]) -> str:
    """The decimal sign of a table: a comma, if some column has numbers only with it, and none only with a
    point."""
    commas = any(column.numbers[","] and not column.numbers["."] for column in columns)
    points = any(column.numbers["."] and not column.numbers[","] for column in columns)
    return "," if commas and not points else "."


def suggest(source: Source, label: str | None = None, *, header: bool | None = None) -> Suggestion:
    """Reads a table in this process and suggests its declaration; sends nothing.

    label   the column to predict
    header  whether the first line names the columns; by default it does if none of its cells is a number
    """
    table = table_of(source)
    if table is not None:
        return Suggestion(_columns(table.names, _texts(table)), _known(label, table.names), header=True)
    lines = whole_lines(source)
    delimiter = delimiter_of(lines)
    if delimiter is None:
        raise ValueError("check that the file is a table: no comma, semicolon, tab or bar divides all of its "
                         "first lines into the same number of cells")
    first = [cell.strip() for cell in next(csv.reader(lines, delimiter=delimiter))]
    if header is None:
        header = len(set(first)) == len(first) and not any(_is_number(cell) or not cell for cell in first)
    names = first if header else [f"column{place}" for place in range(1, len(first) + 1)]
    form: dict[str, Any] = {"header": header}
    if delimiter != ",":
        form["delimiter"] = delimiter
    columns = _columns(names, _read(source, delimiter, header))
    if delimiter != "," and _decimal(columns) == ",":
        form["decimal"] = ","
        for column in columns:
            column.decimal = ","
    return Suggestion(columns, _known(label, names), **form)


def _known(label: str | None, names: Sequence[str]) -> str | None:
    if label is not None and label not in names:
        raise ValueError(f"name a column of the table as the label: {label!r} is none of {list(names)}")
    return label


def _columns(names: Sequence[str], rows: Iterator[Sequence[str]]) -> list[Suggested]:
    columns = [Suggested(name) for name in names]
    for row in rows:
        for column, cell in zip(columns, row):
            column.take(cell)
    return columns


def _texts(table: Table) -> Iterator[Sequence[str]]:
    part: Columns
    for part in table.parts(table.names):
        yield from zip(*([text_of(cell) for cell in cells] for cells in part))


def _read(source: Content, delimiter: str, header: bool) -> Iterator[Sequence[str]]:
    with opened(source) as file:
        rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), delimiter=delimiter)
        for place, row in enumerate(rows):
            if row and (place > 0 or not header):
                yield row
