"""Charges pay from a dataset's budget for work that another engine runs on the same records."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from . import _types
from ._errors import Conflict
from ._figures import plain
from ._transport import segment

if TYPE_CHECKING:
    from ._client import Client


class Block:
    """Steps that are authorised, and therefore spent. Only this process may run them, and only once."""

    def __init__(self, data: _types.Block) -> None:
        self.data = data
        self.number, self.first_step, self.last_step = data["block"], data["first_step"], data["last_step"]

    def __len__(self) -> int:
        return self.data["steps"]

    def __iter__(self) -> Iterator[int]:
        """The numbers of the block's steps, counted from 1 over the whole charge."""
        return iter(range(self.first_step, self.last_step + 1))

    def __repr__(self) -> str:
        return f"block {self.number} of {self.data['blocks']}: steps {self.first_step} to {self.last_step}"


class Charge:
    """A part of a budget that is reserved for work elsewhere. Iterating over it requests its blocks:

        with client.charge("people", work, engine="sql") as lease:
            for block in lease:
                for step in block: ...

    The end of `with` settles the charge: the steps of granted blocks are spent, even if they were
    not run, and the rest becomes free again. If the process dies, the lease expires by itself.
    """

    def __init__(self, client: Client, data: _types.Charge) -> None:
        self._client = client
        self._process = uuid.uuid4().hex  # a block is granted to one process, and never again
        self.data = data

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def state(self) -> str:
        return self.data["state"]

    @property
    def epsilon(self) -> float:
        """The epsilon of all steps, at the dataset's delta."""
        return self.data["epsilon_planned"]

    @property
    def epsilon_spent(self) -> float:
        """The epsilon of the steps that were granted so far."""
        return self.data["epsilon_spent"]

    def refresh(self) -> Charge:
        """Fetches the current state of the charge."""
        self.data = self._client._transport.get(f"/v1/charges/{segment(self.id)}")
        return self

    def block(self) -> Block | None:
        """The next block, which is authorised before any of its steps may read a record; None after
        the last block. Skips blocks that were granted to another process: no step is run twice."""
        while self.data["blocks_granted"] < self.data["blocks"]:
            wanted: _types.BlockRequest = {"block": self.data["blocks_granted"] + 1,
                                           "process": self._process}
            try:
                answer = self._client._transport.post(
                    f"/v1/charges/{segment(self.id)}/blocks", wanted, idempotency_key=uuid.uuid4().hex)
            except Conflict as conflict:
                if conflict.code != "block_granted":
                    raise
                self.refresh()
                continue
            self.data["blocks_granted"] = wanted["block"]
            return Block(answer.json())
        return None

    def __iter__(self) -> Iterator[Block]:
        while (block := self.block()) is not None:
            yield block

    def settle(self) -> Charge:
        """Ends the charge. Granted steps are spent, the rest becomes free again."""
        try:
            answer = self._client._transport.post(f"/v1/charges/{segment(self.id)}:settle")
        except Conflict as conflict:  # the lease has ended, or an earlier answer was lost
            if conflict.code != "charge_ended":
                raise
            return self.refresh()
        self.data = answer.json()
        return self

    def __enter__(self) -> Charge:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.settle()

    def __repr__(self) -> str:
        return plain(f"{self.id} on {self.data['dataset']}: {self.state}, {self.data['authorised_steps']} of "
                     f"{self.data['steps']} steps, {self.data['engine']}, epsilon {self.epsilon:.3g}")
