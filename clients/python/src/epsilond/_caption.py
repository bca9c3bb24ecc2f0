"""Names and tags that people give to datasets, jobs and models. The service does not interpret them."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Any, Union

from ._transport import Transport


class Keep(enum.Enum):
    """The default of an argument: the name or the tags stay as they are."""

    KEEP = "as it is"


KEEP = Keep.KEEP
Name = Union[str, None, Keep]
TagChanges = Union[Mapping[str, Union[str, None]], None, Keep]


def rename(transport: Transport, path: str, display_name: Name, tags: TagChanges) -> Any:
    """Changes name and tags of the resource at `path` unconditionally, and returns the resource."""
    told = {"display_name": display_name, "tags": tags}
    change = {name: value for name, value in told.items() if value is not KEEP}
    headers = {"Content-Type": "application/merge-patch+json", "If-Match": "*"}
    return transport.call("PATCH", path, headers=headers, content=json.dumps(change).encode()).json()
