"""The client: the address of a service, and a method for each kind of request."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal, Union

from . import _types
from ._charges import Charge
from ._datasets import Dataset, Datasets
from ._estimate import Estimate
from ._jobs import Job, Jobs
from ._models import Models
from ._price import Price
from ._statistics import Statistics, WordsPending
from ._sweeps import Sweep, price_of
from ._transport import Transport, segment

LOCAL = "http://127.0.0.1:8080"

DatasetName = Union[str, Dataset]


class Client:
    """A client of one epsilond service.

    url         the service's address; default EPSILOND_URL, else http://127.0.0.1:8080
    key         an access key; default EPSILOND_KEY; sent as a bearer token
    timeout     seconds that an answer may take
    patience    seconds after a first failure during which a request is sent again, if that may help
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
        """The version of the running service."""
        answer: _types.Version = self._transport.get("/v1/version")
        return answer

    def status(self) -> _types.Status:
        """The service's status: jobs by state, the queue, the ledger's head."""
        answer: _types.Status = self._transport.get("/v1/status")
        return answer

    def algorithms(self) -> list[_types.AlgorithmListAlgorithmsItem]:
        """The training algorithms: when to use each, what it costs, its parameters."""
        answer: _types.AlgorithmList = self._transport.get("/v1/algorithms")
        return answer["algorithms"]

    def upload_weights(self, weights: str | os.PathLike[str] | bytes, *, note: str = "") -> _types.File:
        """Uploads public weights: a safetensors file or its bytes. ``train(model={..., "weights": id})``,
        with the id of the answer, starts training from them. Upload only weights that are public: no
        guarantee covers them.

        note        where the weights come from, in printable ASCII; certificates show it
        """
        answer: _types.File = self._transport.upload("/v1/files", weights, {"note": note or None})
        return answer

    def upload_tokenizer(self, file: str | os.PathLike[str] | bytes, *, note: str = "") -> _types.File:
        """Uploads a file of a public tokenizer: vocab.txt, vocab.json or merges.txt, or its bytes. A column
        ``{"kind": "text", "length": 64, "tokenizer": {"kind": "wordpiece", "vocabulary": id}}``, with the id
        of the answer, reads texts with it. Take the files that the model's weights were published with.

        note        where the file comes from, in printable ASCII
        """
        query = {"kind": "tokenizer", "note": note or None}
        answer: _types.File = self._transport.upload("/v1/files", file, query)
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
        learning_rate: float | None = None,
        averaging: str | _types.Averaging | None = None,
        class_weights: Sequence[float] | Mapping[str, float] | None = None,
        scaling: Statistics | str | None = None,
        standardise: bool | _types.StandardiseRequest | None = None,
        batch_size: int | None = None,
        ranks: int | None = None,
        rows_per_person: int | None = None,
        augmentation: _types.Augmentation | None = None,
        epochs: int | None = None,
        steps: int | None = None,
        runs: int | None = None,
    ) -> Estimate:
        """Estimates what train() with these arguments would cost, and whether the job fits now. Changes
        nothing and costs nothing.

        runs: a number of such jobs; ``tuning`` then has what they would cost together.
        """
        request = _job_request(
            dataset=dataset, model=model, epsilon=epsilon, noise_multiplier=noise_multiplier,
            budget_fraction=budget_fraction, delta=delta, accountant=accountant,
            algorithm=algorithm, evaluation=evaluation, optimizer=optimizer,
            learning_rate=learning_rate, averaging=averaging,
            class_weights=self._weights(dataset, class_weights), scaling=scaling,
            standardise=standardise, batch_size=batch_size,
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
        learning_rate: float | None = None,
        averaging: str | _types.Averaging | None = None,
        class_weights: Sequence[float] | Mapping[str, float] | None = None,
        scaling: Statistics | str | None = None,
        standardise: bool | _types.StandardiseRequest | None = None,
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
        """Submits a job and reserves its whole price. If the price does not fit, raises
        BudgetExhausted, which says what would fit, and nothing is changed. ``.wait()`` waits for
        the job.

        dataset             a dataset or its id
        evaluation          a public dataset to measure quality on, or holdout(epsilon=0.1): the
                            records that the dataset itself holds out
        model               a preset's name, or a preset with its members, or a list of layers; with
                            it, "weights" to start from (the id of a model or of upload_weights()),
                            and which layers are "trainable"
        epsilon             of this job only, at delta (default: the dataset's); or instead
        noise_multiplier    the amount of noise, at any cost; or instead
        budget_fraction     the share of the remaining budget that the job may take
        algorithm           a name, or a name with its parameters
        optimizer           a name, or a name with its parameters
        learning_rate       of the optimizer; without an optimizer, of sgd
        averaging           "tail" or "ema", or either with its share or decay: the model is the mean of
                            the last points of training. It costs no privacy
        class_weights       factors of the loss of each class, in their order, or by name: {"yes": 3}
                            leaves the others at 1. They are public numbers that you choose, from what
                            is known of the classes or from a released histogram, never from the file
        scaling             statistics of the dataset: the outer quantiles of a column replace its
                            declared range. Their price was paid when they were measured
        standardise         True: the model scales columns of numbers, or features behind frozen layers,
                            by their means and deviations, which the first such job buys and later jobs
                            with the same dataset and frozen layers use for nothing; or
                            {"epsilon": 0.1, "clip_norm": 2}. ``estimate()`` has the price
        ranks               how many processes compute each step together, if the operator allows
                            starting them; ``estimate().ranks`` says whether that pays
        rows_per_person     in a dataset of persons: how many rows of a person a step reads at most
        augmentation        for images: {"views": 4, "flip": True, "shift": 2}; a step sees each image
                            in this number of views, and the mean of their gradients counts once, at
                            no further cost
        display_name, tags  the job's name and tags: shown, and found by jobs.where(). Anyone who may
                            see the job can read them
        idempotency_key     your own name for this call: if the call is repeated with the same key, it
                            returns the job that it created before and spends nothing more. Use one in
                            a notebook cell that may run again. By default every call creates a job.

        The service's defaults apply to arguments that are left out.
        """
        request = _job_request(
            dataset=dataset, model=model, epsilon=epsilon, noise_multiplier=noise_multiplier,
            budget_fraction=budget_fraction, delta=delta, accountant=accountant,
            algorithm=algorithm, evaluation=evaluation, optimizer=optimizer,
            learning_rate=learning_rate, averaging=averaging,
            class_weights=self._weights(dataset, class_weights), scaling=scaling,
            standardise=standardise, batch_size=batch_size,
            ranks=ranks, rows_per_person=rows_per_person, augmentation=augmentation, epochs=epochs, steps=steps,
            display_name=display_name, tags=tags)
        answer = self._transport.post("/v1/jobs", request,
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        data: _types.Job = answer.json()
        for warning in data.get("warnings", []):
            warnings.warn(warning["text"], stacklevel=2)
        return Job(self, data)

    def _weights(self, dataset: DatasetName,
                 weights: Sequence[float] | Mapping[str, float] | None) -> Sequence[float] | None:
        """The weights in the order of the classes."""
        if not isinstance(weights, Mapping):
            return weights
        names = (dataset if isinstance(dataset, Dataset) else self.datasets[dataset]).classes
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise ValueError(f"name a class of the dataset: {unknown[0]!r} is none of {names}")
        return [weights.get(name, 1) for name in names]

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
        """Trains one job for each epsilon, with the same settings otherwise. Prints the share of the
        budget that each job takes and the share that all take together. Trains only with
        confirm=True, and only if all jobs fit.

        settings            as in train(). Every job is charged, also those that you do not use.
        idempotency_key     as in train(): if the call is repeated with the same key, it returns the
                            jobs that it created before, as long as their price would fit once more.
        """
        estimates = [self.estimate(dataset, model, epsilon=epsilon, **settings) for epsilon in epsilons]
        price = Price(epsilons, estimates)
        print(price)
        if not confirm:
            print("Nothing was done: confirm=True trains them.")
            return []
        if not price.fits:
            raise ValueError("ask for fewer or smaller epsilons: they do not all fit, and none was submitted")
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
        """Many runs of one job. The price of all runs is reserved before the first begins, or none is
        run; the sweep names the best run. Prints the composed price of all runs; submits only with
        confirm=True.

        runs                the settings of each run: JSON pointers into the job, and their values
        grid                or the values of each setting; every combination of them is a run:
                            {"/optimizer/learning_rate": [0.5, 2], "/privacy/epsilon": [0.5, 1]}
        random              or random draws: {"count": 10, "seed": 1, "settings":
                            {"/optimizer/learning_rate": {"low": 0.1, "high": 10, "scale": "log"}}}
        settings            as in train(); they apply to all runs
        idempotency_key     as in train(): if the call is repeated with the same key, it returns the
                            sweep that it created before
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
        """Requests statistics of a private dataset's columns, all of them for one price, which is
        reserved at once. ``.wait()`` waits for the answers, which come with intervals.

        asked               {"kind": "histogram", "column": "sex"}, {"kind": "mean", "column": "age",
                            "range": [17, 90]}, and so on: docs/statistics.md
        epsilon             of all statistics together, at delta (default: the dataset's); or instead
        noise_multiplier    the amount of noise, at any cost
        idempotency_key     as in train(): if the call is repeated with the same key, it returns the
                            statistics that it requested before
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
        """Estimates what statistics() with these arguments would cost, and how wide its intervals
        would be. Changes nothing and costs nothing."""
        request = _statistics_request(dataset, asked, epsilon, noise_multiplier, delta)
        answer: _types.StatisticsEstimate = self._transport.post(
            "/v1/statistics:estimate", request).json()
        return answer

    def words(
        self,
        dataset: DatasetName,
        column: str,
        *,
        discovery_delta: float,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        delta: float | None = None,
        idempotency_key: str | None = None,
    ) -> Statistics:
        """Buys the frequent words of a hashed column that declares text_bytes. ``.wait()`` waits for
        them. If a second person has to agree, WordsPending is raised: call again once they have.

        discovery_delta     the probability that a text is shown which one record, or person, has;
                            it is taken from what the dataset's grant sets aside
        epsilon             of the counts, at delta (default: what discoveries leave of the dataset's)
        noise_multiplier    instead: the amount of noise, at any cost
        """
        request = _words_request(dataset, column, discovery_delta, epsilon, noise_multiplier, delta)
        answer = self._transport.post("/v1/statistics", request,
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        if answer.status == HTTPStatus.ACCEPTED:
            raise WordsPending(answer.json())
        return Statistics(self, answer.json())

    def words_estimate(
        self,
        dataset: DatasetName,
        column: str,
        *,
        discovery_delta: float,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        delta: float | None = None,
    ) -> _types.StatisticsEstimate:
        """Estimates what words() with these arguments would cost, and the count from which a word
        would be shown (``threshold``). Changes nothing and costs nothing."""
        request = _words_request(dataset, column, discovery_delta, epsilon, noise_multiplier, delta)
        answer: _types.StatisticsEstimate = self._transport.post(
            "/v1/statistics:estimate", request).json()
        return answer

    def past_statistics(self, dataset: DatasetName | None = None) -> Iterator[Statistics]:
        """Statistics that were requested before, newest first; ``refresh()`` fetches the answers of one."""
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
        acknowledge: Sequence[str] | None = None,
        lease_s: int | None = None,
        block_steps: int | None = None,
        idempotency_key: str | None = None,
    ) -> Charge:
        """Reserves a part of a budget for work that another engine runs on the same records. The work
        is then granted block by block. The end of a ``with`` statement settles the charge.

        work         {"kind": "sampled_gaussian", "sampler": "poisson", "sampling_rate": 0.01,
                     "noise_multiplier": 1.1, "steps": 1000, "neighbour": "add_remove"}, or a list in
                     the order in which it is run: docs/accounting.md 1.13
        engine       the name of the engine that runs the work; the ledger shows it to people
        unit         what the sensitivity refers to: a record or a person
        parts        the parts of a divided dataset that the work reads
        records      the number of the dataset's records, if it is not imported
        acknowledge  ["delta_above_1_over_n"], if an error asks for it because delta is above 1 / records
        lease_s      seconds without a new block after which the charge ends by itself
        block_steps  how many steps are granted at once; by default a hundredth of all
        """
        return Charge(self, self._transport.post(
            "/v1/charges", _charge_request(
                dataset, work, engine=engine, unit=unit, parts=parts, records=records, acknowledge=acknowledge,
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
        acknowledge: Sequence[str] | None = None,
    ) -> _types.ChargeEstimate:
        """Estimates what charge() with these arguments would cost, and whether it fits. Changes nothing."""
        answer: _types.ChargeEstimate = self._transport.post(
            "/v1/charges:estimate", _charge_request(
                dataset, work, engine="estimate", unit=unit, parts=parts, records=records,
                acknowledge=acknowledge)).json()
        return answer

    def charges(self, id: str) -> Charge:
        """The charge with this id, to continue it. This process is granted only new blocks."""
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
         "averaging": "kind", "scaling": "statistics"}  # each is given as one word or as an object


def _job_request(**told: Any) -> dict[str, Any]:
    """The body of a job. It has only the arguments that were given: defaults are the service's."""
    request: dict[str, Any] = {}
    rate = told.pop("learning_rate", None)
    if rate is not None:
        told["optimizer"] = _with_rate(told.get("optimizer"), rate)
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


def _with_rate(optimizer: str | Mapping[str, Any] | None, rate: float) -> dict[str, Any]:
    """The optimizer with this learning rate. Without a name it is sgd, as in the service."""
    chosen = dict(optimizer) if isinstance(optimizer, Mapping) else {"name": optimizer or "sgd"}
    if "learning_rate" in chosen:
        raise TypeError("give the learning rate once: in optimizer, or as learning_rate")
    return {**chosen, "learning_rate": rate}


def _statistics_request(dataset: DatasetName, asked: Sequence[_types.Statistic],
                        epsilon: float | None, noise_multiplier: float | None,
                        delta: float | None) -> dict[str, Any]:
    told = {"epsilon": epsilon, "noise_multiplier": noise_multiplier, "delta": delta}
    return {"dataset": dataset.id if isinstance(dataset, Dataset) else dataset,
            "statistics": list(asked),
            "privacy": {name: value for name, value in told.items() if value is not None}}


def _words_request(dataset: DatasetName, column: str, discovery_delta: float, epsilon: float | None,
                   noise_multiplier: float | None, delta: float | None) -> dict[str, Any]:
    request = _statistics_request(dataset, [{"kind": "words", "column": column}], epsilon, noise_multiplier, delta)
    request["privacy"]["discovery_delta"] = discovery_delta
    return request


def _charge_request(dataset: DatasetName, work: _types.ChargedWork | Sequence[_types.ChargedWork],
                    **told: Any) -> dict[str, Any]:
    return {"dataset": dataset.id if isinstance(dataset, Dataset) else dataset,
            "mechanism": work if isinstance(work, Mapping) else list(work),
            **{name: value for name, value in told.items() if value is not None}}
