"""Converts a published model to PyTorch: its tensors, and a module that computes the same output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import Unsupported

try:
    import torch
    from torch import nn
except ImportError:
    raise Unsupported("install PyTorch, which this needs: pip install 'epsilond[torch]'") from None

if TYPE_CHECKING:
    from ._model_file import ModelFile

Layer = dict[str, Any]


def state_dict(file: ModelFile) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values) for name, values in file.numpy().items()}


class Network(nn.Sequential):
    """The layers in order. Its input is a batch of records, flat or in their shape."""

    def __init__(self, layers: list[nn.Module], shape: tuple[int, ...]) -> None:
        super().__init__(*layers)
        self.shape = shape

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ids, y = x, x.reshape(len(x), *self.shape)
        for layer in self:
            y = layer(y, ids) if getattr(layer, "reads_ids", False) else layer(y)
        return y


class Dense(nn.Linear):
    """Applies to a whole record, or to each pixel of an image if its channels are the layer's inputs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() > 2 and x[0].numel() != self.in_features:
            return super().forward(x.movedim(1, -1)).movedim(-1, 1)
        return super().forward(x.flatten(1))


class Adapted(Dense):
    """A layer and its adapter: the layer's output, and scale B A x."""

    def __init__(self, into: int, out: int, bias: bool, rank: int, scale: float) -> None:
        super().__init__(into, out, bias=bias)
        self.lora_A, self.lora_B = Dense(into, rank, bias=False), Dense(rank, out, bias=False)
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = super().forward(x) + self.scale * self.lora_B(self.lora_A(x))
        return y


class Residual(nn.Module):
    """The sum of two branches; an empty shortcut returns its input."""

    def __init__(self, body: list[nn.Module], shortcut: list[nn.Module]) -> None:
        super().__init__()
        self.body, self.shortcut = Layers(*body), Layers(*shortcut)

    reads_ids = True

    def forward(self, x: torch.Tensor, ids: torch.Tensor | None = None) -> torch.Tensor:
        y: torch.Tensor = self.body(x, ids) + self.shortcut(x, ids)
        return y


class Replicate(nn.Module):
    """Copies one channel to several equal channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.expand(-1, self.channels, -1, -1)


class Crop(nn.Module):
    """Cuts out the middle of an image."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        top, left = ((length - self.size) // 2 for length in x.shape[2:])
        return x[:, :, top : top + self.size, left : left + self.size]


class Standardise(nn.Module):
    """Subtracts a mean from each feature and divides by a deviation, which were released before training.

    If its input has channels, each channel has one mean and one deviation.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(features), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape = (-1,) + (1,) * (x.dim() - 2)
        return x * self.weight.reshape(shape) + self.bias.reshape(shape)


class LayerNorm(nn.LayerNorm):
    """Normalises over the channels of each pixel, or over a vector."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


class EmbedColumns(nn.Module):
    """Replaces the features of each column of words by a row of a table. columns: the first feature of
    each, and their number, in the order of features."""

    def __init__(self, columns: list[tuple[int, int]], width: int) -> None:
        super().__init__()
        self.columns = columns
        self.weight = nn.Parameter(torch.zeros(sum(words for _, words in columns), width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts, at, row = [], 0, 0
        for first, words in self.columns:
            own = x[:, first : first + words]
            parts += [x[:, at:first], own @ self.weight[row : row + words]]
            at, row = first + words, row + words
        return torch.cat([*parts, x[:, at:]], 1)


class Tokens(nn.Module):
    """A layer of texts. A value has the positions last, (batch, width, positions, 1), as the image that
    other layers read; the ids of the record say which positions have a token."""

    reads_ids = True

    def run(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """x and the result are (batch, positions, width)."""
        raise NotImplementedError

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        y = self.run(x.reshape(len(x), -1, ids.shape[1]).transpose(1, 2), ids)
        return y if y.dim() == 2 else y.transpose(1, 2).unsqueeze(3)


def _own(ids: torch.Tensor) -> torch.Tensor:
    """True for the tokens of each record: all ids before the first that is negative."""
    return (ids >= 0).to(torch.int64).cumprod(1).bool()


class Embedding(Tokens):
    """Looks up the ids in a table; zeros behind the end, and for an id that is not in the table."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        known = _own(ids) & (ids < len(self.weight))
        y = self.weight[(ids * known).to(torch.int64)] * known.unsqueeze(2)
        return y.transpose(1, 2).unsqueeze(3)


class Position(Tokens):
    """Adds a row of a table to each position."""

    def __init__(self, rows: int, width: int, offset: int) -> None:
        super().__init__()
        self.offset = offset
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def run(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return x + self.weight[self.offset : self.offset + x.shape[1]]


class TokenType(Tokens):
    """Adds one of at most two rows to each position: the last one behind the first separator."""

    def __init__(self, rows: int, width: int, separator: int) -> None:
        super().__init__()
        self.separator = separator
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def run(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        found = (_own(ids) & (ids == self.separator)).to(torch.int64)
        behind = (found.cumsum(1) - found) > 0
        return x + self.weight[behind.to(torch.int64) * (len(self.weight) - 1)]


class LSTM(nn.LSTM):
    """PyTorch's LSTM of one layer; zeros behind the end of a record."""

    reads_ids = True

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        y, _ = super().forward(x.reshape(len(x), -1, ids.shape[1]).permute(2, 0, 1))
        return (y * _own(ids).T.unsqueeze(2)).permute(1, 2, 0).unsqueeze(3)


class Attention(Tokens):
    """Each head mixes the values of a record's own tokens; its three branches are lists of layers."""

    def __init__(self, heads: int, query: list[nn.Module], key: list[nn.Module], value: list[nn.Module]) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = Layers(*query), Layers(*key), Layers(*value)

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        q, k, v = (self._split(branch(x, ids)) for branch in (self.query, self.key, self.value))
        own = _own(ids)[:, None, None, :]
        scores = (q @ k.transpose(2, 3)) / math.sqrt(q.shape[3])
        shares = torch.softmax(scores.masked_fill(~own, -torch.inf), 3).nan_to_num(0.0)
        y = (shares @ v).transpose(2, 3).flatten(1, 2)
        return y.unsqueeze(3)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, heads, positions, width of a head)"""
        return x.reshape(len(x), self.heads, -1, x.shape[2]).transpose(2, 3)


class Take(Tokens):
    """Makes a vector of the positions: the first one, the last token, or the mean of the tokens."""

    def __init__(self, position: str) -> None:
        super().__init__()
        self.position = position

    def run(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        own, count = _own(ids), _own(ids).sum(1, keepdim=True)
        if self.position == "first":
            return x[:, 0]
        if self.position == "mean":
            return (x * own.unsqueeze(2)).sum(1) / count.clamp(min=1)
        last = own & (torch.arange(x.shape[1], device=x.device) == count - 1)
        return (x * last.unsqueeze(2)).sum(1)


class Layers(nn.Sequential):
    """Layers in order, which may read the ids of the records."""

    def forward(self, x: torch.Tensor, ids: torch.Tensor | None = None) -> torch.Tensor:
        for layer in self:
            x = layer(x, ids) if getattr(layer, "reads_ids", False) else layer(x)
        return x


class Scatter(nn.Module):
    """The scattering transform with two scales and eight directions, of each channel separately."""

    def __init__(self, centre: float) -> None:
        super().__init__()
        self.centre = centre

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count, channels, height, width = x.shape
        x = (x - self.centre).to(torch.float64).reshape(-1, 1, height, width)
        x = nn.functional.pad(x, (4, 4, 4, 4), mode="reflect")
        sides = x.shape[2:]
        fine, coarse = (_wavelets(sides, scale) for scale in (0, 1))
        spectrum = torch.fft.fft2(x)
        first = torch.fft.ifft2(spectrum * fine).abs()
        again = torch.fft.fft2(first).unsqueeze(2)
        second = torch.fft.ifft2(again * coarse).abs().flatten(1, 2)
        maps = [_smooth(x, 1), _smooth(first, 1),
                _smooth(torch.fft.ifft2(spectrum * coarse).abs(), 2), _smooth(second, 2)]
        y = torch.cat(maps, 1).to(torch.float32)
        return y.reshape(count, 81 * channels, *y.shape[2:])


def _envelope(y: torch.Tensor, x: torch.Tensor, along: float, theta: float, xi: float) -> torch.Tensor:
    """The spectrum of a Gaussian around frequency xi in direction theta. Sums its aliases: the
    spectrum shifted by multiples of 2 pi."""
    total = torch.zeros_like(y * x)
    for v in range(-2, 3):
        for u in range(-2, 3):
            fy, fx = y + 2 * math.pi * v, x + 2 * math.pi * u
            p = fy * math.cos(theta) + fx * math.sin(theta) - xi
            q = fx * math.cos(theta) - fy * math.sin(theta)
            total += torch.exp(-0.5 * along**2 * (p**2 + 4 * q**2))
    return total


def _wavelets(sides: torch.Size, scale: int) -> torch.Tensor:
    """The spectra of the wavelets in eight directions."""
    y, x = (2 * math.pi * torch.fft.fftfreq(side, dtype=torch.float64) for side in sides)
    y, along, xi = y.reshape(-1, 1), 0.8 * 2**scale, 0.75 * math.pi / 2**scale
    spectra = []
    for direction in range(8):
        theta = (3 - direction) * math.pi / 8
        wave, envelope = (_envelope(y, x, along, theta, at) for at in (xi, 0.0))
        spectra.append(wave - wave[0, 0] / envelope[0, 0] * envelope)
    return torch.stack(spectra)


def _smooth(x: torch.Tensor, step: int) -> torch.Tensor:
    """A low-pass filter that reads every step-th pixel and returns every fourth, without the outer ones."""
    kept = x[:, :, ::step, ::step]
    for axis, side in ((2, x.shape[2]), (3, x.shape[3])):
        at = torch.arange(4, side - 4, 4).reshape(-1, 1) - torch.arange(0, side, step)
        turns = torch.stack([at + side * turn for turn in range(-2, 3)]).to(torch.float64)
        weights = step * torch.exp(-turns**2 / 5.12).sum(0) / math.sqrt(5.12 * math.pi)
        kept = torch.tensordot(kept, weights, dims=([axis], [1])).movedim(-1, axis)
    return kept


class GlobalAveragePool(nn.Module):
    """The mean of each channel."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3))


class _Builder:
    """Creates the layers and records which tensor of the file belongs to each parameter."""

    def __init__(self, tensors: dict[str, torch.Tensor], arch: dict[str, Any], inputs: dict[str, Any]) -> None:
        preset = str(arch.get("preset", ""))
        self._tensors, self._is_resnet = tensors, preset.startswith("resnet")
        self._lora: dict[str, Any] = arch.get("lora", {})
        self._public = _encoder_names(preset, arch["layers"]) if preset in ENCODERS else {}
        self._columns: list[Any] = inputs.get("columns") or []
        self._stage, self._block = 1, -1
        self.loaded: dict[str, torch.Tensor] = {}

    def layers(self, specs: list[Layer], path: str, name: str) -> list[nn.Module]:
        """path: the position in the module, such as `3.body.`; name: the layers' prefix in the file."""
        return [self._layer(spec, f"{path}{place}", f"{name}{place}") for place, spec in enumerate(specs)]

    def _take(self, module: nn.Module, path: str, name: str) -> nn.Module:
        for parameter in dict(module.named_parameters()):
            self.loaded[f"{path}.{parameter}"] = self._tensors[f"{name}.{parameter}"]
        return module

    def _layer(self, spec: Layer, path: str, name: str) -> nn.Module:
        kind, name = spec["type"], self._public.get(path, name)
        if kind == "residual":
            return self._residual(spec, path, name)
        if kind == "attention":
            return Attention(spec["heads"], *(self.layers(spec[branch], f"{path}.{branch}.", f"{name}.{branch}.")
                                              for branch in ("query", "key", "value")))
        if kind == "embed_columns":
            from ._records import places_of  # needs numpy, which PyTorch brings

            places = [place for place in places_of(self._columns) if place[0] in spec["columns"]]
            return self._take(EmbedColumns([place[1:] for place in places], spec["out"]), path, name)
        if kind == "lstm":
            into = self._tensors[f"{name}.weight_ih_l0"].shape[1]
            return self._take(LSTM(into, spec["hidden"]), path, name)
        if kind in TABLES:
            return self._take(TABLES[kind](spec, self._tensors[f"{name}.weight"].shape), path, name)
        if kind == "standardise":
            return self._take(Standardise(len(self._tensors[f"{name}.weight"])), path, name)
        if kind in ("dense", "conv2d", "group_norm", "layer_norm"):
            if self._is_resnet:
                name = TOP_OF_RESNET.get(name, name if "." in name else "fc")
            if f"{name}.lora_A.weight" in self._tensors:
                return self._take(self._adapted(spec, self._tensors[f"{name}.weight"]), path, name)
            return self._take(_weighted(spec, self._tensors[f"{name}.weight"]), path, name)
        return _weightless(spec)

    def _adapted(self, spec: Layer, weight: torch.Tensor) -> nn.Module:
        out, into = weight.shape
        return Adapted(into, out, spec["bias"], self._lora["rank"], self._lora["alpha"] / self._lora["rank"])

    def _residual(self, spec: Layer, path: str, name: str) -> nn.Module:
        if not self._is_resnet:
            return Residual(self.layers(spec["body"], f"{path}.body.", f"{name}.body."),
                            self.layers(spec["shortcut"], f"{path}.shortcut.", f"{name}.shortcut."))
        # torchvision counts blocks in stages; a stage after the first begins with a shortcut.
        self._stage += bool(spec["shortcut"])
        self._block = 0 if spec["shortcut"] else self._block + 1
        block = f"layer{self._stage}.{self._block}."
        body = [self._layer(layer, f"{path}.body.{place}", block + BODY_OF_RESNET.get(place, "."))
                for place, layer in enumerate(spec["body"])]
        return Residual(body, self.layers(spec["shortcut"], f"{path}.shortcut.", block + "downsample."))


TABLES: dict[str, Any] = {
    "embedding": lambda spec, shape: Embedding(shape[0], shape[1]),
    "position": lambda spec, shape: Position(shape[0], shape[1], spec["offset"]),
    "token_type": lambda spec, shape: TokenType(shape[0], shape[1], spec["separator"]),
}


class Encoder(NamedTuple):
    """How a public encoder of texts names its layers."""

    embeddings: str
    block: str
    query: str
    key: str
    value: str
    out: str
    first_norm: str
    inner: str
    outer: str
    last_norm: str
    pooler: str
    classifier: str


_BERT = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
         "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
ENCODERS = {
    "bert": Encoder("bert.embeddings", "bert.encoder.layer", *_BERT, "bert.pooler.dense", "classifier"),
    "roberta": Encoder("roberta.embeddings", "roberta.encoder.layer", *_BERT, "classifier.dense", "classifier.out_proj"),
    "distilbert": Encoder(
        "distilbert.embeddings", "distilbert.transformer.layer", "attention.q_lin", "attention.k_lin",
        "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
        "pre_classifier", "classifier"),
}


def _encoder_names(preset: str, layers: list[Layer]) -> dict[str, str]:
    """The public name of each layer with weights, by its path in the module."""
    known, names, block, norm = ENCODERS[preset], {}, -1, f"{ENCODERS[preset].embeddings}.LayerNorm"
    heads = [str(place) for place, layer in enumerate(layers) if layer["type"] == "dense"]
    for place, layer in enumerate(layers):
        if layer["type"] in TABLES:
            word = "word" if layer["type"] == "embedding" else layer["type"]
            names[str(place)] = f"{known.embeddings}.{word}_embeddings"
        elif layer["type"] == "layer_norm":
            names[str(place)] = norm
        elif layer["type"] == "residual":
            attends = layer["body"][0]["type"] == "attention"
            block += attends
            parts = {"0.query.0": known.query, "0.key.0": known.key, "0.value.0": known.value, "1": known.out} \
                if attends else {"0": known.inner, "2": known.outer}
            norm = f"{known.block}.{block}.{known.first_norm if attends else known.last_norm}"
            names.update({f"{place}.body.{path}": f"{known.block}.{block}.{part}" for path, part in parts.items()})
    names.update(zip(reversed(heads), (known.classifier, known.pooler)))
    return names


TOP_OF_RESNET = {"0": "conv1", "1": "bn1"}
BODY_OF_RESNET = {0: "conv1", 1: "bn1", 3: "conv2", 4: "bn2"}


def _weighted(spec: Layer, weight: torch.Tensor) -> nn.Module:
    """A layer with parameters. The weight's shape has the sizes of its input and output."""
    out = weight.shape[0]
    if spec["type"] == "group_norm":
        return nn.GroupNorm(spec["groups"], out, eps=spec["eps"])
    if spec["type"] == "layer_norm":
        return LayerNorm(out, eps=spec["eps"])
    into, bias = weight.shape[1], spec["bias"]
    if spec["type"] == "dense":
        return Dense(into, out, bias=bias)
    return nn.Conv2d(into, out, (weight.shape[2], weight.shape[3]), stride=spec["stride"],
                     padding=spec["padding"], dilation=spec["dilation"], bias=bias)


def _weightless(spec: Layer) -> nn.Module:
    kind, kernel = spec["type"], spec.get("kernel", 1)
    if isinstance(kernel, list):
        kernel = (kernel[0], kernel[1])
    if kind == "max_pool2d":
        return nn.MaxPool2d(kernel, stride=spec["stride"], padding=spec["padding"])
    if kind == "avg_pool2d":
        return nn.AvgPool2d(kernel, stride=spec["stride"])
    if kind == "gelu":
        return nn.GELU(approximate=spec["approximate"])
    if kind == "dropout":
        return nn.Dropout(spec["rate"])
    if kind == "replicate":
        return Replicate(spec["channels"])
    if kind == "crop":
        return Crop(spec["size"])
    if kind == "take":
        return Take(spec["position"])
    if kind == "scatter":
        return Scatter(spec["centre"])
    plain: dict[str, type[nn.Module]] = {
        "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "softplus": nn.Softplus,
        "flatten": nn.Flatten, "global_avg_pool": GlobalAveragePool,
    }
    if kind not in plain:
        raise Unsupported(f"use state_dict() or numpy(): PyTorch's module of a layer {kind!r} is not known here")
    return plain[kind]()


def module(file: ModelFile) -> nn.Module:
    """The network, with its weights, in evaluation mode."""
    arch = file.arch
    image = arch.get("input", {}).get("shape", [-1])
    # The file has height, width, channels; PyTorch has the channels first.
    shape = (image[2], image[0], image[1]) if len(image) == 3 else (-1,)
    builder = _Builder(state_dict(file), arch, file.inputs)
    network = Network(builder.layers(arch["layers"], "", ""), shape)
    network.load_state_dict(builder.loaded)
    return network.eval()
