"""Reads the events that a service streams: text/event-stream, as the HTML standard defines it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    name: str
    data: Any


def events(lines: Iterable[bytes]) -> Iterator[Event | None]:
    """The events of a stream's lines, and None for each line that is a comment."""
    name, data = "", []
    for line in lines:
        field, _, value = line.decode().rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not field and line.startswith(b":"):
            yield None
        elif not field and data:
            yield Event(name, json.loads("\n".join(data)))
        if not field and not line.startswith(b":"):
            name, data = "", []
