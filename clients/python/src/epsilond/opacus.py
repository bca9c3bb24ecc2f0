"""Charges training with Opacus to a budget of epsilond: each block of steps is authorised before its
batches are drawn.

    engine = opacus.PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.1, max_grad_norm=1.0)
    with epsilond.opacus.lease(client, "people", engine, optimizer, loader, epochs=3) as batches:
        for x, y in batches:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()

The charge covers what Opacus's own accountant counts, so both must agree after every step. The proof is
about the plain optimizer with Poisson batches that are drawn in this process; anything else is refused.
The service trusts that this is what ran: docs/privacy.md says what the promise then depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _types
from ._charges import Charge
from ._errors import EpsilondError

if TYPE_CHECKING:
    from ._client import Client
    from ._datasets import Dataset

SAMPLER = "UniformWithReplacementSampler"  # Opacus's name for its Poisson sampler
OPTIMIZER = "DPOptimizer"


class Refused(EpsilondError):
    """The training would not be the work that the charge declares."""


def work_of(engine: Any, optimizer: Any, loader: Any, epochs: int) -> _types.SampledGaussianWork:
    """The work of `epochs` loops over this loader, as declared to the service. Raises Refused if it is
    not a sampled Gaussian mechanism with a proof."""
    sampler: Any = getattr(loader, "batch_sampler", None)
    if type(sampler).__name__ != SAMPLER:
        raise Refused(f"batches are drawn by {type(sampler).__name__}: only Opacus's Poisson sampler "
                      f"({SAMPLER}) is charged as one. Give make_private poisson_sampling=True, or "
                      "declare shuffled batches as kind gaussian, a step for each use of a record")
    if getattr(loader, "num_workers", 0) > 0:
        raise Refused("workers draw batches ahead of the steps that are authorised: num_workers=0")
    if type(optimizer).__name__ != OPTIMIZER:
        raise Refused(f"{type(optimizer).__name__} is not the plain {OPTIMIZER}: what it costs is not known")
    if getattr(optimizer, "_step_skip_queue", None):
        raise Refused("steps wait to be skipped: one batch must be one step")
    noise, rate = float(optimizer.noise_multiplier), float(sampler.sample_rate)
    # With the relation add_remove, the sensitivity is max_grad_norm.
    return {"kind": "sampled_gaussian", "sampler": "poisson", "sampling_rate": rate,
            "noise_multiplier": noise, "steps": epochs * len(loader), "neighbour": "add_remove"}


class Batches:
    """The batches of `epochs` epochs. A batch is drawn only after its block was granted, and before the
    next batch the accountant of Opacus must have counted exactly one step for it."""

    def __init__(self, charge: Charge, engine: Any, loader: Any, epochs: int,
                 work: _types.SampledGaussianWork) -> None:
        self.charge = charge
        self._engine, self._loader, self._epochs, self._work = engine, loader, epochs, work
        self._granted = self._drawn = 0
        self._before = _steps_of(engine, work)
        if self._before > charge.data["authorised_steps"]:
            raise Refused("the accountant counts more steps than this charge was ever granted")

    def _check(self) -> None:
        counted = _steps_of(self._engine, self._work) - self._before
        if counted != self._drawn:
            raise Refused(f"{self._drawn} batches were drawn and {counted} steps counted: each batch is to "
                          "be one optimizer.step()")

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self._epochs):
            batches = iter(self._loader)
            while True:
                self._check()
                if self._drawn == self._granted:
                    block = self.charge.block()
                    if block is None:
                        return
                    self._granted += len(block)
                batch = next(batches, None)
                if batch is None:
                    break
                self._drawn += 1
                yield batch
        self._check()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.charge.settle()


def _steps_of(engine: Any, work: _types.SampledGaussianWork) -> int:
    """Returns the number of steps that the accountant has counted; raises Refused if one has another noise
    or rate."""
    steps = 0
    for noise, rate, count in engine.accountant.history:
        if noise != work["noise_multiplier"] or rate != work["sampling_rate"]:
            raise Refused(f"the accountant counts steps of noise {noise:g} at rate {rate:g}, and what is "
                          f"charged has noise {work['noise_multiplier']:g} at rate "
                          f"{work['sampling_rate']:g}")
        steps += count
    return steps


def lease(client: Client, dataset: str | Dataset, engine: Any, optimizer: Any, loader: Any, *, epochs: int,
          charge: str | None = None, **more: Any) -> Batches:
    """Reserves the cost of `epochs` epochs over the loader, and returns their batches.

    charge  the id of a charge that an earlier process began, to continue it from a checkpoint: the charge
            is granted new blocks, because it is unknown how much of its last block was run
    more    arguments of Client.charge: records, lease_s, block_steps, parts
    """
    work = work_of(engine, optimizer, loader, epochs)
    if charge is not None:
        return Batches(client.charges(charge), engine, loader, epochs, work)
    if _steps_of(engine, work) > 0:
        raise Refused("the accountant has counted steps before: they are in no charge")
    made = client.charge(dataset, work, engine=more.pop("name", "opacus"), **more)
    return Batches(made, engine, loader, epochs, work)
