"""Estimates: the cost of a job, and whether it fits. An estimate costs nothing."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from . import _types
from ._figures import down, percent, up
from ._html import element, gauge


@dataclasses.dataclass(frozen=True, repr=False)
class Estimate:
    """The members of the API's answer. The privacy figures are None if the algorithm adds no noise."""

    fits: Literal["yes", "held", "no"]
    """held: only reservations of open jobs prevent it."""
    steps: int
    batch_size: int
    sampling_rate: float
    parameters: int
    memory: int
    epsilon_planned: float | None
    """The epsilon of this job only, at delta."""
    delta: float | None
    order: float | None
    noise_multiplier: float | None
    paper_claim: float | None
    largest_epsilon: float | None
    """The largest epsilon of such a job that would fit now."""
    most_steps: int | None
    """The number of steps with this noise that would fit now; None if the steps differ in noise or kind."""
    share: _types.ShareAsked | None
    """The budget's shares: spent, held, left, and asked by this job; None if the data is public."""
    rooms: list[_types.RoomAsked] | None
    """The same shares at every order with weight: the job fits if it fits at one of these orders."""
    epsilon_after: float | None
    """The ``epsilon_spent`` of the budget if this job and all that is held were charged whole."""
    jobs_like_this: int | None
    """The number of such jobs that would be accepted now, one after the other."""
    tuning: _types.EstimateTuning | None
    ranks: _types.EstimateRanks | None = None
    """For a job with several ranks: the share of their time that it would use, and whether that pays."""
    measurement: _types.EstimateMeasurement | None = None
    """For a job that is evaluated on a holdout: what the evaluation costs of the holdout's budget."""

    standardise: _types.EstimateStandardise | None = None
    """For a job that standardises: what the means and deviations cost in addition; 0 if they are there."""

    warnings: list[_types.JobWarningsItem] | None = None
    """Hints to read before the job is charged; None if there are none."""

    @classmethod
    def of(cls, data: dict[str, Any]) -> Estimate:
        """Creates an estimate from the API's answer; ignores members that a later service adds."""
        fields = dataclasses.fields(cls)
        return cls(**{field.name: data[field.name] for field in fields
                      if field.name in data or field.default is dataclasses.MISSING})

    def __repr__(self) -> str:
        run = f"{self.steps} steps of about {self.batch_size} records"
        if self.noise_multiplier is not None:
            run += f", noise multiplier {up(self.noise_multiplier)}"
        if self.share is None:
            return f"costs nothing: {run}"
        asked = f"epsilon {up(self.epsilon_planned)} at delta {self.delta:g}"
        if self.share["asked"] is not None:
            asked += f", {percent(self.share['asked'])} of the budget"
        if self.standardise and self.standardise["epsilon"]:
            asked += f", with epsilon {up(self.standardise['epsilon'])} more for means and deviations"
        if self.fits == "yes":
            return f"fits: {asked}; {run}; jobs like this that fit: {self.jobs_like_this}"
        room = (f"the largest such job that fits now: epsilon {down(self.largest_epsilon)}"
                if self.largest_epsilon else "no job like this fits now")
        why = "does not fit while other jobs are open" if self.fits == "held" else "does not fit"
        return f"{why}: {asked}; {run}; {room}"

    def _repr_html_(self) -> str:
        if self.share is None:
            return element("p", repr(self))
        asked = 1.0 if self.share["asked"] is None else self.share["asked"]
        bar = gauge(repr(self), self.share["spent"], self.share["held"], asked)
        return element("div", element("p", repr(self)), bar)
