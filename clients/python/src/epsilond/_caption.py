"""What people call datasets, jobs and models: a name and tags, which mean nothing to the service."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Any, Union

from ._transport import Transport


class Keep(enum.Enum):
    """What is not named stays as it is."""

    KEEP = "as it is"


KEEP = Keep.KEEP
Name = Union[str, None, Keep]
TagChanges = Union[Mapping[str, Union[str, None]], None, Keep]


def rename(transport: Transport, path: str, display_name: Name, tags: TagChanges) -> Any:
    """The thing at that path, called so from now on, whatever it was called before."""
    told = {"display_name": display_name, "tags": tags}
    change = {name: value for name, value in told.items() if value is not KEEP}
    headers = {"Content-Type": "application/merge-patch+json", "If-Match": "*"}
    return transport.call("PATCH", path, headers=headers, content=json.dumps(change).encode()).json()
