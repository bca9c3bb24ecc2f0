"""The part of a job request that asks for an evaluation on the held-out records."""

from __future__ import annotations

from . import _types


def holdout(epsilon: float, *, error_clip: float | None = None) -> _types.HoldoutEvaluation:
    """The evaluation of a job on the records that its dataset holds out.

    epsilon     what this one evaluation costs, paid from the holdout's own budget
    error_clip  for a regression, in the label's unit: larger errors count as this value
    """
    asked: _types.HoldoutEvaluation = {"holdout": True, "epsilon": epsilon}
    if error_clip is not None:
        asked["error_clip"] = error_clip
    return asked
