"""What a job would cost, and whether it fits; asking costs nothing."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from . import _types
from ._figures import down, percent, up
from ._html import element, gauge


@dataclasses.dataclass(frozen=True, repr=False)
class Estimate:
    """The members are those of the API's answer; the figures of privacy are None where the
    algorithm adds no noise."""

    fits: Literal["yes", "held", "no"]
    """held: only what open jobs hold is in the way."""
    steps: int
    batch_size: int
    sampling_rate: float
    parameters: int
    memory: int
    epsilon_planned: float | None
    """Of this job alone, at delta."""
    delta: float | None
    order: float | None
    noise_multiplier: float | None
    paper_claim: float | None
    largest_epsilon: float | None
    """Of such a job that would fit now."""
    most_steps: int | None
    """Of this noise that would fit now; None where the steps differ in noise or kind."""
    share: _types.ShareAsked | None
    """What is spent, held and left of the budget, and what this job asks of it; None of public data."""
    rooms: list[_types.RoomAsked] | None
    """The same at every order with weight: the job fits if it fits at one of them."""
    epsilon_after: float | None
    """The guarantee of everything released, were this job and all that is held charged whole."""
    jobs_like_this: int | None
    """How many such jobs would be taken now, one after the other."""
    tuning: _types.EstimateTuning | None
    ranks: _types.EstimateRanks | None = None
    """Of a job of several ranks, how much of their time it would use, and whether that pays."""
    measurement: _types.EstimateMeasurement | None = None
    """Of a job that is evaluated on a holdout, what that look would cost the holdout's budget."""

    @classmethod
    def of(cls, data: dict[str, Any]) -> Estimate:
        """From the API's answer; members that a later service adds are passed over."""
        known = {field.name for field in dataclasses.fields(cls)} - {"measurement", "ranks"}
        return cls(measurement=data.get("measurement"), ranks=data.get("ranks"), **{name: data[name] for name in known})

    def __repr__(self) -> str:
        run = f"{self.steps} steps of about {self.batch_size} records"
        if self.noise_multiplier is not None:
            run += f", noise multiplier {up(self.noise_multiplier)}"
        if self.share is None:
            return f"costs nothing: {run}"
        asked = f"epsilon {up(self.epsilon_planned)} at delta {self.delta:g}"
        if self.share["asked"] is not None:
            asked += f", {percent(self.share['asked'])} of the budget"
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
