"""The share of a budget that several jobs take together."""

from __future__ import annotations

from collections.abc import Sequence

from ._estimate import Estimate
from ._figures import percent


class Price:
    """The price of several jobs, one for each epsilon. Shares of the capacity at one order add up, and
    jobs that fit together at one of the orders all fit. Epsilons do not add up.

    asked       the share of each job, at the order that leaves most; None if at every order the share
                of some job is infinite
    together    their sum
    spent, held the shares that are spent and held already at that order
    """

    def __init__(self, epsilons: Sequence[float], estimates: Sequence[Estimate]) -> None:
        if not estimates:
            raise ValueError("give at least one epsilon")
        self._epsilons = epsilons
        self.is_free = any(estimate.rooms is None for estimate in estimates)
        self.asked: list[float] | None = None
        self.together = self.spent = self.held = 0.0
        # The last estimate has the newest figures of the spent and held shares.
        for place, room in enumerate(estimates[-1].rooms or []):
            asked = [estimate.rooms[place]["asked"] for estimate in estimates if estimate.rooms]
            finite = [share for share in asked if share is not None]
            spent, held = room["spent"], room["held"]
            if len(finite) < len(estimates) or spent is None or held is None:
                continue
            taken = spent + held + sum(finite)
            if self.asked is None or taken < self.spent + self.held + self.together:
                self.asked, self.together, self.spent, self.held = finite, sum(finite), spent, held

    @property
    def fits(self) -> bool:
        """True if all jobs together fit now."""
        return self.is_free or (
            self.asked is not None and self.spent + self.held + self.together <= 1)

    def __repr__(self) -> str:
        if self.is_free:
            return "costs nothing: the data is public"
        if self.asked is None:
            return "does not fit: one of them alone is too much"
        lines = [f"epsilon {epsilon:<8g} {percent(share):>8} of the budget"
                 for epsilon, share in zip(self._epsilons, self.asked)]
        verdict = "they all fit" if self.fits else "they do not all fit"
        lines.append(f"{'together':16} {percent(self.together):>8}; {percent(self.spent)} used, "
                     f"{percent(self.held)} held by open jobs: {verdict}")
        return "\n".join(lines)
