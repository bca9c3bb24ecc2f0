"""What a job would cost, and whether it fits; asking costs nothing."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from . import _types
from ._figures import down, up


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
    tuning: _types.EstimateTuning | None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Estimate:
        """From the API's answer; members that a later service adds are passed over."""
        return cls(**{field.name: data[field.name] for field in dataclasses.fields(cls)})

    @property
    def jobs_like_this(self) -> int | None:
        """How many such jobs still fit, one after the other: what steps of one noise cost adds up.
        None where the steps differ, or nothing is spent."""
        return None if self.most_steps is None else self.most_steps // self.steps

    def __repr__(self) -> str:
        run = f"{self.steps} steps of about {self.batch_size} records"
        if self.noise_multiplier is None:
            return f"costs nothing: {run}"
        asked = f"epsilon {up(self.epsilon_planned)} at delta {self.delta:g}"
        noise = f"{run}, noise multiplier {up(self.noise_multiplier)}"
        if self.fits == "yes":
            count = self.jobs_like_this
            return f"fits: {asked}; {noise}" + (f"; jobs like this that fit: {count}" if count else "")
        room = (f"the largest such job that fits now: epsilon {down(self.largest_epsilon)}"
                if self.largest_epsilon else "no job like this fits now")
        why = "does not fit while other jobs are open" if self.fits == "held" else "does not fit"
        return f"{why}: {asked}; {noise}; {room}"
