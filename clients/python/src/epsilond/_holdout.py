"""What to ask for a look at the records held out."""

from __future__ import annotations

from . import _types


def holdout(epsilon: float, *, error_clip: float | None = None) -> _types.HoldoutEvaluation:
    """The evaluation of a job on the records that its dataset holds out.

    epsilon     what the one look costs, of the holdout's own budget
    error_clip  of a regression, in the label's unit: errors beyond count as that
    """
    asked: _types.HoldoutEvaluation = {"holdout": True, "epsilon": epsilon}
    if error_clip is not None:
        asked["error_clip"] = error_clip
    return asked
