"""A published model's file: safetensors with the architecture, the inputs and the certificate in
its metadata. This module reads it without the service; only reading the weights needs numpy."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _types
from ._errors import ModelFileError, Unsupported

if TYPE_CHECKING:
    import numpy as np
    import torch

    from ._predictor import Predictor
    from ._shapes import Shapes

HEADER_MAX = 100_000_000  # bytes of the header, as the format's reference reader allows


class _Tensor(NamedTuple):
    shape: tuple[int, ...]
    begin: int
    end: int


class ModelFile:
    """``arch`` has the model's layers, ``inputs`` the encoding of records as numbers, ``certificate``
    the promise. Raises ModelFileError if the bytes are not such a file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        header, start = _header(content)
        metadata = header.pop("__metadata__", None)
        if not isinstance(metadata, dict) or metadata.get("format") != "epsilond/1":
            raise ModelFileError("give the file of a model of epsilond: the metadata does not say epsilond/1")
        try:
            self.arch: dict[str, Any] = json.loads(metadata["arch"])
            self.inputs: dict[str, Any] = json.loads(metadata["inputs"])
            self.certificate: _types.Certificate = json.loads(metadata["certificate"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"fetch the file again: its metadata lacks a part or is not JSON: {error!r}") from None
        self._data = memoryview(content)[start:]
        self._tensors = _tensors(header, len(self._data))

    def numpy(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """Copies of the weights by name, with PyTorch's names and layouts (docs/model-file.md)."""
        numpy = _numpy()
        return {name: numpy.frombuffer(self._data[tensor.begin : tensor.end], dtype="<f4")
                .reshape(tensor.shape).astype(numpy.float32)
                for name, tensor in self._tensors.items()}

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The weights as PyTorch tensors, by the names in the file. ResNets have torchvision's names."""
        from . import _torch

        return _torch.state_dict(self)

    def torch(self) -> torch.nn.Module:
        """The model as a PyTorch module, in evaluation mode. Its input is the result of encode(), and
        its output that of the last layer: softmax and similar functions belong to the loss. Its
        parameters are named by the layers' positions, as in the file, except for ResNets."""
        from . import _torch

        return _torch.module(self)

    def encode(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Converts rows in the dataset's own units to the numbers that the first layer takes."""
        _numpy()
        from ._records import Records

        return Records(self.inputs).encode(X)

    def as_sklearn(self) -> Predictor:
        """A predictor with scikit-learn's interface that runs in this process and needs only numpy. It
        supports models of dense layers. It has no fit(): see the README."""
        _numpy()
        from ._predictor import Predictor

        return Predictor(self)

    def shapes(self) -> Shapes:
        """What each column adds to a score, as a table: for models of the preset histograms."""
        from ._shapes import Shapes

        return Shapes(self.arch, self.inputs, {name: (tensor.shape, self._data[tensor.begin : tensor.end])
                                               for name, tensor in self._tensors.items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file exactly as it was published; load() reads it back."""
        with open(path, "wb") as file:
            file.write(self.content)

    def __repr__(self) -> str:
        return f"<model {self.certificate['model']} of {len(self._tensors)} tensors>"


def load(path: str | os.PathLike[str]) -> ModelFile:
    """Reads a model's file from disk; needs no service."""
    with open(path, "rb") as file:
        return ModelFile(file.read())


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise Unsupported("install numpy, which this needs: pip install 'epsilond[numpy]'") from None
    return numpy


def _header(content: bytes) -> tuple[dict[str, Any], int]:
    """The header, and the offset at which the tensors' bytes begin."""
    if len(content) < 8:
        raise ModelFileError("give the file of a model: this is no safetensors file, as it is shorter than a header's length")
    (size,) = struct.unpack_from("<Q", content)
    if size > HEADER_MAX or 8 + size > len(content):
        raise ModelFileError("give the file of a model: this is no safetensors file, as its header would end behind its end")
    text = content[8 : 8 + size]
    try:
        header = json.loads(text, object_pairs_hook=_without_twins) if text[:1] == b"{" else None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"fetch the file again: its header cannot be read: {error}") from None
    if not isinstance(header, dict):
        raise ModelFileError("give the file of a model: this is no safetensors file, as its header is no JSON object")
    return header, 8 + size


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a name occurs twice")
    return names


def _tensors(header: dict[str, Any], size: int) -> dict[str, _Tensor]:
    """The tensors by name. They must be float32 and fill the rest of the file without a gap."""
    found = {}
    for name, entry in header.items():
        try:
            shape = tuple(int(length) for length in entry["shape"])
            begin, end = (int(offset) for offset in entry["data_offsets"])
            kind = entry["dtype"]
        except (KeyError, TypeError, ValueError):
            raise ModelFileError(f"fetch the file again: the tensor {name!r} is not described") from None
        count = 1
        for length in shape:
            count *= length
        if kind != "F32" or min(shape, default=0) < 0 or end - begin != 4 * count:
            raise ModelFileError(f"fetch the file again: the tensor {name!r} is not of float32 and its shape")
        found[name] = _Tensor(shape, begin, end)
    place = 0
    for name, tensor in sorted(found.items(), key=lambda item: item[1].begin):
        if tensor.begin != place:
            raise ModelFileError(f"fetch the file again: the tensor {name!r} does not begin where the last one ends")
        place = tensor.end
    if place != size:
        raise ModelFileError("fetch the file again: its tensors do not end where the file does")
    return found
