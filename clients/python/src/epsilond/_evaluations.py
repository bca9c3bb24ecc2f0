"""Evaluations of published models after their training: how to wait for them and read the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _types
from ._errors import EpsilondError, Forbidden, NotFound, Unsupported
from ._figures import plain
from ._plots import draw_measurement
from ._waiting import Waiting

if TYPE_CHECKING:
    from ._client import Client


class EvaluationFailed(EpsilondError):
    """The evaluation FAILED: what was authorised is spent, and there is no result."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(f"{evaluation.id} FAILED: {evaluation.data['state_reason']}")
        self.evaluation = evaluation


class Evaluation(Waiting):
    """One evaluation of a model, as it was when last fetched; ``data`` is the service's answer."""

    _folder = "/v1/evaluations"
    _failed = EvaluationFailed
    data: _types.Evaluation

    def __init__(self, client: Client, data: _types.Evaluation) -> None:
        super().__init__(client)
        self.data = data

    @property
    def guarantee(self) -> _types.EvaluationGuarantee | None:
        """The charge of a look at a holdout; None on a public dataset, because there it is free."""
        return self.data["guarantee"]

    @property
    def scores(self) -> _types.EvaluationScores | None:
        """On a public dataset: the loss, and the accuracy or the rmse, exactly."""
        return self.data["scores"]

    @property
    def quality(self) -> _types.Quality | None:
        """On a holdout: noisy figures with intervals of 95 %, as in a job's ``quality``."""
        return self.data["quality"]

    def plot(self, what: str | None = None, ax: Any = None) -> Any:
        """Draws what a look at a holdout released, and returns the axes of matplotlib.

        what    "thresholds": precision and recall at each threshold (the default for classes)
                "residuals": the errors of a regression (its default); "calibration"; "confusion", with
                the words of the classes
        """
        if self.quality is None:
            raise Unsupported("evaluate on a holdout and wait() for the result: this evaluation has only scores, or "
                              "no result yet")
        title = f"{self.data['model']} on the holdout of {self.data['dataset']}"
        return draw_measurement(self.quality, title, what, ax, self._classes() if what == "confusion" else ())

    def _classes(self) -> list[str]:
        """The words of the classes; none if this key may not see the dataset, or if it was deleted."""
        try:
            return self._client.datasets[self.data["dataset"]].classes
        except (Forbidden, NotFound, KeyError):
            return []

    def __repr__(self) -> str:
        cost = self.guarantee
        paid = "free" if cost is None else f"epsilon {cost['epsilon']:.3g} of its holdout"
        lines = [f"{self.id}: {self.state}, {self.data['model']} on {self.data['dataset']}, {paid}"]
        if self.scores is not None:
            lines += [f"{name}: {value:.6g}" for name, value in self.scores.items()]
        for name in ("accuracy", "auc", "rmse", "r_squared"):
            figure = self.quality[name] if self.quality is not None else None
            if figure is not None:
                lines.append(f"{name}: {figure['value']:.4g} ({figure['low']:.4g} to {figure['high']:.4g})")
        return plain("\n".join(lines))
