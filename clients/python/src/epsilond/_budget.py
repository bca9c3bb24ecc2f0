"""A dataset's budget: the guarantee it promised, what is spent and what is left."""

from __future__ import annotations

from typing import cast

from . import _types
from ._figures import down, percent, plain, up
from ._html import element, facts, gauge


class Budget:
    """A dataset's budget at one moment. ``data`` is the service's answer.

    Epsilons do not add up, Renyi curves do: if 1.45 of 4 is spent, a job of 3.56 may still fit.
    Shares add up: a share is a part of the capacity at the order that has most room left.
    """

    def __init__(self, data: _types.Budget) -> None:
        self.data = data
        self.dataset = data["dataset"]
        self.delta = data["guarantee"]["delta"]
        self.epsilon = data["guarantee"]["epsilon"]
        """The epsilon that the dataset promised, over all epochs of the budget."""
        exposure = data["exposure"]
        self.epsilon_spent = exposure["epsilon_spent"] if exposure else data["epsilon_spent"]
        """The epsilon of everything released so far, over all epochs."""
        self.epsilon_remaining = data["epsilon_remaining"]
        """The epsilon of the largest job that still fits. Such a job makes one step over all records."""
        self.frozen = data["frozen"]
        """True if a restored backup was found: nothing can be spent until the owner makes a new grant."""
        share = data["share"]
        # It is unknown how much of a frozen epoch was spent, so all of it counts as spent.
        self.share_spent, self.share_held, self.share_left = (
            (1.0, 0.0, 0.0) if self.frozen else (share["spent"], share["held"], share["left"]))

    @property
    def holdout(self) -> Budget | None:
        """The budget of the held-out records; None if the dataset holds out no records. If there is
        one, this object is the budget of the records that models are trained on."""
        for part in self.data.get("parts", []):
            if part["part"] == "holdout":
                return Budget(cast(_types.Budget, {**self.data, **part, "parts": []}))
        return None

    def __repr__(self) -> str:
        parts = [f"{percent(self.share_spent)} used"]
        if self.share_held > 0:
            parts.append(f"{percent(self.share_held)} held by open jobs")
        parts.append(f"guarantee so far epsilon {up(self.epsilon_spent)} of {up(self.epsilon)} "
                     f"(delta {self.delta:g})")
        if self.frozen:
            parts.append("frozen: its owner must grant a new epoch")
        elif self.epsilon_remaining:
            parts.append(f"next job at most epsilon {down(self.epsilon_remaining)}")
        else:
            parts.append("nothing fits any more" if not self.share_held else "nothing fits now")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        bar = gauge(repr(self), self.share_spent, self.share_held)
        note = element("p", "The epsilons do not add up to the promise, and need not: what jobs "
                       "cost adds up as shares, which the bar shows.")
        left = "0" if self.frozen else down(self.epsilon_remaining)
        return facts(f"Budget of {plain(self.dataset)}", [
            ("promised", f"epsilon {up(self.epsilon)} at delta {self.delta:g}"),
            ("spent", f"{percent(self.share_spent)}, guarantee of everything released so far: "
                      f"epsilon {up(self.epsilon_spent)}"),
            ("held by open jobs", percent(self.share_held)),
            ("left", f"one more job of at most epsilon {left}"),
            *([("frozen", "a restored backup was found; its owner must grant a new epoch")]
              if self.frozen else []),
        ], bar, note)

