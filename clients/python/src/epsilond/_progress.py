"""Shows the progress of a job: tqdm's bar if tqdm is installed, otherwise one line on a terminal.
Writes nothing into a file or a pipe."""

from __future__ import annotations

import sys
import warnings
from types import TracebackType
from typing import Any

from . import _types
from ._figures import plain, up


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


def _tqdm(total: int) -> Any:
    """A bar of tqdm; None if tqdm is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tqdm warns if a notebook has no widgets; the bar is text then
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, bar_format="{percentage:3.0f} %|{bar:20}| {n_fmt}/{total_fmt} "
                "[{elapsed}{postfix}]")


def measures(job: _types.Job) -> dict[str, str]:
    """The figures next to the bar: state, quality, spent epsilon, and the time left."""
    found = {}
    if job["state"] not in ("RUNNING", "SUCCEEDED"):
        place = job["progress"]["queue_position"]
        found["state"] = plain(job["state"]) + (f" (place {place})" if place else "")
    point = job["metrics"]["evaluation"]
    quality = job.get("quality")
    for name in ("accuracy", "rmse"):
        value = point.get(name) if point else None
        if isinstance(value, (int, float)):
            found[name] = f"{value:.3g}"
        interval = quality.get(name) if quality else None
        if isinstance(interval, dict):
            found[name] = f"{interval['value']:.3g} ({interval['low']:.3g} to {interval['high']:.3g})"
    if job["privacy"]:
        found["epsilon"] = up(job["privacy"]["epsilon_spent"])
    if job["progress"]["seconds_left"] is not None:
        found["left"] = f"{job['progress']['seconds_left']} s"
    return found


def place(job: _types.Job) -> str:
    """The name of the data on which quality is measured."""
    where = job["evaluation"]
    return where if isinstance(where, str) else "the holdout"


class Bar:
    """Shows the progress of one job until the bar is closed; use it in a `with` statement."""

    def __init__(self, job: _types.Job, wanted: bool) -> None:
        self._line = sys.stderr.isatty()
        self.shown = wanted and (self._line or _is_notebook())
        self._bar = _tqdm(job["progress"]["steps"]) if self.shown else None
        self.update(job)

    def update(self, job: _types.Job) -> None:
        step, steps = job["progress"]["step"], job["progress"]["steps"]
        if self._bar is not None:
            self._bar.set_postfix(measures(job), refresh=False)
            self._bar.update(step - self._bar.n)
            self._bar.refresh()
        elif self.shown and self._line:
            words = ", ".join(f"{name} {value}" for name, value in measures(job).items())
            sys.stderr.write(f"\r{100 * step // steps:3d} % | {step}/{steps} | {words}\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self.shown and self._line:
            sys.stderr.write("\n")
