"""Datasets: what is public about them, their budgets, and how they are registered."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from . import _types
from ._caption import KEEP, Name, TagChanges, rename
from ._budget import Budget
from ._errors import AlreadyExists, NotFound, problem_from
from ._figures import plain
from ._html import Html, facts
from ._transport import Content, Transport, segment

if TYPE_CHECKING:
    from ._client import Client

Files = Union[Content, Mapping[str, Content]]

IMPORT_TIMEOUT = 60.0  # seconds on top of the usual: the service answers within ten
POLL_SECONDS = 1.0  # an import ends at a whole second
PAIR_FORMATS = ("idx", "npy")  # two files: features and labels


class Dataset:
    """A dataset as it was when asked for; ``data`` is all that the service says of it."""

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
        """How many there are, once imported, of records or of persons (``unit``); public."""
        return self.data["records"]

    @property
    def unit(self) -> str:
        """Whom the budget protects: each record, or each person with all of their rows."""
        return self.data["unit"]

    @property
    def is_public(self) -> bool:
        return self.data["privacy"] == "public"

    @property
    def budget(self) -> Budget | None:
        """What is spent and what is left, as of now; None of public data, which has no budget."""
        if self.is_public:
            return None
        return Budget(self._transport.get(f"/v1/datasets/{segment(self.id)}/budget"))

    def rename(self, display_name: Name = KEEP, tags: TagChanges = KEEP) -> Dataset:
        """Calls the dataset something else; None takes the name, all tags or one of them away."""
        self.data = rename(self._transport, f"/v1/datasets/{segment(self.id)}", display_name, tags)
        return self

    def delete(self) -> None:
        """Deletes the records. What was spent stays spent, models stay, and the id is never free."""
        self._transport.call("DELETE", f"/v1/datasets/{segment(self.id)}")

    def refresh(self) -> Dataset:
        """Asks for the dataset as it is now."""
        self.data = self._transport.get(f"/v1/datasets/{segment(self.id)}")
        return self

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


class Datasets:
    """The datasets of the service: by id, or all of them, newest first."""

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
        files: Files,
        *,
        format: str,
        task: str = "classification",
        epsilon: float | None = None,
        delta: float | None = None,
        public: bool = False,
        relation: _types.Relation | None = None,
        order: float | None = None,
        holdout: float | None = None,
        holdout_seed: int | None = None,
        classes: int | None = None,
        features: _types.ArrayFeatures | _types.LibsvmFeatures | None = None,
        labels: list[float] | None = None,
        target: _types.Target | None = None,
        header: bool | None = None,
        columns: _types.Columns | None = None,
        privacy_id: bool | None = None,
        display_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Declares a dataset, uploads its file (or its files, by name), imports it, and returns
        it once it may be trained on.

        What is declared becomes public: names, ranges, words, the number of records. Say what a
        column means (an age is 0 to 120); never take it from the file.

        Where people have several rows, a column of kind "privacy_id" says whose each row is: the
        promise is then to persons, however many rows they have. Formats without columns have a file
        for that, by its name beside the others: files={"data": ..., "privacy_id": ...}, with a line
        for each record, and privacy_id=True.

        Either epsilon and delta, the whole promise to the people in the data, made for good
        once anything is drawn on it, or
        public=True, for records that everybody may see. There is no default.

        holdout: the share of the records that is held out, for good; train(evaluation=
        holdout(epsilon=0.1)) then measures models on them, out of a budget of their own.

        Where the upload or the import fails nothing is lost: correct the file and register again,
        with another promise too, as long as nothing was drawn on the first.
        """
        declared: dict[str, Any] = {
            "id": id, "format": format, "task": task, "classes": classes, "features": features,
            "labels": labels, "target": target, "header": header, "columns": columns,
            "privacy_id": privacy_id,
            "display_name": display_name, "tags": tags,
            "privacy": _privacy(epsilon, delta, public, relation, order),
            "holdout": holdout, "holdout_seed": holdout_seed,
        }
        request = {name: value for name, value in declared.items() if value is not None}
        parts = _files(files, format)
        for content in parts.values():
            if not isinstance(content, bytes) and not os.path.isfile(content):
                raise FileNotFoundError(f"no file {os.fspath(content)!r}")
        self._declare(id, request, idempotency_key or uuid.uuid4().hex)
        for name, content in parts.items():
            self._client._transport.put(f"/v1/datasets/{segment(id)}/files/{name}", content)
        return self._import(id)

    def _declare(self, id: str, request: dict[str, Any], idempotency_key: str) -> None:
        try:
            self._client._transport.post("/v1/datasets", request, idempotency_key=idempotency_key)
        except AlreadyExists as problem:
            # Declared so already and never imported: an upload or an import failed before.
            if problem.pointer != "/id" or self[id].state not in ("CREATED", "FAILED"):
                raise

    def _import(self, id: str) -> Dataset:
        path = f"/v1/datasets/{segment(id)}"
        transport = self._client._transport
        transport.call("POST", f"{path}:import", wait=IMPORT_TIMEOUT)
        while True:
            imported: _types.Import = transport.get(f"{path}/import")
            if imported["state"] != "IMPORTING":
                break
            time.sleep(POLL_SECONDS)
        failure = imported["failure"]
        if failure is not None:
            # What the import would have answered, had it not taken so long.
            problem = problem_from({**failure, "status": 422, "retryable": False, "errors": [],
                                    "advice": "correct the file and register it again"}, None)
            if problem is not None:
                raise problem
        return self[id]


def _privacy(epsilon: float | None, delta: float | None, public: bool, relation: str | None,
             order: float | None) -> object:
    private = epsilon is not None and delta is not None
    half = (epsilon is None) != (delta is None)
    if half or private == public or (public and (relation or order)):
        raise TypeError(
            "say how these records are protected: epsilon=... and delta=... where they are about "
            "people, or public=True where everybody may see them; there is no default"
        )
    if public:
        return "public"
    told = {"epsilon": epsilon, "delta": delta, "relation": relation, "order": order}
    return {name: value for name, value in told.items() if value is not None}


def _files(files: Files, format: str) -> Mapping[str, Content]:
    if isinstance(files, Mapping):
        return files
    if format in PAIR_FORMATS:
        raise TypeError(f'{format} has two files: {{"features": ..., "labels": ...}}')
    return {"data": files}
