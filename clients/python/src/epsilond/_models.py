"""Published models: their certificates, their files, and predictions by the service."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _types
from ._caption import KEEP, Name, TagChanges, rename
from ._datasets import Dataset
from ._errors import Forbidden, InvalidArgument, ModelFileError, NoAnswer, NotFound, Unsupported
from ._evaluations import Evaluation
from ._figures import plain, up
from ._listing import Listing, qualities, tags_of, time_of
from ._model_file import ModelFile
from ._rows import Row, parts_of, read_columns
from ._transport import Transport, segment

if TYPE_CHECKING:
    import numpy as np
    import torch

    from ._client import Client
    from ._predictor import Predictor
    from ._shapes import Shapes

ROWS = 10_000  # of one prediction request: the service's limit
CELLS = 1 << 20  # of one request: about 25 MiB of a body that may have 64 MiB


def _asked(evaluation: str | Dataset | _types.HoldoutEvaluation, dataset: str | Dataset | None) -> dict[str, Any]:
    named = {"evaluation": evaluation, "dataset": dataset}
    return {name: value.id if isinstance(value, Dataset) else value for name, value in named.items() if value is not None}


class Model:
    """A published model. Predictions and its file spend nothing of a budget."""

    def __init__(self, client: Client, data: _types.Model) -> None:
        self._client = client
        self._transport: Transport = client._transport
        self._file: ModelFile | None = None
        self._columns: list[Any] | None = None
        self.data = data

    @property
    def id(self) -> str:
        return self.data["id"]

    @property
    def certificate(self) -> _types.Certificate:
        """The certificate: what was promised and what was run. The file contains it too."""
        return self.data["certificate"]

    def rename(self, display_name: Name = KEEP, tags: TagChanges = KEEP) -> Model:
        """Changes the model's name and tags; None removes the name, all tags or one of them."""
        self.data = rename(self._transport, f"/v1/models/{segment(self.id)}", display_name, tags)
        return self

    def delete(self) -> None:
        """Deletes the model and its file. What it cost stays spent, and its job stays."""
        self._transport.call("DELETE", f"/v1/models/{segment(self.id)}")

    def evaluate(
        self,
        evaluation: str | Dataset | _types.HoldoutEvaluation,
        *,
        dataset: str | Dataset | None = None,
        idempotency_key: str | None = None,
    ) -> Evaluation:
        """Evaluates the model now, after its training. ``.wait()`` waits for the result.

        evaluation          a public dataset, which is free; or holdout(epsilon=0.1): one look at held-out
                            records, which is charged to the holdout's own budget
        dataset             whose holdout it is; by default that of the dataset the model was trained on
        idempotency_key     your own name for this call: if the call is repeated with the same key, it
                            returns the same look and spends nothing more. Use one in a notebook cell that
                            may run again. By default every call is another look.
        """
        answer = self._transport.post(f"/v1/models/{segment(self.id)}:evaluate", _asked(evaluation, dataset),
                                      idempotency_key=idempotency_key or uuid.uuid4().hex)
        return Evaluation(self._client, answer.json())

    def estimate(
        self,
        evaluation: str | Dataset | _types.HoldoutEvaluation,
        *,
        dataset: str | Dataset | None = None,
    ) -> _types.EvaluationEstimate:
        """Estimates what evaluate() with these arguments would cost: ``measurement`` is None if it is free.
        Changes nothing and costs nothing."""
        answer: _types.EvaluationEstimate = self._transport.post(
            f"/v1/models/{segment(self.id)}:estimate", _asked(evaluation, dataset)).json()
        return answer

    def evaluations(self) -> Iterator[Evaluation]:
        """Evaluations of this model that were requested after its training, newest first; ``refresh()``
        fetches the result of one, which costs nothing."""
        query = {"order": "desc", "model": self.id}
        for data in self._transport.pages("/v1/evaluations", "evaluations", query):
            yield Evaluation(self._client, data)

    def predict(self, X: Any) -> list[Any]:
        """Asks the service for the class of each row, or for the value if the model is a regression.

        X: rows in the dataset's own units: lists or an array in the order of its columns, dicts with
        their names, or a frame of pandas or polars, a table of Arrow or the path of a Parquet file,
        whose columns are selected by name. A single dict is one row.
        """
        return [output["class"] if "class" in output else output["value"] for output in self._outputs(X)]

    def predict_proba(self, X: Any) -> list[list[float]]:
        """A list of probabilities for each row, in the order of the dataset's classes."""
        outputs = self._outputs(X)
        if outputs and "probabilities" not in outputs[0]:
            raise Unsupported("use predict(): a regression has no probabilities")
        return [output["probabilities"] for output in outputs]

    def predict_file(self, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
        """Predicts the rows of a csv file of any length and writes the predictions to the file ``target``,
        one line for each row. Both are sent part by part.

        The file is in the dialect of the model's dataset. Only the columns that make features are needed;
        if the dataset has a header, the file begins with one. If rows have faults, InvalidArgument names
        their lines, and ``target`` is not written.
        """
        draft = f"{os.fspath(target)}.part"
        try:
            with open(draft, "wb") as file:
                self._transport.call("POST", f"/v1/models/{segment(self.id)}:predict-file",
                                     headers={"Content-Type": "text/csv"}, content=source, into=file)
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(draft)
            raise

    def file(self) -> ModelFile:
        """The model's file, with the frozen layers. It is fetched once, and its SHA-256 is checked."""
        if self._file is None and "base" in self.data["certificate"]:
            self._file = ModelFile(self._made({"merged": "true"}))
        elif self._file is None:
            content = self._transport.call("GET", f"/v1/models/{segment(self.id)}/content").body
            if hashlib.sha256(content).hexdigest() != self.data["sha256"]:
                raise ModelFileError(f"fetch {self.id} again: what came is not the file that was published")
            self._file = ModelFile(content)
        return self._file

    def numpy(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """The weights by name."""
        return self.file().numpy()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The weights as PyTorch tensors."""
        return self.file().state_dict()

    def torch(self) -> torch.nn.Module:
        """The model as a PyTorch module; its input is the result of ``file().encode(X)``."""
        return self.file().torch()

    def as_sklearn(self) -> Predictor:
        """A predictor with scikit-learn's interface that runs in this process; for models of dense layers."""
        return self.file().as_sklearn()

    def shapes(self) -> Shapes:
        """What each column adds to a score, as a table: for models of the preset histograms."""
        return self.file().shapes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; epsilond.load(path) reads it back without a service."""
        self.file().save(path)

    def onnx(self) -> bytes:
        """The whole prediction as an ONNX file, from rows in the dataset's own units to the answers of
        predict(). Write it to disk, or pass it to ``onnxruntime.InferenceSession``."""
        return self._made({"format": "onnx"})

    def _made(self, query: dict[str, str]) -> bytes:
        """A file that is made for the answer, checked by the digest that comes with it."""
        path = f"/v1/models/{segment(self.id)}/content"
        answer = self._transport.call("GET", path, query=query)
        given = answer.headers.get("Content-Digest", "")
        digest = base64.b64encode(hashlib.sha256(answer.body).digest()).decode()
        if given != f"sha-256=:{digest}:":
            raise ModelFileError(f"fetch {self.id} again: what came is not what was sent")
        return answer.body

    def _outputs(self, X: Any) -> list[Any]:
        if self._columns is None:
            self._columns = self._read_columns()
        found: list[Any] = []
        for rows in parts_of(X, self._columns):
            width = max((len(row) for row in rows), default=1)
            count = max(1, min(ROWS, CELLS // max(1, width)))
            for start in range(0, len(rows), count):
                found += self._ask(rows[start : start + count], len(found))
        return found

    def _ask(self, rows: list[Row], first: int) -> list[Any]:
        try:
            answer = self._transport.post(f"/v1/models/{segment(self.id)}/predict", {"inputs": rows})
        except NoAnswer as problem:
            problem.first_row = first
            raise
        except InvalidArgument as problem:
            # With a large model, these rows may be more work than one request may cause.
            if len(rows) == 1 or problem.pointer != "/inputs":
                raise
            half = len(rows) // 2
            return self._ask(rows[:half], first) + self._ask(rows[half:], first + half)
        outputs: list[Any] = answer.json()["outputs"]
        return outputs

    def _read_columns(self) -> list[Any]:
        """The columns of a row; empty if the dataset has no names."""
        try:
            dataset = self._client.datasets[self.certificate["dataset"]]
        except (NotFound, Forbidden):
            return []
        return read_columns(dataset.data.get("columns", []))

    def _row(self) -> dict[str, Any]:
        guarantee = self.certificate["guarantee"]
        return {
            "id": self.id, "name": self.data["display_name"], "tags": tags_of(self.data["tags"]),
            "dataset": self.data["dataset"], "algorithm": self.data["algorithm"], "job": self.data["job"],
            "created": time_of(self.data["create_time"]),
            "epsilon": None if guarantee is None else guarantee["epsilon"],
            "delta": None if guarantee is None else guarantee["delta"],
            **qualities(self.data["metrics"], None), "size": self.data["size"],
        }

    def __repr__(self) -> str:
        certificate = self.certificate
        guarantee = certificate["guarantee"]
        words = "without privacy, on public data" if guarantee is None else (
            f"epsilon {up(guarantee['epsilon'])} at delta {guarantee['delta']:g} "
            f"({guarantee['relation']}), ledger entry {guarantee['reserve']['seq']}")
        return plain(f"{self.id} by {certificate['algorithm']['name']} on {certificate['dataset']}: {words}")


class Models(Listing):
    """The service's models: by id, or all of them, newest first."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getitem__(self, id: str) -> Model:
        return Model(self._client, self._client._transport.get(f"/v1/models/{segment(id)}"))

    def __iter__(self) -> Iterator[Model]:
        for data in self._client._transport.pages("/v1/models", "models"):
            yield Model(self._client, data)
