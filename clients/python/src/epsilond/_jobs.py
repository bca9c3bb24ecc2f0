"""Jobs: their settings, progress and results."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import _types
from ._caption import KEEP, Name, TagChanges, rename
from ._errors import EpsilondError, JobFailed
from ._events import Event, events
from ._figures import plain, up
from ._html import facts, gauge
from ._listing import Listing, qualities, tags_of, time_of
from ._models import Model
from ._plots import draw_quality, draw_run
from ._progress import Bar, measures, place
from ._transport import Transport, segment

if TYPE_CHECKING:
    from ._client import Client

SILENCE_SECONDS = 40.0  # without an event or a comment: then a proxy holds the events back
POLL_SECONDS = 30  # that one request waits for a change; the service allows 60
PATIENCE_SECONDS = 60.0  # that a restart of the service may take while wait() waits
FILTERS = {"dataset", "state", "algorithm", "q", "tag", "order_by", "order"}  # of where()
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


class Job:
    """A job as it was when last fetched; ``data`` is the service's whole answer."""

    def __init__(self, client: Client, data: _types.Job) -> None:
        self._client = client
        self._transport: Transport = client._transport
        self._etag: str | None = None
        self.data = data

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def state(self) -> _types.JobState:
        return self.data["state"]

    @property
    def ended(self) -> bool:
        return self.data["state"] in ENDED

    @property
    def epsilon_spent(self) -> float | None:
        """The epsilon of this job only, so far; None if nothing is spent or the figure is infinite."""
        return self.data["privacy"]["epsilon_spent"] if self.data["privacy"] else None

    def refresh(self) -> Job:
        """Fetches the job's current state."""
        self._ask(0, only_changes=False, patience=None)
        return self

    def wait(self, timeout: float | None = None, *, progress: bool = True) -> Job:
        """Returns the job once it has succeeded. Shows progress on a terminal or in a notebook.

        Raises JobFailed if the job ends otherwise, and TimeoutError after `timeout` seconds. After a
        timeout or an interrupt the job goes on, because it runs in the service, not in this process.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            self._ask(0, only_changes=False, patience=PATIENCE_SECONDS)
            with Bar(self.data, progress) as bar:
                offered = True
                while not self.ended:
                    left = math.inf if deadline is None else deadline - time.monotonic()
                    if left <= 0:
                        raise TimeoutError(self._goes_on())
                    if offered:
                        offered = self._follow(left, bar)
                    else:  # without a bar, only the end of the job matters
                        self._ask(int(min(POLL_SECONDS, left + 1)), bar.shown, PATIENCE_SECONDS)
                    bar.update(self.data)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._goes_on()) from None
        if self.state != "SUCCEEDED":
            raise JobFailed(self._failure(), self)
        return self

    def cancel(self) -> Job:
        """Stops the job before its next block of steps. Steps that were authorised by then stay spent."""
        answer = self._transport.post(f"/v1/jobs/{segment(self.id)}:cancel")
        self.data, self._etag = answer.json(), None
        return self

    def rename(self, display_name: Name = KEEP, tags: TagChanges = KEEP) -> Job:
        """Changes the job's name and tags; None removes the name, all tags or one of them."""
        self.data = rename(self._transport, f"/v1/jobs/{segment(self.id)}", display_name, tags)
        self._etag = None
        return self

    def delete(self) -> None:
        """Deletes the job. It must have ended, and its model must be deleted. What it spent stays spent."""
        self._transport.call("DELETE", f"/v1/jobs/{segment(self.id)}")

    def logs(self) -> list[_types.JobLogEntry]:
        """The job's log: what became visible of it and when, oldest first."""
        return list(self._transport.pages(f"/v1/jobs/{segment(self.id)}/logs", "log"))

    @property
    def quality(self) -> _types.Quality | None:
        """The quality on the held-out records, each figure with its 95 % interval; None if it was not
        measured or the job has not succeeded."""
        return self.data.get("quality")

    @property
    def model(self) -> Model:
        """The trained model. Raises ValueError while there is none, and JobFailed if there never will be."""
        if self.data["model"] is None:
            if self.ended:
                raise JobFailed(self._failure(), self)
            raise ValueError(f"call wait() first: {self.id} is {self.state} and has no model yet")
        return self._client.models[self.data["model"]]

    def plot(self, ax: Any = None) -> Any:
        """Draws the quality of the run on its public evaluation data, step by step. Returns the axes of
        matplotlib."""
        if "history" not in self.data["metrics"]:
            self.refresh()
        return draw_run(self.data, ax)

    def _row(self) -> dict[str, Any]:
        privacy = self.data["privacy"]
        epsilon = None if privacy is None else privacy["epsilon_planned"]
        return {
            "id": self.id, "name": self.data["display_name"], "tags": tags_of(self.data["tags"]),
            "dataset": self.data["dataset"], "state": self.state, "algorithm": self.data["algorithm"]["name"],
            "created": time_of(self.data["create_time"]), "ended": time_of(self.data["end_time"]),
            "epsilon": epsilon, "epsilon_spent": self.epsilon_spent,
            "delta": None if privacy is None else privacy["delta"],
            "step": self.data["progress"]["step"], "steps": self.data["progress"]["steps"],
            "evaluation": place(self.data) if self.data["evaluation"] else None,
            **qualities(self.data["metrics"], self.quality), "model": self.data["model"],
        }

    def _ask(self, seconds: int, only_changes: bool, patience: float | None) -> None:
        headers = {"If-None-Match": self._etag} if only_changes and self._etag else {}
        answer = self._transport.call("GET", f"/v1/jobs/{segment(self.id)}", query={"wait": seconds},
                                      headers=headers, wait=seconds, patience=patience)
        if answer.status != 304:
            self.data, self._etag = answer.json(), answer.headers.get("ETag")

    def _follow(self, left: float, bar: Bar) -> bool:
        """Follows the job's events to its end, for at most `left` seconds. Returns False if no events
        come, because the service is too old or a proxy in between holds them back."""
        until = time.monotonic() + left
        told = False
        try:
            with self._transport.lines(f"/v1/jobs/{segment(self.id)}/events", "text/event-stream",
                                       min(SILENCE_SECONDS, left)) as lines:
                for event in events(lines):
                    told = True
                    if event is not None and event.name == "end":
                        break
                    if event is not None:
                        self._take(event)
                        bar.update(self.data)
                    if time.monotonic() >= until:
                        return True
        except (EpsilondError, ValueError):
            pass  # the next request reports the error, if there still is one
        self._ask(0, only_changes=False, patience=PATIENCE_SECONDS)
        return told

    def _take(self, event: Event) -> None:
        """Applies an event to the job's data."""
        name, told = event
        if name == "snapshot":
            self.data = told
        elif name == "state":
            self.data["state"], self.data["state_reason"] = told["state"], told["state_reason"]
            self.data["progress"]["queue_position"] = told["queue_position"]
        elif name == "progress":
            for member in ("step", "steps", "seconds_left"):
                self.data["progress"][member] = told[member]
            if self.data["privacy"]:
                self.data["privacy"]["epsilon_spent"] = told["epsilon_spent"]
        elif name == "evaluation":
            self.data["metrics"]["evaluation"] = told

    def _goes_on(self) -> str:
        stays = f" (epsilon {up(self.epsilon_spent)} stays spent)" if self.epsilon_spent else ""
        return (f"call wait() to wait again, or cancel() to stop it{stays}: {self.id} goes on without you; "
                f"client.jobs[{self.id!r}] finds it")

    def _failure(self) -> str:
        progress, reason = self.data["progress"], self.data["state_reason"]
        spent = "" if self.epsilon_spent is None else f"; epsilon {up(self.epsilon_spent)} stays spent"
        return plain(f"read logs() of the job, then submit another one: {self.id} ended as {self.state} ({reason}) after {progress['step']} of "
                     f"{progress['steps']} steps, without a model{spent}")

    def _words(self) -> str:
        return ", ".join([f"{self.data['progress']['step']} of {self.data['progress']['steps']} steps",
                          *(f"{name} {value}" for name, value in measures(self.data).items()
                            if name not in ("state", "left"))])

    def __repr__(self) -> str:
        reason = f" ({self.data['state_reason']})" if self.data["state_reason"] else ""
        return plain(f"{self.id} on {self.data['dataset']}: {self.state}{reason}, {self._words()}")

    def _repr_html_(self) -> str:
        progress, privacy = self.data["progress"], self.data["privacy"]
        rows: list[tuple[str, object]] = [
            ("dataset", self.data["dataset"]),
            ("algorithm", self.data["algorithm"]["name"]),
            ("state", f"{self.state} ({self.data['state_reason']})" if self.data["state_reason"]
             else self.state),
            ("steps", f"{progress['step']} of {progress['steps']}"),
        ]
        if privacy:
            rows.append(("privacy", f"epsilon {up(privacy['epsilon_spent'])} of "
                         f"{up(privacy['epsilon_planned'])} spent, at delta {privacy['delta']:g}"))
        for name, value in measures(self.data).items():
            if name in ("accuracy", "rmse"):
                rows.append((f"{name} on {place(self.data)}", value))
        if self.data["model"]:
            rows.append(("model", self.data["model"]))
        return facts(self.id, rows, gauge(self._words(), progress["step"] / progress["steps"], 0))


class Jobs(Listing):
    """The service's jobs: by id, or all of them, newest first."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getitem__(self, id: str) -> Job:
        return Job(self._client, self._client._transport.get(f"/v1/jobs/{segment(id)}"))

    def __iter__(self) -> Iterator[Job]:
        return self.where()

    def _items(self, **filters: Any) -> Iterator[Job]:
        unknown = set(filters) - FILTERS
        if unknown:
            raise TypeError(f"leave out {', '.join(sorted(unknown))}: the filters are {sorted(FILTERS)}")
        return self._pages({"view": "full", **filters})  # the quality on held-out records is only there

    def plot(self, quality: str = "accuracy", *, at: Mapping[float, Iterable[Job]] | None = None,
             ax: Any = None, **filters: Any) -> Any:
        """Draws the quality of each job against its epsilon. Returns the axes of matplotlib.

        quality     "accuracy", "auc", "rmse" or "r_squared"
        at          jobs by the epsilon that they were given. Practice on public data needs it, because
                    such a job spends nothing and has no epsilon
        filters     those of where(), without `at`
        """
        if at is None:
            return draw_quality(self.to_dicts(**filters), quality, ax)
        if filters:
            raise TypeError(f"leave out {', '.join(filters)}: `at` names the jobs")
        rows = [{**job._row(), "epsilon": epsilon} for epsilon, jobs in at.items() for job in jobs]
        return draw_quality(rows, quality, ax)

    def where(
        self,
        *,
        dataset: str | None = None,
        state: _types.JobState | None = None,
        algorithm: str | None = None,
        q: str | None = None,
        tag: str | None = None,
        order_by: Literal["create_time", "epsilon", "quality"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> Iterator[Job]:
        """The jobs that match all given filters; newest first unless another order is given. They
        come without their histories, which refresh() fetches.

        q: text that the name or a tag contains; tag: a tag that the job has, as "key:value".
        """
        query = {"view": "summary", "dataset": dataset, "state": state, "algorithm": algorithm,
                 "q": q, "tag": tag, "order_by": order_by, "order": order}
        return self._pages(query)

    def _pages(self, query: dict[str, str | None]) -> Iterator[Job]:
        for data in self._client._transport.pages("/v1/jobs", "jobs", query):
            yield Job(self._client, data)
