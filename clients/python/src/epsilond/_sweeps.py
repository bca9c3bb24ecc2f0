"""Sweeps: many runs of one job. Their price is reserved before the first run begins."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from . import _types
from ._figures import plain
from ._jobs import Job
from ._models import Model
from ._transport import segment

if TYPE_CHECKING:
    from ._client import Client

POLL_SECONDS = 1.0  # the service publishes changes at whole seconds


def price_of(estimate: _types.SweepEstimate) -> str:
    """A sentence that says what all runs cost together, and whether they fit."""
    price = estimate["epsilon"]
    cost = "nothing" if price is None else f"epsilon {price:.3g} at delta {estimate['delta']:g}"
    fits = {"yes": "they all fit", "held": "open jobs are in their way", "no": "they do not all fit"}
    return plain(f"{estimate['run_count']} runs would cost {cost} together: {fits[estimate['fits']]}")


class Sweep:
    """A sweep as it was when last fetched; ``data`` is the service's whole answer."""

    def __init__(self, client: Client, data: _types.Sweep) -> None:
        self._client = client
        self.data = data

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def ended(self) -> bool:
        return self.data["state"] == "ENDED"

    @property
    def epsilon(self) -> float | None:
        """The composed epsilon of all runs, which was reserved. None if the data is public."""
        return self.data["epsilon"]

    @property
    def epsilon_spent(self) -> float | None:
        """The part of it that is spent so far. When the sweep has ended, the rest is free again."""
        return self.data.get("epsilon_spent")

    @property
    def runs(self) -> list[_types.SweepRun]:
        """The runs: for each its settings, job, state and result."""
        return list(self.data.get("runs", []))

    @property
    def winner(self) -> Job | None:
        """The job of the best run so far; None if no run can be compared yet."""
        best = self.data["winner"]
        return None if best is None else self._client.jobs[best]

    @property
    def model(self) -> Model | None:
        """The model of the best run so far, with its certificate; None if there is none yet."""
        best = self.data["winner_model"]
        return None if best is None else self._client.models[best]

    def refresh(self) -> Sweep:
        """Fetches the sweep's current state."""
        self.data = self._client._transport.get(f"/v1/sweeps/{segment(self.id)}")
        return self

    def wait(self, timeout: float | None = None) -> Sweep:
        """Waits until every run has ended, successfully or not. After a timeout the runs go on."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self.ended:
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"call wait() again: {self.id} has not ended yet")
            time.sleep(POLL_SECONDS)
            self.refresh()
        return self

    def cancel(self) -> Sweep:
        """Cancels all runs that have not ended. Steps of them that were authorised stay spent."""
        self.data = self._client._transport.post(f"/v1/sweeps/{segment(self.id)}:cancel").json()
        return self

    def delete(self) -> None:
        """Deletes the sweep and its runs. They must have ended, and their models must be deleted."""
        self._client._transport.call("DELETE", f"/v1/sweeps/{segment(self.id)}")

    def __repr__(self) -> str:
        price = "" if self.epsilon is None else f", epsilon {self.epsilon:.3g} together"
        lines = [f"{self.id}: {self.data['state']}, {self.data['run_count']} runs on {self.data['dataset']}{price}"]
        for run in self.runs:
            mark = " <- best" if run["job"] == self.data["winner"] else ""
            settings = ", ".join(f"{name} {value}" for name, value in run["settings"].items())
            lines.append(f"{settings}: {run['state']} {_figure(run)}{mark}")
        return plain("\n".join(lines))


def _figure(run: _types.SweepRun) -> str:
    score = run["holdout"]
    if score is not None:
        return f"{score['value']:.4g} ({score['low']:.4g} to {score['high']:.4g}) on the holdout"
    point: Any = run["evaluation"]
    if point is None:
        return ""
    return f"{point.get('accuracy', point.get('rmse')):.4g} on public data"
