"""All exceptions of this package. A problem that the service reports keeps its code and the pointers
to the wrong members; openapi.yaml lists the codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _types
from ._figures import down, plain

if TYPE_CHECKING:
    from ._jobs import Job


class EpsilondError(Exception):
    """The base class of all errors of this package."""


class Unreachable(EpsilondError, ConnectionError):
    """No answer came, and the request was not sent again, or without success.

    If the call creates a job or a dataset, the service may have created it. ``idempotency_key`` is the
    key of that call: the same call with this key finds out, and does nothing twice.
    """

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        if idempotency_key is not None:
            message = (f"repeat the call with idempotency_key={idempotency_key!r}, then it is done once even if "
                       f"the service took it: {message}")
        super().__init__(message)
        self.idempotency_key = idempotency_key


class UnexpectedAnswer(EpsilondError):
    """The answer is not from epsilond, or a proxy in front of it answered."""

    def __init__(self, message: str, status: int, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


def _as_arguments(detail: str) -> str:
    """Writes a member that the service asks for as the argument of the same name."""
    return detail.replace('"acknowledge": ', "acknowledge=")


class Problem(EpsilondError):
    """The service refused the request. ``code`` names the reason, ``advice`` says what to do."""

    def __init__(self, body: _types.Problem, retry_after: int | None = None) -> None:
        self.body = body
        self.status = body["status"]
        self.code: str = body["code"]
        self.detail = _as_arguments(plain(body["detail"]))
        self.advice = plain(body["advice"])
        self.retryable = body["retryable"]
        self.errors = body["errors"]
        self.request_id = body["instance"]
        self.retry_after = retry_after  # seconds after which a retry makes sense
        super().__init__(self._message())

    def _message(self) -> str:
        faults = [f"{fault['pointer'] or fault['parameter'] or 'the body'}: {_as_arguments(fault['detail'])}"
                  for fault in self.errors]
        if not faults:
            return f"{self.advice}: {self.detail} ({self.code})"
        # One line for each fault, so that all of them can be corrected at once.
        return "\n  ".join([f"{self.advice} ({self.code})", *map(plain, faults)])

    @property
    def pointer(self) -> str:
        """The JSON pointer to the first wrong member; empty if the problem names none."""
        return self.errors[0]["pointer"] if self.errors else ""


class InvalidArgument(Problem):
    """The request is invalid (400, 413, 415, 422); ``errors`` lists each fault."""


class NoAnswer(InvalidArgument):
    """The model has no finite output for some rows; ``errors`` names them, ``rows`` has their numbers.

    The numbers count all rows that were given, from 0. If there are many such rows, only the first
    ones are named.
    """

    first_row = 0  # the number of this request's first row among all rows that were given

    @property
    def rows(self) -> list[int]:
        return [self.first_row + int(fault["pointer"].rsplit("/", 1)[1]) for fault in self.errors]

    def _message(self) -> str:
        named = ", ".join(str(row) for row in self.rows)
        return plain(f"{self.advice}: no finite output for row {named} ({self.code})")

    def __str__(self) -> str:
        return self._message()


class Forbidden(Problem):
    """The request is not allowed from this client, or not with this key (401, 403)."""


class NotFound(Problem):
    """There is nothing with that name (404)."""


class Conflict(Problem):
    """The current state does not allow the request (409)."""


class AlreadyExists(Conflict):
    """The identifier is in use, or was before; it is never free again."""


class BudgetExhausted(Conflict):
    """The dataset's budget does not cover the job; nothing was spent.

    ``largest_epsilon`` is the epsilon of the largest such job that would fit now, ``most_steps`` the
    number of steps with this noise that would fit; None if the steps differ in noise or kind.
    """

    def __init__(self, body: _types.Problem, retry_after: int | None = None) -> None:
        self.largest_epsilon = body.get("largest_epsilon")
        self.most_steps = body.get("most_steps")
        super().__init__(body, retry_after)

    def _message(self) -> str:
        return f"{self._room()}: {self.detail} ({self.code})"

    def _room(self) -> str:
        if not self.largest_epsilon:
            return "use the models that were trained already: no job like this fits any more"
        steps = f", or {self.most_steps} steps of this noise" if self.most_steps else ""
        return f"ask for at most epsilon {down(self.largest_epsilon)}{steps}"


class BudgetHeld(BudgetExhausted):
    """Only reservations of open jobs prevent it: the job may fit when they have ended."""

    def _message(self) -> str:
        return f"{self.advice}, or {super()._message()}"

    def _room(self) -> str:
        return super()._room() if self.largest_epsilon else "a smaller job, if one fits"


class ImportFailed(Problem):
    """The uploaded file does not match its declaration; ``file``, ``line`` and ``column`` say where.

    ``report`` is the service's report of all faults of a csv or jsonl file, or None. It quotes cells, so the
    message does not repeat it, and only the key that sent the file gets it. ``words`` has the words
    that each column does not declare. The file need not be sent again: correct the declaration, and
    ``register`` it with files=None.
    """

    def __init__(self, body: _types.Problem, retry_after: int | None = None) -> None:
        self.file = body.get("file")
        self.line = body.get("line")
        self.column = body.get("column")
        self.report: _types.ImportReport | None = body.get("report")
        self.words: dict[str, list[str]] = {
            column["name"]: column["words"] for column in (self.report or {"columns": []})["columns"] if column["words"]}
        super().__init__(body, retry_after)

    def _message(self) -> str:
        told = f"{self._place()} ({self.code})"
        return told if self.report is None else f"{told}; {self._counts(self.report)}"

    def _counts(self, report: _types.ImportReport) -> str:
        counts = [f"{column['faults']} in {plain(column['name'])}" for column in report["columns"]]
        counts += [f"{report['faulty_lines']} whole lines"] if report["faulty_lines"] else []
        return "all faults, with the cells in .report and undeclared words in .words: " + ", ".join(counts)

    def _place(self) -> str:
        places = [f"{name} {plain(value)}" for name, value in (
            ("file", self.file), ("line", self.line), ("column", self.column)) if value is not None]
        return f"{self.advice}: " + ", ".join([*places, self.detail])


class Unavailable(Problem):
    """The service cannot answer now (503). If it said when to retry, this client has retried already."""


class JobFailed(EpsilondError):
    """A job ended as FAILED or CANCELLED. ``job`` is the job; budget that it spent stays spent."""

    def __init__(self, message: str, job: Job) -> None:
        super().__init__(message)
        self.job = job


class ModelFileError(EpsilondError, ValueError):
    """The bytes are not a model file, or not the file that the service published."""


class Unsupported(EpsilondError, TypeError):
    """This package cannot do this with the model; the message says what it can do."""


BY_CODE: dict[str, type[Problem]] = {
    "already_exists": AlreadyExists,
    "budget_exhausted": BudgetExhausted,
    "budget_held": BudgetHeld,
    "import_failed": ImportFailed,
    "no_answer": NoAnswer,
}
BY_STATUS: dict[int, type[Problem]] = {
    400: InvalidArgument, 401: Forbidden, 403: Forbidden, 404: NotFound, 409: Conflict,
    413: InvalidArgument, 415: InvalidArgument, 422: InvalidArgument, 503: Unavailable,
}
FAULT = {"pointer", "parameter", "detail"}
MEMBERS = {"code": str, "detail": str, "advice": str, "retryable": bool, "errors": list}


def problem_from(body: Any, retry_after: int | None) -> Problem | None:
    """The exception for a problem's body; None if the body is not a problem."""
    if not isinstance(body, dict) or any(
            not isinstance(body.get(name), kind) for name, kind in MEMBERS.items()):
        return None
    if any(not isinstance(fault, dict) or not FAULT <= fault.keys() for fault in body["errors"]):
        return None
    told = cast(_types.Problem, {"status": 0, "instance": None, **body})
    kind = BY_CODE.get(told["code"]) or BY_STATUS.get(told["status"], Problem)
    return kind(told, retry_after)
