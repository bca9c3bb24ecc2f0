"""The findings about one column of the owner's own file. The file is read in this process only, and no finding
is adopted before the owner has confirmed it."""

from __future__ import annotations

import datetime
from collections.abc import Collection

WORDS_MOST = 1000  # more different words are no categories, but names, codes or texts
CLASSES_MOST = 20  # a label of more different numbers is a quantity

# Texts that tables often have in place of a missing cell.
MARKERS = frozenset(("NA", "N/A", "n/a", "NaN", "nan", "NULL", "Null", "null", "None", "none", "?", "-", "--", ".", "missing"))
YES = frozenset(("true", "yes", "y", "t", "on", "1"))
NO = frozenset(("false", "no", "n", "f", "off", "0"))
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%Y-%m-%dT%H:%M:%S",
         "%Y-%m-%d %H:%M:%S")


class Suggested:
    """The findings about one column."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.words: dict[str, None] | None = {}  # different cells in order of appearance; None: too many
        self.markers: dict[str, None] = {}  # those of them that may mean a missing cell
        self.numbers = {".": True, ",": True}  # by decimal sign: whether each other cell is a number
        self.decimal = "."
        self.has_empty = False
        self._has_cells = False  # besides markers
        self._is_boolean = True
        self._dates = list(DATES)  # the formats that fit all other cells so far

    def take(self, cell: str) -> None:
        cell = cell.strip()
        if not cell:
            self.has_empty = True
        elif cell in MARKERS:
            self.markers[cell] = None
            self._add(cell)
        elif self._add(cell):
            self._look_at(cell)

    def _add(self, cell: str) -> bool:
        """Adds the cell to the words. Returns False if it is known and need not be read again."""
        if self.words is None:
            return True
        is_new = cell not in self.words
        self.words[cell] = None
        if len(self.words) > WORDS_MOST:
            self.words = None
        return is_new

    def _look_at(self, cell: str) -> None:
        self._has_cells = True
        self._is_boolean = self._is_boolean and cell.lower() in YES | NO
        for sign in self.numbers:
            self.numbers[sign] = self.numbers[sign] and is_number(cell, sign)
        if self.words is not None or len(self._dates) > 1:
            self._dates = [form for form in self._dates if _is_date(cell, form)]

    @property
    def is_number(self) -> bool:
        """True if all cells are numbers, except those that may be missing."""
        return self._has_cells and self.numbers[self.decimal]

    @property
    def is_boolean(self) -> bool:
        return self._has_cells and self._is_boolean

    @property
    def dates(self) -> list[str]:
        """The formats in which all cells are dates. The order of day and month may not show."""
        return list(self._dates) if self._has_cells else []

    @property
    def kind(self) -> str:
        """The kind that the cells suggest: "numeric", "date", "categorical", or "ignored" for too many words."""
        if self.is_number:
            return "numeric"
        if self.dates:
            return "date"
        return "ignored" if not self.words else "categorical"

    @property
    def is_class(self) -> bool:
        """True if, as a label, its cells are classes rather than a quantity."""
        return self.words is not None and (not self.is_number or len(self.words) <= CLASSES_MOST)

    def values(self, missing: Collection[str]) -> list[str]:
        """Its words, without the texts of missing cells."""
        return sorted(word for word in self.words or {} if word not in missing)

    def lacks(self, missing: Collection[str]) -> bool:
        """True if some of its cells are missing."""
        return self.has_empty or any(text in missing for text in self.markers)


def is_number(text: str, decimal: str = ".") -> bool:
    if decimal == "," and "." in text:
        return False
    try:
        float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return False
    return True


def _is_date(text: str, form: str) -> bool:
    try:
        datetime.datetime.strptime(text, form)
    except ValueError:
        return False
    return True
