"""Statistics of a dataset's columns: how to wait for them and read the answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _types
from ._errors import EpsilondError
from ._figures import plain
from ._html import Html, element, facts
from ._waiting import Waiting

if TYPE_CHECKING:
    from ._client import Client


class StatisticsFailed(EpsilondError):
    """The statistics FAILED: what was authorised is spent, and there are no answers."""

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(f"{statistics.id} FAILED: {statistics.data['state_reason']}")
        self.statistics = statistics


class WordsPending(EpsilondError):
    """Another person has to approve the discovery first; ``grant`` says what was proposed."""

    def __init__(self, grant: _types.Grant) -> None:
        super().__init__(f"call again once a second person has approved {grant['id']}: "
                         f"the words of {grant['dataset']} wait until {grant['lapse_time']}")
        self.grant = grant


class Statistics(Waiting):
    """The statistics of one request, as they were when last fetched; ``data`` is the service's answer."""

    _folder = "/v1/statistics"
    _failed = StatisticsFailed
    data: _types.Statistics

    def __init__(self, client: Client, data: _types.Statistics) -> None:
        super().__init__(client)
        self.data = data

    @property
    def guarantee(self) -> _types.StatisticsGuarantee:
        """The cost of all statistics together: epsilon at delta, the mechanism, the noise of a count."""
        return self.data["guarantee"]

    @property
    def answers(self) -> list[Any]:
        """The answers in the order of the request, each with intervals of 95 % over the noise; empty
        until they are computed."""
        return list(self.data["answers"] or [])

    def __getitem__(self, place: int) -> Any:
        return self.answers[place]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.answers)

    def __repr__(self) -> str:
        lines = [f"{self.id}: {self.state}, {self.data['dataset']}, "
                 f"epsilon {self.guarantee['epsilon']:.3g} at delta {self.guarantee['delta']:g}"]
        for answer in self.answers:
            lines += [f"{name}: {value}" for name, value in _rows(answer)]
        return plain("\n".join(lines))

    def _repr_html_(self) -> str:
        head = facts(self.id, [("state", self.state), ("dataset", self.data["dataset"]),
                               ("epsilon", f"{self.guarantee['epsilon']:.3g}")])
        tables = [facts(_title(answer), _rows(answer)) for answer in self.answers]
        return element("div", Html(head), *[Html(text) for text in tables])


def _title(answer: Any) -> str:
    if answer["kind"] == "moments":
        return "moments"
    names = answer.get("column") or " x ".join(axis["column"] for axis in answer["columns"])
    return f"{answer['kind']} of {names}"


def _bin(bin: Any) -> str:
    return str(bin["value"]) if "value" in bin else f"{bin['from']:g} to {bin['to']:g}"


def _span(interval: Any) -> str:
    return f"{interval[0]:.6g} to {interval[1]:.6g}"


def _rows(answer: Any) -> list[tuple[str, str]]:
    """An answer for display: names, and values with their intervals."""
    kind = answer["kind"]
    if kind == "histogram":
        return [(f"{answer['column']} {_bin(bin)}",
                 f"{bin['count']:.6g} ({_span(bin['interval'])})") for bin in answer["bins"]]
    if kind == "table":
        first, second = answer["columns"]
        return [(f"{_bin(a)}, {_bin(b)}", f"{answer['counts'][i][k]:.6g} +- {answer['margin']:.3g}")
                for i, a in enumerate(first["bins"]) for k, b in enumerate(second["bins"])]
    if kind == "quantiles":
        return [(f"{answer['column']} {one['probability']:g}",
                 f"{one['value']:.6g} ({_span(one['interval'])})") for one in answer["quantiles"]]
    if kind == "moments":
        return [(one.get("column", f"feature {place}"),
                 f"{one['mean']:.6g} ({_span(one['interval'])}), deviation {one['deviation']:.6g}")
                for place, one in enumerate(answer["features"])]
    if kind == "words":
        return [(one["word"], f"{one['count']:.6g}") for one in answer["words"]]
    return [(f"{kind} of {answer['column']}", f"{answer['value']:.6g} ({_span(answer['interval'])})")]
