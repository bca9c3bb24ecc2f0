"""Suggests the declaration of a table from the owner's own file, which is read in this process only. A
suggestion is never adopted silently: the owner confirms each list of words and types each range."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from ._errors import EpsilondError
from ._figures import plain
from ._formats import delimiter_of, has_objects, object_of, opened, whole_lines
from ._html import Html, element, facts
from ._suggested import WORDS_MOST, Suggested, is_number
from ._tables import Columns, Table, table_of, text_of
from ._transport import Content

NUMBERS_FEW = 10  # so few different numbers may be codes
SHOWN = 12  # words of a column that are displayed

Source = Union[Content, Any]  # a file, its bytes, or a table of another package


class Unconfirmed(EpsilondError, TypeError):
    """The declaration is not complete: ``suggestion`` has what was read from the file, and the message
    lists what is still to confirm or to type."""

    def __init__(self, message: str, suggestion: Suggestion) -> None:
        super().__init__(message)
        self.suggestion = suggestion


class Suggestion:
    """The columns of a table as its file suggests them; nothing was sent anywhere.

    confirm() returns the arguments of register(). Print the suggestion first: names and words become
    public with the declaration.
    """

    def __init__(self, columns: Sequence[Suggested], label: str | None, **form: Any) -> None:
        self.columns = {column.name: column for column in columns}
        self.label = label
        self.form = form  # format, header, delimiter and decimal sign, as register() takes them

    def confirm(self, *, words: Sequence[str] = (), ranges: Mapping[str, Sequence[float]] | None = None,
                defaults: Mapping[str, Any] | None = None, ignore: Sequence[str] = (), label: str | None = None,
                missing: Sequence[str] = (), indicate: Sequence[str] = (), other: Sequence[str] = (),
                booleans: Sequence[str] = (), dates: Mapping[str, Sequence[str]] | None = None,
                formats: Mapping[str, str] | None = None,
                hashed: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The arguments for register() that declare this table. Raises Unconfirmed, which lists all that is
        open, until everything has been said.

        words       the names of the columns whose words, as the suggestion shows them, may be public
        ranges      the range of each numeric column: what its numbers can mean, not what the file has
        booleans    the columns of yes and no
        dates       the first and the last day of each column of dates, as YYYY-MM-DD
        formats     the format of a column of dates, if several fit: {"day": "%d/%m/%Y"}
        hashed      the number of buckets of each column of many words, such as codes
        other       columns of words that get a category for all other words
        missing     the texts of missing cells
        defaults    for columns with missing cells: what such a cell means
        indicate    columns in which a missing cell is shown by an indicator, or is a category of its own
        ignore      columns that are left out
        label       the column to predict, if suggest() got none
        """
        said = _Said(words, ranges or {}, defaults or {}, ignore, label or self.label, missing, indicate, other,
                     booleans, dates or {}, formats or {}, hashed or {})
        for name in said.names():
            if name not in self.columns:
                raise ValueError(f"name a column of the table: {name!r} is none of {list(self.columns)}")
        open_ones = [] if said.label else [f"label: the column to predict, one of {list(self.columns)}"]
        for column in self.columns.values():
            open_ones += [] if column.name in said.ignore else _open(column, said)
        if open_ones:
            raise Unconfirmed(self._explained(open_ones), self)
        declared = [_declared(column, said) for column in self.columns.values()]
        texts = {"missing": list(said.missing)} if said.missing else {}
        is_class = said.label is not None and said.label not in said.ranges
        return {"format": "csv", "task": "classification" if is_class else "regression",
                "columns": declared, **self.form, **texts}

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
        """Omitted columns first, then those with words, then those that need a range; then the texts that may be
        those of missing cells."""
        titles = {"ignored": "left out: too many different words, or none",
                  "categorical": "words, to confirm with words=[...]",
                  "date": "dates: type dates={...: [first day, last day]} by what the column means, never from the file",
                  "numeric": "numbers: type ranges={...} by what the column means, never from the file"}
        for kind, title in titles.items():
            found = [(name, _shown(column) + (", has empty cells" if column.has_empty else "") + _instead(column, self.label))
                     for name, column in self.columns.items() if self._shown_kind(column) == kind]
            if found:
                yield title, found
        marked = [(name, ", ".join(sorted(column.markers))) for name, column in self.columns.items() if column.markers]
        if marked:
            yield "may mean missing cells, to confirm with missing=[...]", marked

    def _shown_kind(self, column: Suggested) -> str:
        return "categorical" if column.name == self.label and column.is_class else column.kind


def plain_lines(lines: Sequence[str]) -> str:
    return "\n".join(plain(line) for line in lines)


def _count(column: Suggested) -> str:
    return f"more than {WORDS_MOST} different words" if column.words is None else "only empty cells"


def _shown(column: Suggested) -> str:
    if column.kind == "date":
        return f"dates as {' or '.join(column.dates)}"
    if not column.words:
        return _count(column) if not column.is_number else "numbers"
    if column.is_number and len(column.words) > NUMBERS_FEW:
        return "numbers"
    words = sorted(column.words)
    more = f" and {len(words) - SHOWN} more (suggestion.columns[{column.name!r}].words)" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


class _Said(NamedTuple):
    """The choices that the owner has confirmed and typed: the arguments of confirm()."""

    words: Collection[str]
    ranges: Mapping[str, Sequence[float]]
    defaults: Mapping[str, Any]
    ignore: Collection[str]
    label: str | None
    missing: Collection[str]
    indicate: Collection[str]
    other: Collection[str]
    booleans: Collection[str]
    dates: Mapping[str, Sequence[str]]
    formats: Mapping[str, str]
    hashed: Mapping[str, int]

    def names(self) -> list[str]:
        return [*self.words, *self.ranges, *self.defaults, *self.ignore, *([self.label] if self.label else []), *self.indicate,
                *self.other, *self.booleans, *self.dates, *self.formats, *self.hashed]

    def is_typed(self, name: str) -> bool:
        """True if the column has a kind, and the kind is not that of words."""
        return name in self.ranges or name in self.booleans or name in self.dates or name in self.hashed


def _open(column: Suggested, said: _Said) -> list[str]:
    """Lists the open choices of a column, a line each."""
    lines, name = [], column.name
    if not said.is_typed(name) and name not in said.words:
        lines.append(_asked(column, said.label) + _instead(column, said.label))
    if name in said.words and not said.is_typed(name) and not column.words:
        lines.append(f"ignore=[{name!r}], not words: it has {_count(column)}")
    if name in said.dates and name not in said.formats and len(column.dates) != 1:
        lines.append(f"formats={{{name!r}: ...}}: " + (f"one of {column.dates}" if column.dates else "how its dates are written"))
    if name in said.ranges or name in said.booleans or name in said.dates:
        unsaid = sorted(set(column.markers) - set(said.missing))
        if unsaid:
            lines.append(f"missing={unsaid!r}: the texts of missing cells in {name!r}")
    if column.lacks(said.missing) and name not in said.defaults and name not in said.indicate:
        lines.append(f"defaults={{{name!r}: ...}}: the value of a missing cell, or indicate=[{name!r}]")
    return lines


def _asked(column: Suggested, label: str | None) -> str:
    """Lists the choices of a column for which nothing is chosen."""
    name = column.name
    if column.is_class if name == label else column.kind == "categorical":
        return f"words=[{name!r}]: these may be public: {_shown(column)}"
    if column.kind == "date":
        return f"dates={{{name!r}: [first day, last day]}}: by what the dates mean, never from the file"
    if column.kind == "numeric":
        return f"ranges={{{name!r}: [lowest, highest]}}: by what the numbers mean, never from the file"
    return f"ignore=[{name!r}]: it has {_count(column)}"


def _instead(column: Suggested, label: str | None) -> str:
    """The other kinds that its cells allow; a label has none."""
    name = column.name
    if name == label:
        return ""
    kinds = [f"booleans=[{name!r}]"] if column.is_boolean else []
    if column.kind == "date" and column.words:
        kinds.append(f"words=[{name!r}]")
    if column.kind == "ignored" and column.words is None:
        kinds.append(f"hashed={{{name!r}: buckets}}")
    return "; or " + ", or ".join(kinds) if kinds else ""


def _declared(column: Suggested, said: _Said) -> dict[str, Any]:
    name = column.name
    declared: dict[str, Any] = {"name": name}
    if name in said.ignore:
        return {**declared, "kind": "ignored"}
    if name in said.booleans:
        declared.update(kind="boolean")
    elif name in said.dates:
        declared.update(kind="date", format=said.formats.get(name) or column.dates[0], range=list(said.dates[name]))
    elif name in said.hashed:
        declared.update(kind="hashed", buckets=said.hashed[name])
    elif name in said.ranges:
        declared.update(kind="numeric", range=list(said.ranges[name]))
    else:
        declared.update(kind="categorical", values=column.values(said.missing))
    if name in said.other and declared["kind"] == "categorical" and name != said.label:
        declared["other"] = True
    if name in said.indicate:
        declared["if_missing"] = "category" if declared["kind"] in ("categorical", "hashed") else "indicator"
    if name == said.label:
        declared["kind"] = "label"
    if name in said.defaults:
        declared["default"] = said.defaults[name]
    return declared


def _decimal(columns: Sequence[Suggested]) -> str:
    """The decimal sign of a table: a comma, if some column has numbers only with it, and none only with a
    point."""
    commas = any(column.numbers[","] and not column.numbers["."] for column in columns)
    points = any(column.numbers["."] and not column.numbers[","] for column in columns)
    return "," if commas and not points else "."


def suggest(source: Source, label: str | None = None, *, header: bool | None = None) -> Suggestion:
    """Reads a file of CSV or JSON Lines, or a table, in this process and suggests its declaration; sends nothing.

    label   the column to predict
    header  whether the first line names the columns; by default it does if none of its cells is a number
    """
    table = table_of(source)
    if table is not None:
        return Suggestion(_columns(table.names, _texts(table)), _known(label, table.names), header=True)
    if has_objects(whole_lines(source)):
        names = list(dict.fromkeys(name for read in _objects(source) for name in read))
        rows = ([text_of(read.get(name)) for name in names] for read in _objects(source))
        return Suggestion(_columns(names, rows), _known(label, names), format="jsonl")
    return _suggest_cells(source, label, header)


def _suggest_cells(source: Content, label: str | None, header: bool | None) -> Suggestion:
    lines = whole_lines(source)
    delimiter = delimiter_of(lines)
    if delimiter is None:
        raise ValueError("check that the file is a table: no comma, semicolon, tab or bar divides all of its "
                         "first lines into the same number of cells")
    first = [cell.strip() for cell in next(csv.reader(lines, delimiter=delimiter))]
    if header is None:
        header = len(set(first)) == len(first) and not any(is_number(cell) or not cell for cell in first)
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


def _objects(source: Content) -> Iterator[dict[str, Any]]:
    with opened(source) as file:
        for number, line in enumerate(io.TextIOWrapper(file, "utf-8-sig"), 1):
            if not line.strip():
                continue
            read = object_of(line)
            if read is None:
                raise ValueError(f"check line {number} of the file: it is not one JSON object")
            yield read


def _read(source: Content, delimiter: str, header: bool) -> Iterator[Sequence[str]]:
    with opened(source) as file:
        rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), delimiter=delimiter)
        for place, row in enumerate(rows):
            if row and (place > 0 or not header):
                yield row
