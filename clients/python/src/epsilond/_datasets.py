"""Datasets: their public properties, their budgets, and registration."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union, cast

from . import _suggest, _types
from ._caption import KEEP, Name, TagChanges, rename
from ._budget import Budget
from ._errors import AlreadyExists, NotFound, Unsupported, problem_from
from ._figures import plain
from ._formats import format_of, has_header
from ._html import Html, facts
from ._listing import Listing, tags_of, time_of
from ._plots import draw_budget
from ._query import Query
from ._tables import Table, csv_of, table_of
from ._transport import Content, Stream, Transport, segment

if TYPE_CHECKING:
    from ._client import Client

Files = Union[Content, Mapping[str, Content], Any]  # a file, files by name, or a table of another package

IMPORT_TIMEOUT = 60.0  # seconds on top of the usual timeout: the service answers within ten
POLL_SECONDS = 1.0  # an import ends at a whole second
PAIR_FORMATS = ("idx", "npy")  # two files: features and labels


class Dataset:
    """A dataset as it was when last fetched; ``data`` is the service's whole answer."""

    def __init__(self, client: Client, data: _types.Dataset) -> None:
        self._client = client
        self._transport: Transport = client._transport
        self.data = data

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def state(self) -> str:
        return self.data["state"]

    @property
    def records(self) -> int | None:
        """The number of records or persons (see ``unit``), once imported; it is public."""
        return self.data["records"]

    @property
    def classes(self) -> list[str]:
        """The names of the classes in their order; none if the dataset's task is regression."""
        for column in self.data.get("columns") or []:
            if column["kind"] == "label" and "values" in column:
                return list(column["values"])
        labels = self.data.get("labels")
        numbers = range(self.data["classes"] or 0) if labels is None else labels
        return [f"{number:g}" for number in numbers]

    @property
    def unit(self) -> str:
        """The unit that the budget protects: each record, or each person with all of their rows."""
        return self.data["unit"]

    @property
    def is_public(self) -> bool:
        return self.data["privacy"] == "public"

    @property
    def budget(self) -> Budget | None:
        """The budget as of now; None if the dataset is public: public datasets have no budget."""
        if self.is_public:
            return None
        return Budget(self._transport.get(f"/v1/datasets/{segment(self.id)}/budget"))

    def rename(self, display_name: Name = KEEP, tags: TagChanges = KEEP) -> Dataset:
        """Changes the dataset's name and tags; None removes the name, all tags or one of them."""
        self.data = rename(self._transport, f"/v1/datasets/{segment(self.id)}", display_name, tags)
        return self

    def delete(self) -> None:
        """Deletes the records. Spent budget stays spent, models stay, and the id is never free again."""
        self._transport.call("DELETE", f"/v1/datasets/{segment(self.id)}")

    def refresh(self) -> Dataset:
        """Fetches the dataset's current state."""
        self.data = self._transport.get(f"/v1/datasets/{segment(self.id)}")
        return self

    def plot(self, ax: Any = None) -> Any:
        """Draws how the budget was spent over time. Returns the axes of matplotlib."""
        budget = self.budget
        if budget is None:
            raise Unsupported("draw the budget of a private dataset: public datasets have no budget")
        history = self._transport.get(f"/v1/datasets/{segment(self.id)}/budget/history")
        return draw_budget(history, budget.epsilon, budget.delta, budget.frozen, ax)

    def _row(self) -> dict[str, Any]:
        guarantee = self.data["guarantee"]
        return {
            "id": self.id, "name": self.data["display_name"], "tags": tags_of(self.data["tags"]), "state": self.state,
            "public": self.is_public, "task": self.data["task"], "format": self.data["format"], "unit": self.unit,
            "records": self.records, "epsilon": None if guarantee is None else guarantee["epsilon"],
            "delta": None if guarantee is None else guarantee["delta"],
            "created": time_of(self.data["create_time"]), "imported": time_of(self.data["import_time"]),
        }

    def __repr__(self) -> str:
        kind = "public" if self.is_public else "private"
        count = f"no {self.unit}s yet" if self.records is None else f"{self.records} {self.unit}s"
        return plain(f"{self.id}: {self.state}, {kind}, {count}, {self.data['task']}")

    def _repr_html_(self) -> str:
        rows = [("state", self.state), (f"{self.unit}s", "none yet" if self.records is None else self.records),
                ("task", self.data["task"]), ("format", self.data["format"])]
        budget = self.budget
        if budget is None:
            return facts(f"{self.id}, public", rows)
        return facts(self.id, rows, Html(budget._repr_html_()))


class Datasets(Listing):
    """The service's datasets: by id, or all of them, newest first."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getitem__(self, id: str) -> Dataset:
        return Dataset(self._client, self._client._transport.get(f"/v1/datasets/{segment(id)}"))

    def __iter__(self) -> Iterator[Dataset]:
        for data in self._client._transport.pages("/v1/datasets", "datasets"):
            yield Dataset(self._client, data)

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and bool(self[id])
        except NotFound:
            return False

    def register(
        self,
        id: str,
        files: Files | None,
        *,
        format: str | None = None,
        task: str = "classification",
        epsilon: float | None = None,
        delta: float | None = None,
        public: bool = False,
        acknowledge: Sequence[str] | None = None,
        relation: _types.Relation | None = None,
        order: float | None = None,
        discovery_delta: float | None = None,
        holdout: float | None = None,
        holdout_seed: int | None = None,
        classes: int | None = None,
        features: _types.ArrayFeatures | _types.LibsvmFeatures | None = None,
        labels: list[float] | None = None,
        target: _types.Target | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        missing: list[str] | None = None,
        columns: _types.Columns | None = None,
        privacy_id: bool | None = None,
        display_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Declares a dataset, uploads its file (or its files, by name), imports it, and returns
        it once it may be trained on. Instead of a file, `files` may be a frame of pandas or polars, a
        table of Arrow or the path of a Parquet file: its declared columns are sent as CSV, part by part. Or it
        is a ``Query`` of a PostgreSQL server, which the service runs itself.

        The format is inferred from the name and the first bytes of the file, and the header from its
        first line; give format and header to say it yourself. delimiter and decimal are not inferred here:
        without them cells are separated by commas and numbers have points. What a column means is never inferred:
        without `columns` the call raises Unconfirmed, and ``suggest()`` shows what can be confirmed.

        The declaration becomes public: names, ranges, words, the number of records. State what a
        column means (an age is 0 to 120); never take a range or a value from the file.

        If people have several rows, declare a column of kind "privacy_id" that says which person
        each row belongs to: the promise is then made to persons, however many rows they have. In
        formats without columns these ids are in a file of their own, with a line for each record:
        files={"data": ..., "privacy_id": ...} and privacy_id=True.

        Give either epsilon and delta or public=True; there is no default. Epsilon and delta are the
        whole promise to the people in the data, and final once anything has been drawn from this
        budget. public=True is for records that everyone may see.

        acknowledge: what you confirm about a weak promise, if an error asks for it:
        ["epsilon_above_10"] for an epsilon above 10, ["delta_above_1_over_n"] for a delta above
        1/n, which the import finds out. The service records who confirmed it.

        discovery_delta: the part of delta that is set aside for good for client.words(); without it
        no words are sold.

        holdout: the share of the records that is held out permanently. train(evaluation=
        holdout(epsilon=0.1)) then measures models on them, paid from their own budget.

        If the upload or the import fails, nothing is lost: correct the file and register it again. If the
        declaration was wrong, correct it and give files=None: the file that was sent before is imported,
        without being sent again. ImportFailed has all faults of a csv or jsonl file. Give the header as before.
        You may then also change the promise, as long as nothing has been drawn from the first one.
        """
        privacy = _privacy(epsilon, delta, public, relation, order, discovery_delta)
        query = files if isinstance(files, Query) else None
        if query is not None:
            if columns is None:
                raise TypeError("give columns: the service reads these rows, and nothing is suggested from them")
            files, format = None, format or "csv"
        if files is None and format is None:
            raise TypeError("give the format as before: no file is read here")
        _check_files({} if files is None else files)
        format = format or format_of(cast("Files", files))
        table = None if files is None else table_of(files)
        if table is not None and (delimiter or decimal):
            raise TypeError("leave out delimiter and decimal: a table has cells, and no signs between them")
        if format in ("csv", "jsonl") and columns is None and files is not None:
            _suggest.suggest(files).confirm()  # raises Unconfirmed, unless the table is empty
        if header is None and format == "csv" and files is not None and not isinstance(files, Mapping):
            header = has_header(table or files, columns or [], delimiter or ",") or None
        declared: dict[str, Any] = {
            "id": id, "format": format, "task": task, "classes": classes, "features": features,
            "labels": labels, "target": target, "header": header, "delimiter": delimiter, "decimal": decimal,
            "missing": missing,
            "columns": columns,
            "privacy_id": privacy_id,
            "display_name": display_name, "tags": tags,
            "privacy": privacy, "acknowledge": _confirmed(acknowledge, False),
            "holdout": holdout, "holdout_seed": holdout_seed,
        }
        request = {name: value for name, value in declared.items() if value is not None}
        parts = ({} if files is None else _files(files, format) if table is None
                 else {"data": _stream(table, columns or [])})
        self._declare(id, request, idempotency_key or uuid.uuid4().hex)
        for name, content in parts.items():
            self._client._transport.put(f"/v1/datasets/{segment(id)}/files/{name}", content)
        return self._import(id, _confirmed(acknowledge, True), query)

    def suggest(self, files: Files, label: str | None = None, *, header: bool | None = None) -> _suggest.Suggestion:
        """Reads a file of CSV or JSON Lines, or a table, in this process and suggests its declaration; sends nothing. Print
        the suggestion, and pass what it asks for:

            s = client.datasets.suggest("people.csv", label="income")
            client.datasets.register("people", "people.csv", epsilon=4, delta=1e-5,
                                     **s.confirm(words=["work", "income"], ranges={"age": [0, 120]}))

        label       the column to predict
        header      whether the first line names the columns; by default it does if none of its cells
                    is a number
        """
        _check_files(files)
        return _suggest.suggest(files, label, header=header)

    def _declare(self, id: str, request: dict[str, Any], idempotency_key: str) -> None:
        try:
            self._client._transport.post("/v1/datasets", request, idempotency_key=idempotency_key)
        except AlreadyExists as problem:
            # It was declared before but never imported: an earlier upload or import failed.
            if problem.pointer != "/id" or self[id].state not in ("CREATED", "FAILED"):
                raise

    def _await_query(self, path: str) -> None:
        while True:
            fetch: _types.Fetch = self._client._transport.get(f"{path}/files/data/fetch")
            if fetch["state"] not in ("WAITING", "RUNNING"):
                break
            time.sleep(POLL_SECONDS)
        if fetch["state"] != "SUCCEEDED":
            # The problem that the import would have been answered with if the query had ended in time.
            problem = problem_from({"code": "import_failed", "status": 422, "retryable": False, "errors": [],
                                    "detail": f"the query ended as {fetch['result'] or 'cancelled'}",
                                    "advice": "correct the query and register it again"}, None)
            if problem is not None:
                raise problem

    def _import(self, id: str, confirmed: list[str] | None, query: Query | None) -> Dataset:
        path = f"/v1/datasets/{segment(id)}"
        transport = self._client._transport
        body: dict[str, Any] = {} if confirmed is None else {"acknowledge": confirmed}
        if query is not None:
            body["postgresql"] = query._body()
        answer: _types.Dataset = transport.post(f"{path}:import", body, wait=IMPORT_TIMEOUT).json()
        if query is not None and answer["state"] == "CREATED":
            self._await_query(path)
        while True:
            imported: _types.Import = transport.get(f"{path}/import")
            if imported["state"] != "IMPORTING":
                break
            time.sleep(POLL_SECONDS)
        failure = imported["failure"]
        if failure is not None:
            # The problem that the import would have been answered with if it had ended in time.
            unconfirmed = failure["code"] == "invalid_argument"
            errors = [{"pointer": "/acknowledge", "parameter": None, "detail": failure["detail"], "code": "invalid"}]
            problem = problem_from({**failure, "status": 400 if unconfirmed else 422, "retryable": False,
                                    "errors": errors if unconfirmed else [],
                                    "advice": "register it again with what is named" if unconfirmed else
                                    "correct the file and register it again"}, None)
            if problem is not None:
                raise problem
        return self[id]


def _confirmed(acknowledge: Sequence[str] | None, by_import: bool) -> list[str] | None:
    """The confirmations that the import reads, which only then knows n, or those that the declaration reads; None if
    there are none."""
    names = [acknowledge] if isinstance(acknowledge, str) else list(acknowledge or [])
    return [name for name in names if (name == "delta_above_1_over_n") == by_import] or None


def _privacy(epsilon: float | None, delta: float | None, public: bool, relation: str | None,
             order: float | None, discovery_delta: float | None) -> object:
    private = epsilon is not None and delta is not None
    half = (epsilon is None) != (delta is None)
    if half or private == public or (public and (relation or order or discovery_delta)):
        raise TypeError(
            "say how these records are protected: epsilon=... and delta=... if they are about "
            "people, or public=True if all people may see them; there is no default"
        )
    if public:
        return "public"
    told = {"epsilon": epsilon, "delta": delta, "relation": relation, "order": order,
            "discovery_delta": discovery_delta}
    return {name: value for name, value in told.items() if value is not None}


def _stream(table: Table, columns: _types.Columns) -> Stream:
    """The declared columns of a table as CSV. Columns that are not declared are not sent."""
    names = [str(column.get("name")) for column in columns]
    table.require(names)
    return lambda: csv_of(table, names)


def _check_files(files: Files) -> None:
    """Raises FileNotFoundError if one of these files is not there."""
    for content in files.values() if isinstance(files, Mapping) else [files]:
        if isinstance(content, (str, os.PathLike)) and not os.path.isfile(content):
            raise FileNotFoundError(f"give the path of a file: there is none at {os.fspath(content)!r}")


def _files(files: Files, format: str) -> Mapping[str, Content]:
    if isinstance(files, Mapping):
        return files
    if format in PAIR_FORMATS:
        raise TypeError(f'give {{"features": ..., "labels": ...}}: {format} has two files')
    return {"data": files}
