"""A published model as PyTorch has it: its tensors, and a module that does what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import Unsupported

try:
    import torch
    from torch import nn
except ImportError:
    raise Unsupported("this needs PyTorch: pip install 'epsilond[torch]'") from None

if TYPE_CHECKING:
    from ._model_file import ModelFile

Layer = dict[str, Any]


def state_dict(file: ModelFile) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values) for name, values in file.numpy().items()}


class Network(nn.Sequential):
    """The layers in their places. Takes records flat or in their shape."""

    def __init__(self, layers: list[nn.Module], shape: tuple[int, ...]) -> None:
        super().__init__(*layers)
        self.shape = shape

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = super().forward(x.reshape(len(x), *self.shape))
        return y


class Dense(nn.Linear):
    """Takes the whole of a record, or each pixel of an image that has as many channels."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() > 2 and x[0].numel() != self.in_features:
            return super().forward(x.movedim(1, -1)).movedim(-1, 1)
        return super().forward(x.flatten(1))


class Residual(nn.Module):
    """The sum of two branches; an empty shortcut is the input itself."""

    def __init__(self, body: list[nn.Module], shortcut: list[nn.Module]) -> None:
        super().__init__()
        self.body, self.shortcut = nn.Sequential(*body), nn.Sequential(*shortcut)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.body(x) + self.shortcut(x)
        return y


class Replicate(nn.Module):
    """One channel as several equal ones."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.expand(-1, self.channels, -1, -1)


class Crop(nn.Module):
    """The middle of an image."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        top, left = ((length - self.size) // 2 for length in x.shape[2:])
        return x[:, :, top : top + self.size, left : left + self.size]


class LayerNorm(nn.LayerNorm):
    """Over the channels of each pixel, or of a vector."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


class GlobalAveragePool(nn.Module):
    """The mean of each channel."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3))


class _Builder:
    """Makes the layers and remembers which tensor of the file each parameter is."""

    def __init__(self, tensors: dict[str, torch.Tensor], is_resnet: bool) -> None:
        self._tensors, self._is_resnet = tensors, is_resnet
        self._stage, self._block = 1, -1
        self.loaded: dict[str, torch.Tensor] = {}

    def layers(self, specs: list[Layer], path: str, name: str) -> list[nn.Module]:
        """path: the place in the module, `3.body.`; name: of it in the file."""
        return [self._layer(spec, f"{path}{place}", f"{name}{place}") for place, spec in enumerate(specs)]

    def _take(self, module: nn.Module, path: str, name: str) -> nn.Module:
        for parameter in dict(module.named_parameters()):
            self.loaded[f"{path}.{parameter}"] = self._tensors[f"{name}.{parameter}"]
        return module

    def _layer(self, spec: Layer, path: str, name: str) -> nn.Module:
        kind = spec["type"]
        if kind == "residual":
            return self._residual(spec, path, name)
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
    """A layer with parameters; what it takes and gives is read off the weight."""
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
    plain: dict[str, type[nn.Module]] = {
        "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "softplus": nn.Softplus,
        "flatten": nn.Flatten, "global_avg_pool": GlobalAveragePool,
    }
    if kind not in plain:
        raise Unsupported(f"PyTorch's module of a layer {kind!r} is not known here; state_dict() and "
                          "numpy() have its weights")
    return plain[kind]()


def module(file: ModelFile) -> nn.Module:
    """The network, with its weights, in evaluation mode."""
    arch = file.arch
    image = arch.get("input", {}).get("shape", [-1])
    # The file says height, width, channels; PyTorch has channels first.
    shape = (image[2], image[0], image[1]) if len(image) == 3 else (-1,)
    builder = _Builder(state_dict(file), str(arch.get("preset", "")).startswith("resnet"))
    network = Network(builder.layers(arch["layers"], "", ""), shape)
    network.load_state_dict(builder.loaded)
    return network.eval()
