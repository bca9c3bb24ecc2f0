"""Converts a published model to PyTorch: its tensors, and a module that computes the same output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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
        y: torch.Tensor = super().forward(x.reshape(len(x), *self.shape))
        return y


class Dense(nn.Linear):
    """Applies to a whole record, or to each pixel of an image if its channels are the layer's inputs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() > 2 and x[0].numel() != self.in_features:
            return super().forward(x.movedim(1, -1)).movedim(-1, 1)
        return super().forward(x.flatten(1))


class Residual(nn.Module):
    """The sum of two branches; an empty shortcut returns its input."""

    def __init__(self, body: list[nn.Module], shortcut: list[nn.Module]) -> None:
        super().__init__()
        self.body, self.shortcut = nn.Sequential(*body), nn.Sequential(*shortcut)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.body(x) + self.shortcut(x)
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

    def __init__(self, tensors: dict[str, torch.Tensor], is_resnet: bool) -> None:
        self._tensors, self._is_resnet = tensors, is_resnet
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
        kind = spec["type"]
        if kind == "residual":
            return self._residual(spec, path, name)
        if kind == "standardise":
            return self._take(Standardise(len(self._tensors[f"{name}.weight"])), path, name)
        if kind in ("dense", "conv2d", "group_norm", "layer_norm"):
            if self._is_resnet:
                name = TOP_OF_RESNET.get(name, name if "." in name else "fc")
            return self._take(_weighted(spec, self._tensors[f"{name}.weight"]), path, name)
        return _weightless(spec)

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
    builder = _Builder(state_dict(file), str(arch.get("preset", "")).startswith("resnet"))
    network = Network(builder.layers(arch["layers"], "", ""), shape)
    network.load_state_dict(builder.loaded)
    return network.eval()
