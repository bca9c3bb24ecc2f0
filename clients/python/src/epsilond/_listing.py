"""Lists of the service as tables: a row for each job, model or dataset. pandas, polars and pyarrow are
imported only when they are asked for."""

from __future__ import annotations

import datetime
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from ._errors import Unsupported

QUALITIES = ("accuracy", "auc", "rmse", "r_squared")


class Listing:
    """A list whose items have a ``_row()``. Filters are those of ``where()``, if the list has it."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def _items(self, **filters: Any) -> Iterator[Any]:
        if filters:
            raise TypeError(f"leave out {', '.join(filters)}: this list has no filters")
        yield from self

    def to_dicts(self, **filters: Any) -> list[dict[str, Any]]:
        """The list as dicts, one for each item; all have the same names."""
        return [item._row() for item in self._items(**filters)]

    def to_pandas(self, **filters: Any) -> Any:
        """The list as a frame of pandas."""
        return _package("pandas").DataFrame(self.to_dicts(**filters))

    def to_polars(self, **filters: Any) -> Any:
        """The list as a frame of polars."""
        return _package("polars").DataFrame(self.to_dicts(**filters), infer_schema_length=None)

    def to_arrow(self, **filters: Any) -> Any:
        """The list as a table of Arrow."""
        return _package("pyarrow").Table.from_pylist(self.to_dicts(**filters))


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Unsupported(f"install {name} for this table, or use to_dicts(): pip install {name}") from None


def time_of(text: str | None) -> datetime.datetime | None:
    """A time of the service, which ends in Z."""
    return None if text is None else datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def tags_of(tags: Mapping[str, Any] | None) -> str | None:
    """Tags in one cell, as jobs.where(tag=...) takes each of them."""
    return ", ".join(f"{key}:{value}" for key, value in sorted((tags or {}).items())) or None


def qualities(metrics: Mapping[str, Any], quality: Mapping[str, Any] | None) -> dict[str, float | None]:
    """The figures of quality: measured on the holdout, with their intervals, or on public data. The score of
    an evaluation after the training replaces everything that the job itself measured."""
    score = metrics.get("holdout") or {}
    own = {} if score.get("evaluation") else quality or {}
    found: dict[str, float | None] = {}
    for name in QUALITIES:
        measured = score if score.get("metric") == name else own.get(name)
        if isinstance(measured, Mapping):
            found[name], found[f"{name}_low"], found[f"{name}_high"] = (
                measured["value"], measured["low"], measured["high"])
        else:
            found[name] = (metrics["evaluation"] or {}).get(name)
            found[f"{name}_low"] = found[f"{name}_high"] = None
    return found
