"""Waits for results that are computed after their request was answered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from ._transport import segment

if TYPE_CHECKING:
    from ._client import Client

POLL_SECONDS = 1.0  # results are shown at whole seconds
AnyWaiting = TypeVar("AnyWaiting", bound="Waiting")


class Waiting:
    """One such request, as it was when last fetched; ``data`` is the service's answer. Its path is
    ``_folder`` and its id. ``_failed`` is what ``wait`` raises if it FAILED."""

    _folder: str
    _failed: type[Exception]
    data: Any

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def state(self) -> str:
        return str(self.data["state"])

    def refresh(self: AnyWaiting) -> AnyWaiting:
        """Fetches the current state."""
        self.data = self._client._transport.get(f"{self._folder}/{segment(self.id)}")
        return self

    def wait(self: AnyWaiting, timeout: float | None = None) -> AnyWaiting:
        """Waits for the result; raises an error of its kind, such as StatisticsFailed, if it failed."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.state == "RUNNING":
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"call wait() again: {self.id} has no result yet")
            time.sleep(POLL_SECONDS)
            self.refresh()
        if self.state == "FAILED":
            raise self._failed(self)
        return self
