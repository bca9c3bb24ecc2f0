"""Shows the progress of a job: a bar in a notebook; on a terminal tqdm's bar if tqdm is installed, otherwise
one line. Writes nothing into a file or a pipe."""

from __future__ import annotations

import importlib
import sys
from types import TracebackType
from typing import Any

from . import _types
from ._figures import plain, up
from ._html import element


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


def _tqdm(total: int) -> Any:
    """A bar of tqdm; None if tqdm is not installed."""
    try:
        from tqdm import tqdm
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


class _Terminal:
    """One line of a terminal, which each update overwrites."""

    def show(self, step: int, steps: int, words: dict[str, str]) -> None:
        text = ", ".join(f"{name} {value}" for name, value in words.items())
        sys.stderr.write(f"\r{100 * step // steps:3d} % | {step}/{steps} | {text}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


class _Notebook:
    """A bar in the output of a notebook's cell, which each update replaces."""

    def __init__(self) -> None:
        self._display = importlib.import_module("IPython.display")
        self._shown: Any = None

    def show(self, step: int, steps: int, words: dict[str, str]) -> None:
        text = f"{100 * step // steps} %, {step}/{steps}" + "".join(
            f", {name} {value}" for name, value in words.items())
        content = self._display.HTML(element("div", element("progress", value=step, max=steps), " ",
                                             element("span", text)))
        if self._shown is None:
            self._shown = self._display.display(content, display_id=True)
        else:
            self._shown.update(content)

    def close(self) -> None:
        pass  # the last state stays


class _Tqdm:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, step: int, steps: int, words: dict[str, str]) -> None:
        self._bar.set_postfix(words, refresh=False)
        self._bar.update(step - self._bar.n)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _shown(steps: int) -> _Terminal | _Notebook | _Tqdm | None:
    """The bar for this process's output; None if a file or a pipe takes it."""
    if _is_notebook():
        return _Notebook()
    if not sys.stderr.isatty():
        return None
    bar = _tqdm(steps)
    return _Terminal() if bar is None else _Tqdm(bar)


class Bar:
    """Shows the progress of one job until the bar is closed; use it in a `with` statement."""

    def __init__(self, job: _types.Job, wanted: bool) -> None:
        self._bar = _shown(job["progress"]["steps"]) if wanted else None
        self.update(job)

    @property
    def shown(self) -> bool:
        return self._bar is not None

    def update(self, job: _types.Job) -> None:
        if self._bar is not None:
            self._bar.show(job["progress"]["step"], job["progress"]["steps"], measures(job))

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
