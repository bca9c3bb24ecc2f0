"""The client: where the service is, and what can be asked of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Union

from . import _types
from ._charges import Charge
from ._datasets import Dataset, Datasets
from ._estimate import Estimate
from ._jobs import Job, Jobs
from ._models import Models
from ._price import Price
from ._statistics import Statistics
from ._sweeps import Sweep, price_of
from ._transport import Transport, segment

LOCAL = "http://127.0.0.1:8080"

DatasetName = Union[str, Dataset]


class Client:
    """One epsilond.

    url         its address, else EPSILOND_URL, else http://127.0.0.1:8080
    key         an access key, else EPSILOND_KEY; sent as a bearer's
    timeout     seconds that an answer may take
    patience    seconds after a failure in which a request is repeated, where that may help
    """

    def __init__(self, url: str | None = None, key: str | None = None, *, timeout: float = 60.0,
                 patience: float = 15.0) -> None:
        self._transport = Transport(url or os.environ.get("EPSILOND_URL") or LOCAL,
                                    key or os.environ.get("EPSILOND_KEY") or None, timeout, patience)
        self.datasets = Datasets(self)
        self.jobs = Jobs(self)
        self.models = Models(self)

    @property
    def url(self) -> str:
        return self._transport.base

    def version(self) -> _types.Version:
        """What is running there."""
        answer: _types.Version = self._transport.get("/v1/version")
        return answer

    def status(self) -> _types.Status:
        """How the service is doing: jobs by state, the queue, the ledger's head."""
        answer: _types.Status = self._transport.get("/v1/status")
        return answer

    def algorithms(self) -> list[_types.AlgorithmListAlgorithmsItem]:
        """The training algorithms: when to use each, what it costs, its parameters."""
        answer: _types.AlgorithmList = self._transport.get("/v1/algorithms")
        return answer["algorithms"]

    def upload_weights(self, weights: str | os.PathLike[str] | bytes, *, note: str = "") -> _types.File:
        """Uploads public weights, a safetensors file or its bytes; the id of the answer is what
        ``train(model={..., "weights": id})`` begins with. Only what is public may be uploaded so: no
        guarantee covers it.

        note        where they are from, in printable ASCII; certificates show it
        """
        answer: _types.File = self._transport.upload("/v1/files", weights, {"note": note or None})
        return answer

    def estimate(
        self,
        dataset: DatasetName,
        model: str | _types.ModelSpec = "linear",
        *,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        budget_fraction: float | None = None,
        delta: float | None = None,
        accountant: Literal["rdp", "pld"] | None = None,
        algorithm: str | _types.Algorithm = "dpsgd",
        evaluation: DatasetName | _types.HoldoutEvaluation | None = None,
        optimizer: str | _types.Optimizer | None = None,
        averaging: str | _types.Averaging | None = None,
        class_weights: Sequence[float] | None = None,
        scaling: Statistics | str | None = None,
        batch_size: int | None = None,
        ranks: int | None = None,
        rows_per_person: int | None = None,
        augmentation: _types.Augmentation | None = None,
        epochs: int | None = None,
        steps: int | None = None,
        runs: int | None = None,
    ) -> Estimate:
        """What the job of train() with these arguments would cost, and whether it fits now. Changes
        nothing and costs nothing.

        runs: also what so many such jobs would cost together, in ``tuning``.
        """
        request = _job_request(
            dataset=dataset, model=model, epsilon=epsilon, noise_multiplier=noise_multiplier,
            budget_fraction=budget_fraction, delta=delta, accountant=accountant,
            algorithm=algorithm, evaluation=evaluation, optimizer=optimizer, averaging=averaging,
            class_weights=class_weights, scaling=scaling, batch_size=batch_size,
            ranks=ranks, rows_per_person=rows_per_person, augmentation=augmentation, epochs=epochs, steps=steps)
        return Estimate.of(self._transport.post("/v1/jobs:estimate", request, query={"runs": runs}).json())

    def train(
        self,
        dataset: DatasetName,
        model: str | _types.ModelSpec = "linear",
        *,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        budget_fraction: float | None = None,
        delta: float | None = None,
        accountant: Literal["rdp", "pld"] | None = None,
        algorithm: str | _types.Algorithm = "dpsgd",
        evaluation: DatasetName | _types.HoldoutEvaluation | None = None,
        optimizer: str | _types.Optimizer | None = None,
        averaging: str | _types.Averaging | None = None,
        class_weights: Sequence[float] | None = None,
        scaling: Statistics | str | None = None,
        batch_size: int | None = None,
        ranks: int | None = None,
        rows_per_person: int | None = None,
        augmentation: _types.Augmentation | None = None,
        epochs: int | None = None,
        steps: int | None = None,
        display_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Submits a job; its whole price is reserved at once, or BudgetExhausted says what would
        fit and nothing happened. ``.wait()`` waits for it.

        dataset             a dataset or its id; evaluation: a public one to show quality on, or
                            holdout(epsilon=0.1): what the dataset itself holds out
        model               a preset's name, or a preset with its members, or a list of layers; beside
                            these "weights" to begin with, the id of a model or of upload_weights(),
                            and what of it is "trainable"
        epsilon             of this job alone, at delta (by default the dataset's); or instead
        noise_multiplier    how much noise, whatever it costs; or instead
        budget_fraction     the share of what is left that the job may take
        algorithm           a name, or a name with its parameters; so too the optimizer
        averaging           "tail" or "ema", or either with its share or decay: the model is the mean of
                            the last points of training. It costs no privacy
        class_weights       what the loss of each class is multiplied by: public numbers of yours
        scaling             statistics of the dataset, whose outer quantiles of a column become its range
                            in place of the declared one; what they cost was paid
        ranks               how many processes take its steps together, where the operator lets them be
                            started; ``estimate().ranks`` says whether that pays
        rows_per_person     of a dataset of persons: the most rows of each that a step reads
        augmentation        of images: {"views": 4, "flip": True, "shift": 2}, in how many views a step
                            sees each; the mean of their gradients counts once, at no further cost
        display_name, tags  what you call the job: shown, and found by jobs.where(). Whoever may see
                            the job reads them
        idempotency_key     a name of your own for this job: the call, repeated with it, finds the
                            job that it made and spends nothing more. A notebook's cell that may
                            run again has one. By default every call is a job of its own.

        What is left out has the service's defaults.
        """
        request = _job_request(
            dataset=dataset, model=model, epsilon=epsilon, noise_multiplier=noise_multiplier,
            budget_fraction=budget_fraction, delta=delta, accountant=accountant,
            algorithm=algorithm, evaluation=evaluation, optimizer=optimizer, averaging=averaging,
            class_weights=class_weights, scaling=scaling, batch_size=batch_size,
            ranks=ranks, rows_per_person=rows_per_person, augmentation=augmentation, epochs=epochs, steps=steps,
            display_name=display_name, tags=tags)
        answer = self._transport.post("/v1/jobs", request,
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        return Job(self, answer.json())

    def sweep(
        self,
        dataset: DatasetName,
        model: str | _types.ModelSpec = "linear",
        *,
        epsilons: Sequence[float],
        confirm: bool = False,
        idempotency_key: str | None = None,
        **settings: Any,
    ) -> list[Job]:
        """One job of each epsilon, otherwise alike. Prints what each takes of the budget and what all
        take together; trains only with confirm=True, and only where all of them fit.

        settings            as of train(). Every job is charged, whichever is chosen in the end.
        idempotency_key     as of train(); repeated with it, the call finds the jobs that it made,
                            as long as their price would fit once more.
        """
        estimates = [self.estimate(dataset, model, epsilon=epsilon, **settings) for epsilon in epsilons]
        price = Price(epsilons, estimates)
        print(price)
        if not confirm:
            print("Nothing was done: confirm=True trains them.")
            return []
        if not price.fits:
            raise ValueError("they do not all fit, and none was submitted")
        keys = [f"{idempotency_key}: epsilon {epsilon}" if idempotency_key else None
                for epsilon in epsilons]
        return [self.train(dataset, model, epsilon=epsilon, idempotency_key=key, **settings)
                for epsilon, key in zip(epsilons, keys)]

    def search(
        self,
        dataset: DatasetName,
        model: str | _types.ModelSpec = "linear",
        *,
        runs: Sequence[Mapping[str, Any]] | None = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
        random: _types.SweepRequestRandom | None = None,
        confirm: bool = False,
        idempotency_key: str | None = None,
        **settings: Any,
    ) -> Sweep | None:
        """Many runs of one job, all of them reserved at once before the first begins, or none; the
        sweep names the best of them. Prints the price of all runs composed; submits only with
        confirm=True.

        runs                the settings of each run: JSON pointers into the job, and their values
        grid                or the values of each setting, whose every combination is a run:
                            {"/optimizer/learning_rate": [0.5, 2], "/privacy/epsilon": [0.5, 1]}
        random              or draws: {"count": 10, "seed": 1, "settings": {"/optimizer/learning_rate":
                            {"low": 0.1, "high": 10, "scale": "log"}}}
        settings            as of train(): what all runs have
        idempotency_key     as of train(): repeated with it, the call finds the sweep that it made
        """
        ways = {"runs": runs, "grid": grid, "random": random}
        request = {"job": _job_request(dataset=dataset, model=model, **{"algorithm": "dpsgd", **settings}),
                   **{name: way for name, way in ways.items() if way is not None}}
        if not confirm:
            estimate = self._transport.post("/v1/sweeps:estimate", request).json()
            print(price_of(estimate))
            print("Nothing was done: confirm=True trains them.")
            return None
        answer = self._transport.post("/v1/sweeps", request,
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        return Sweep(self, answer.json())

    def past_sweeps(self, dataset: DatasetName | None = None) -> Iterator[Sweep]:
        """Sweeps, newest first; ``refresh()`` fetches the runs of one."""
        name = dataset.id if isinstance(dataset, Dataset) else dataset
        for data in self._transport.pages("/v1/sweeps", "sweeps", {"dataset": name}):
            yield Sweep(self, data)

    def statistics(
        self,
        dataset: DatasetName,
        asked: Sequence[_types.Statistic],
        *,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        delta: float | None = None,
        idempotency_key: str | None = None,
    ) -> Statistics:
        """Asks for statistics of a private dataset's columns, all of them for one price, which is
        reserved at once. ``.wait()`` waits for the answers, which come with intervals.

        asked               {"kind": "histogram", "column": "sex"}, {"kind": "mean", "column": "age",
                            "range": [17, 90]}, and so on: docs/statistics.md
        epsilon             of all of it together, at delta (by default the dataset's); or instead
        noise_multiplier    how much noise, whatever it costs
        idempotency_key     as of train(): repeated with it, the call finds what it asked before
        """
        request = _statistics_request(dataset, asked, epsilon, noise_multiplier, delta)
        answer = self._transport.post("/v1/statistics", request,
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        return Statistics(self, answer.json())

    def statistics_estimate(
        self,
        dataset: DatasetName,
        asked: Sequence[_types.Statistic],
        *,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        delta: float | None = None,
    ) -> _types.StatisticsEstimate:
        """What statistics() with these arguments would cost, and how wide its intervals would be.
        Changes nothing and costs nothing."""
        request = _statistics_request(dataset, asked, epsilon, noise_multiplier, delta)
        answer: _types.StatisticsEstimate = self._transport.post(
            "/v1/statistics:estimate", request).json()
        return answer

    def past_statistics(self, dataset: DatasetName | None = None) -> Iterator[Statistics]:
        """What was asked for before, newest first; ``refresh()`` fetches the answers of one."""
        name = dataset.id if isinstance(dataset, Dataset) else dataset
        query = {"order": "desc", "dataset": name}
        for data in self._transport.pages("/v1/statistics", "statistics", query):
            yield Statistics(self, data)

    def charge(
        self,
        dataset: DatasetName,
        work: _types.ChargedWork | Sequence[_types.ChargedWork],
        *,
        engine: str,
        unit: Literal["record", "person"] = "record",
        parts: Sequence[Literal["train", "holdout"]] | None = None,
        records: int | None = None,
        lease_s: int | None = None,
        block_steps: int | None = None,
        idempotency_key: str | None = None,
    ) -> Charge:
        """Reserves a part of a budget for work that another engine runs on the same records, which is
        then granted block by block. ``with`` settles it at its end.

        work         {"kind": "sampled_gaussian", "sampler": "poisson", "sampling_rate": 0.01,
                     "noise_multiplier": 1.1, "steps": 1000, "neighbour": "add_remove"}, or a list in
                     the order in which it is run: docs/accounting.md 1.13
        engine       what runs it, for people: its entry in the ledger names it
        unit, parts  whom the sensitivity is of; the parts of a divided dataset that it reads
        records      how many the dataset has, where it is not imported
        lease_s      after so many seconds without a new block it ends by itself
        block_steps  how many steps are granted at once; by default a hundredth
        """
        return Charge(self, self._transport.post(
            "/v1/charges", _charge_request(
                dataset, work, engine=engine, unit=unit, parts=parts, records=records,
                lease_s=lease_s, block_steps=block_steps),
            idempotency_key=idempotency_key or uuid.uuid4().hex).json())

    def charge_estimate(
        self,
        dataset: DatasetName,
        work: _types.ChargedWork | Sequence[_types.ChargedWork],
        *,
        unit: Literal["record", "person"] = "record",
        parts: Sequence[Literal["train", "holdout"]] | None = None,
        records: int | None = None,
    ) -> _types.ChargeEstimate:
        """What charge() of this work would cost, and whether it fits now. Changes nothing."""
        answer: _types.ChargeEstimate = self._transport.post(
            "/v1/charges:estimate", _charge_request(
                dataset, work, engine="estimate", unit=unit, parts=parts, records=records)).json()
        return answer

    def charges(self, id: str) -> Charge:
        """A charge by its id, to go on with it. This process is granted new blocks alone."""
        return Charge(self, self._transport.get(f"/v1/charges/{segment(id)}"))

    def past_charges(self, dataset: DatasetName | None = None) -> Iterator[Charge]:
        """Charges, newest first."""
        name = dataset.id if isinstance(dataset, Dataset) else dataset
        for data in self._transport.pages("/v1/charges", "charges", {"dataset": name}):
            yield Charge(self, data)

    def __repr__(self) -> str:
        return f"epsilond.Client({self.url!r})"


PRIVACY = ("epsilon", "noise_multiplier", "budget_fraction", "delta", "accountant")
NAMED = {"model": "preset", "algorithm": "name", "optimizer": "name",
         "averaging": "kind", "scaling": "statistics"}  # by one word or an object


def _job_request(**told: Any) -> dict[str, Any]:
    """The body of a job: only what was said, so that the rest has the service's defaults."""
    request: dict[str, Any] = {}
    for name, value in told.items():
        if value is None:
            continue
        if isinstance(value, (Dataset, Statistics)):
            value = value.id
        if name in PRIVACY:
            request.setdefault("privacy", {})[name] = value
        elif name in NAMED and isinstance(value, str):
            request[name] = {NAMED[name]: value}
        else:
            request[name] = value
    return request


def _statistics_request(dataset: DatasetName, asked: Sequence[_types.Statistic],
                        epsilon: float | None, noise_multiplier: float | None,
                        delta: float | None) -> dict[str, Any]:
    told = {"epsilon": epsilon, "noise_multiplier": noise_multiplier, "delta": delta}
    return {"dataset": dataset.id if isinstance(dataset, Dataset) else dataset,
            "statistics": list(asked),
            "privacy": {name: value for name, value in told.items() if value is not None}}


def _charge_request(dataset: DatasetName, work: _types.ChargedWork | Sequence[_types.ChargedWork],
                    **told: Any) -> dict[str, Any]:
    return {"dataset": dataset.id if isinstance(dataset, Dataset) else dataset,
            "mechanism": work if isinstance(work, Mapping) else list(work),
            **{name: value for name, value in told.items() if value is not None}}
