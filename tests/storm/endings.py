"""The ways in which a daemon may end, according to the manual: the exit codes of docs/operations.md and the reasons of
docs/scale.md. The storm reads both from there, so it finds endings that they do not list."""

import os
import re
import signal

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
TEMPORARY, CONFIGURED = 75, 78
LIED_TO = "the bucket belongs to another database"
SILENCE_S = 20  # fenced after 30 s without a sign of life; the last one may have been 10 s before the fault
STORE = ("database", "server", "stop")


def rows(page, heading):
    """Returns the first cells of the first table under a heading."""
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        text = file.read().split(f"# {heading}\n", 1)
    if len(text) != 2:
        raise RuntimeError(f"docs/{page} has no heading {heading}")
    table = re.search(r"(?:^\|.*\n)+", text[1], re.MULTILINE).group(0).splitlines()[2:]
    return [re.match(r"\|\s*`?([^|`]*?)`?\s*\|", row).group(1) for row in table]


def exit_codes():
    return {int(cell) for cell in rows("operations.md", "Exit codes")}


def reasons():
    return rows("scale.md", "Why a daemon ends with 75")


class Endings:
    def __init__(self):
        self.codes, self.reasons = exit_codes(), reasons()

    def judge(self, code, killed_by, events, acts):
        """Returns (what happened, what is wrong with it or None) for a process that has ended. `acts` are the
        kinds and lengths of the faults that may have affected it."""
        if killed_by == signal.SIGKILL and code == -signal.SIGKILL:
            return "killed", None
        if killed_by == signal.SIGTERM and code == 0:
            return "ended, as it was told", None
        errors = [event for event in events if event.get("level") == "error"]
        last = errors[-1] if errors else {}
        what = f"exit code {code}: {last.get('event')}: {last.get('detail')}"
        if code not in self.codes:
            return what, "docs/operations.md does not list that exit code"
        if code == CONFIGURED and LIED_TO in (last.get("detail") or "") and any(kind == "bucket" for kind, _ in acts):
            return what, None  # it read wrong data from the bucket
        if code != TEMPORARY:
            return what, "nothing here gives cause for that exit code"
        return what, self.why(last, acts)

    def why(self, last, acts):
        event, detail = last.get("event"), last.get("detail") or ""
        struck = [(kind, seconds) for kind, seconds in acts if kind.startswith(STORE) or kind.endswith("stop")]
        if event == "not_started":
            return None if struck or any("files" in kind or kind == "bucket" for kind, _ in acts) else \
                "nothing kept it from starting"
        if event != "ledger_unavailable":
            return "docs/scale.md does not list that event"
        listed = [reason for reason in self.reasons if detail.startswith(reason)]
        if not listed:
            return "docs/scale.md does not list that reason"
        if not struck:
            return "nothing had struck its database"
        if listed[0].startswith("another daemon has taken over") and max(s for _, s in struck) < SILENCE_S:
            return "it was not silent for long enough to be taken for dead"
        if "lost history" in listed[0] or "did not make" in listed[0] or "a file that is" in listed[0]:
            return "nothing here gives cause for that reason"
        return None
