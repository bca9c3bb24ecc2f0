"""Drawings of a budget, of quality against epsilon, and of a run. Needs matplotlib, the extra `plot`. Each
function draws into given axes or into new ones, and returns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._errors import Unsupported
from ._figures import percent, plain, up
from ._html import ASKED, HELD, SPENT
from ._listing import time_of


def _axes(ax: Any, title: str, x: str, y: str) -> Any:
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise Unsupported("install matplotlib to draw: pip install 'epsilond[plot]'") from None
        ax = pyplot.subplots()[1]
    # Text of the service is not read as a formula.
    for put, text in ((ax.set_title, title), (ax.set_xlabel, x), (ax.set_ylabel, y)):
        put(plain(text).replace("$", r"\$"))
    return ax


def draw_budget(history: Mapping[str, Any], promised: float, delta: float, frozen: bool, ax: Any = None) -> Any:
    """The share of the budget that is spent and held after each entry of the ledger, and the guarantee so
    far at the end of the line."""
    ax = _axes(ax, f"Budget of {history['dataset']}: epsilon {up(promised)} at delta {delta:g}", "time",
               "share of the budget")
    points = history["points"]
    times = [time_of(point["time"]) for point in points]
    spent = [1.0 if frozen and point is points[-1] else point["share"]["spent"] for point in points]
    held = [share + point["share"]["held"] for share, point in zip(spent, points)]
    ax.fill_between(times, spent, held, step="post", color=HELD, label="held by open jobs")
    ax.step(times, spent, where="post", color=SPENT, marker=".", label="spent")
    if points:
        exposure = points[-1]["exposure"] or points[-1]
        ax.annotate(f"{percent(spent[-1])}: epsilon {up(exposure['epsilon_spent'])} so far", (times[-1], spent[-1]),
                    textcoords="offset points", xytext=(-4, 6), ha="right")
    ax.axhline(1, color="0.5", linestyle="--")
    ax.set_ylim(0, 1.2)
    ax.legend(loc="upper left")
    ax.figure.autofmt_xdate()
    return ax


def draw_quality(rows: Iterable[Mapping[str, Any]], quality: str, ax: Any = None) -> Any:
    """A figure of quality against the epsilon of each job, with its interval if it was measured on held-out
    records. Jobs without the figure or without an epsilon are left out."""
    found = sorted((row["epsilon"], row[quality], row[f"{quality}_low"], row[f"{quality}_high"]) for row in rows
                   if row["epsilon"] is not None and row[quality] is not None)
    if not found:
        raise Unsupported("train jobs with an evaluation first, or give practice jobs as at={epsilon: [job]}: no "
                          f"job here has an epsilon and {quality}")
    ax = _axes(ax, f"{quality} against epsilon", "epsilon of the job", quality)
    epsilons, values, lows, highs = zip(*found)
    spans = [[value - (value if low is None else low) for value, low in zip(values, lows)],
             [(value if high is None else high) - value for value, high in zip(values, highs)]]
    ax.errorbar(epsilons, values, yerr=spans, fmt="o", color=SPENT, ecolor=HELD, capsize=3)
    ax.set_xscale("log")
    return ax


def draw_run(job: Mapping[str, Any], ax: Any = None) -> Any:
    """The quality on public data after each part of the steps of a run."""
    points = job["metrics"].get("history") or []
    if not points:
        raise Unsupported("train with evaluation=a public dataset: this run has no points to draw, because "
                          "quality on private records is not measured during a run")
    quality = "accuracy" if points[0].get("accuracy") is not None else "rmse"
    ax = _axes(ax, f"{job['id']} on {job['dataset']}", "step", f"{quality} on {job['evaluation']}")
    ax.plot([point["step"] for point in points], [point.get(quality) for point in points], color=SPENT, marker=".")
    loss = ax.twinx()
    loss.plot([point["step"] for point in points], [point["loss"] for point in points], color=ASKED, linestyle=":")
    loss.set_ylabel("loss (dotted)")
    return ax


def draw_measurement(quality: Mapping[str, Any], title: str, what: str | None = None, ax: Any = None,
                     classes: Sequence[str] = ()) -> Any:
    """One drawing of a measurement on a holdout. All of them are computed from the counts that were released
    once: drawing is free. ``classes`` are the words of the classes in their order, if they are known."""
    kinds = [name for name in DRAWN if quality.get(name)]
    chosen = what or kinds[0]
    if chosen not in kinds:
        raise Unsupported(f"draw one of {', '.join(kinds)}: this measurement has no {chosen}")
    if chosen == "confusion":
        return _confusion(quality, title, ax, classes)
    return DRAWN[chosen](quality, title, ax)


def _precision_recall(quality: Mapping[str, Any], title: str, ax: Any) -> Any:
    points = sorted((cut["recall"]["value"], cut["precision"]["value"], cut["precision"]["low"],
                     cut["precision"]["high"]) for cut in quality["thresholds"] if cut["recall"] and cut["precision"])
    ax = _axes(ax, title, "recall", "precision")
    if points:
        recalls, values, lows, highs = zip(*points)
        ax.plot(recalls, values, color=SPENT, marker=".")
        ax.fill_between(recalls, lows, highs, color=HELD, alpha=0.3)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    return ax


def _calibration(quality: Mapping[str, Any], title: str, ax: Any) -> Any:
    bins = [one for one in quality["calibration"] if one["share"]]
    ax = _axes(ax, title, "probability that the model says", "share that is so")
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--")
    shares = [one["share"]["value"] for one in bins]
    spans = [[one["share"]["value"] - one["share"]["low"] for one in bins],
             [one["share"]["high"] - one["share"]["value"] for one in bins]]
    ax.errorbar([(one["from"] + one["to"]) / 2 for one in bins], shares, yerr=spans, fmt="o", color=SPENT, ecolor=HELD,
                capsize=3)
    return ax


def _confusion(quality: Mapping[str, Any], title: str, ax: Any, classes: Sequence[str] = ()) -> Any:
    ax = _axes(ax, title, "class that the model says", "class that it is")
    ax.imshow([[max(0.0, count) for count in row] for row in quality["confusion"]], cmap="Blues")
    for true, row in enumerate(quality["confusion"]):
        for said, count in enumerate(row):
            ax.text(said, true, f"{count:.0f}", ha="center", va="center")
    words = list(classes) or [str(number) for number in range(len(quality["confusion"]))]
    ax.set_xticks(range(len(words)), words)
    ax.set_yticks(range(len(words)), words)
    return ax


def _residuals(quality: Mapping[str, Any], title: str, ax: Any) -> Any:
    bins = quality["residuals"]
    ax = _axes(ax, title, "prediction minus truth", "records, with noise")
    ax.bar([one["from"] for one in bins], [one["count"] for one in bins],
           width=[one["to"] - one["from"] for one in bins], align="edge", color=SPENT)
    return ax


# By the member of a measurement that each draws; the first that a measurement has is drawn if none is named.
DRAWN = {"thresholds": _precision_recall, "residuals": _residuals, "calibration": _calibration, "confusion": _confusion}
