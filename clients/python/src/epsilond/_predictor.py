"""A predictor with scikit-learn's interface for models of dense layers; it needs only numpy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ._errors import Unsupported
from ._records import Floats, Records

if TYPE_CHECKING:
    from ._model_file import ModelFile

_erf = np.frompyfunc(math.erf, 1, 1)


def _gelu(z: Floats) -> Floats:
    halves: Floats = z / 2 * (1 + np.asarray(_erf(z / math.sqrt(2)), dtype=np.float64))
    return halves


def _gelu_tanh(z: Floats) -> Floats:
    inner: Floats = np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))
    return z / 2 * (1 + inner)


def _sigmoid(z: Floats) -> Floats:
    stable: Floats = np.exp(-np.logaddexp(0, -z))
    return stable


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "softplus": lambda z: np.logaddexp(0, z),
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "flatten": lambda z: z,  # its input is a vector already
    "dropout": lambda z: z,  # has an effect only during training
}


NAMED = 10  # rows that an error names


def _finite(found: Floats) -> Floats:
    """Returns `found` if every row is finite; raises ValueError otherwise: a row may have no output."""
    bad = np.flatnonzero(~np.isfinite(found.reshape(len(found), -1)).all(axis=1))
    if bad.size:
        rows = ", ".join(str(row) for row in bad[:NAMED])
        raise ValueError("leave these rows out, or train a model that does not diverge: no finite output for "
                         f"row {rows}")
    return found


class Predictor:
    """Has predict, predict_proba, score and classes_, like a fitted scikit-learn estimator.

    There is no fit(): each training of a private model spends budget. Tools that use the predictions
    of a fitted estimator work (metrics, calibration curves, decision boundaries); tools that fit
    clones (GridSearchCV, cross_val_score) do not.
    """

    def __init__(self, file: ModelFile) -> None:
        self._records = Records(file.inputs)
        self._loss = file.arch["loss"]
        self._steps: list[Callable[[Floats], Floats]] = []
        weights = {name: values.astype(np.float64) for name, values in file.numpy().items()}
        _merge_adapters(weights, file.arch.get("lora", {}))
        for place, layer in enumerate(file.arch["layers"]):
            self._steps.append(_step(layer, place, weights))
        self.n_features_in_: int = weights["0.weight"].shape[-1]
        """The number of inputs of the first layer; a column of words becomes several."""
        classes = self._records.classes
        if classes is not None:
            self.classes_ = np.array(classes)

    def decision_function(self, X: Any) -> Floats:
        """The last layer's output, one column for each output."""
        z = self._records.encode(X)
        for step in self._steps:
            z = step(z)
        return z

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most likely class of each row, or a regression's value in the label's unit."""
        if self._is_classifier:
            found: np.ndarray[Any, Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
            return found
        low, high = self._records.target_range
        return _finite(low + (self.decision_function(X)[:, 0] + 1) / 2 * (high - low))

    def predict_proba(self, X: Any) -> Floats:
        """One row for each record, one column for each class, in the order of classes_."""
        if not self._is_classifier:
            raise Unsupported("use predict(): a regression has no probabilities")
        z = self.decision_function(X)
        with np.errstate(invalid="ignore"):
            if z.shape[1] == 1:
                return _finite(np.hstack([_sigmoid(-z), _sigmoid(z)]))
            powers = np.exp(z - z.max(axis=1, keepdims=True))
            return _finite(powers / powers.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any) -> float:
        """The share of correct classes, or R^2 for a regression."""
        truth, found = np.asarray(y), self.predict(X)
        if truth.shape != found.shape:
            raise ValueError(f"give one y for each row: its shape is {truth.shape}, must be {found.shape}")
        if self._is_classifier:
            if not np.isin(truth, self.classes_).any():
                raise ValueError(f"give classes as y: nothing in y is one of the classes {self.classes_.tolist()}")
            return float((truth == found).mean())
        rest = float(((truth - found) ** 2).sum())
        return 1 - rest / float(((truth - truth.mean()) ** 2).sum())

    @property
    def _is_classifier(self) -> bool:
        return hasattr(self, "classes_")

    def __repr__(self) -> str:
        kind = f"{len(self.classes_)} classes" if self._is_classifier else "a regression"
        return f"<predictor of {kind} from {self.n_features_in_} features>"


def _merge_adapters(weights: dict[str, Floats], lora: dict[str, Any]) -> None:
    """Adds to each weight the product of the matrices of its adapter."""
    for name in [name for name in weights if name.endswith(".lora_A.weight")]:
        layer = name.removesuffix(".lora_A.weight")
        product = weights[f"{layer}.lora_B.weight"] @ weights[name]
        weights[f"{layer}.weight"] += lora["alpha"] / lora["rank"] * product


def _step(layer: dict[str, Any], place: int, weights: dict[str, Floats]) -> Callable[[Floats], Floats]:
    """The function of one layer, on an array of (rows, width)."""
    kind = layer["type"]
    if kind == "dense":
        weight, bias = weights[f"{place}.weight"], weights.get(f"{place}.bias", np.zeros(1))
        return lambda z: z @ weight.T + bias
    if kind == "standardise":
        return lambda z: z * weights[f"{place}.weight"] + weights[f"{place}.bias"]
    if kind == "gelu" and layer.get("approximate") == "tanh":
        kind = "gelu_tanh"
    if kind not in ACTIVATIONS:
        raise Unsupported("use the model's predict(), which asks the service, or torch(): only models of dense "
                          f"layers run here, and layer {place} is {kind!r}")
    return ACTIVATIONS[kind]
