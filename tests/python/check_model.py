"""Loads published models with only safetensors and numpy, computes predictions as their metadata
describes, and compares with the daemon's predict to 1e-5.

    check_model.py EPSILOND
"""

import json
import os
import sys

import numpy
from safetensors import safe_open

import digits
from daemon import Daemon

TOLERANCE = 1e-5
POINTS = {
    "format": "csv", "task": "regression", "header": True,
    "columns": [{"name": "x", "kind": "numeric", "range": [-2, 6]},
                {"name": "colour", "kind": "categorical",
                 "values": ["red", "green", "blue"]},
                {"name": "note", "kind": "ignored"},
                {"name": "y", "kind": "label", "range": [0, 50]}],
}


def points(salt):
    colours = ["red", "green", "blue"]
    rows = ["x,colour,note,y"]
    for i in range(400):
        x = ((i * 37 + salt) % 400) / 50 - 2
        rows.append(f"{x:.3f},{colours[i % 3]},n{i},{3 * x + 10 * (i % 3) + 6:.3f}")
    return {"data": "\n".join(rows).encode() + b"\n"}


def between(value, low, high):
    """Clips values to [low, high] and maps them to [-1, 1]."""
    return 2 * (min(max(value, low), high) - low) / (high - low) - 1


def encode(inputs, row):
    """The features of one row, as the metadata's inputs declare the columns."""
    if "scale" in inputs.get("features", {}):
        return [value / inputs["features"]["scale"] for value in row]
    features, cells = [], iter(row)
    for column in inputs["columns"]:
        if column["kind"] == "numeric":
            features.append(between(next(cells), *column["range"]))
        elif column["kind"] == "categorical":
            cell = next(cells)
            features += [float(value == cell) for value in column["values"]]
    return features


def forward(architecture, tensors, features):
    x = numpy.asarray(features, dtype=numpy.float64)
    for place, layer in enumerate(architecture["layers"]):
        if layer["type"] == "dense":
            x = x @ tensors[f"{place}.weight"].astype(numpy.float64).T
            if layer.get("bias", True):
                x = x + tensors[f"{place}.bias"]
        elif layer["type"] == "relu":
            x = numpy.maximum(x, 0)
        elif layer["type"] == "tanh":
            x = numpy.tanh(x)
        elif layer["type"] == "layer_norm":
            centred = x - x.mean(axis=1, keepdims=True)
            x = centred / numpy.sqrt((centred**2).mean(axis=1, keepdims=True) + layer["eps"])
            x = x * tensors[f"{place}.weight"] + tensors[f"{place}.bias"]
        else:
            raise ValueError(f"unknown layer {layer['type']}")
    return x


def outputs(architecture, inputs, z):
    loss = architecture["loss"]
    if loss == "softmax_cross_entropy":
        e = numpy.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    if loss == "logistic":
        yes = 1 / (1 + numpy.exp(-z))
        return numpy.hstack([1 - yes, yes])
    low, high = next(column["range"] for column in inputs["columns"]
                     if column["kind"] == "label")
    return low + (z + 1) / 2 * (high - low)


def check(daemon, name, job, rows):
    path = os.path.join(daemon.directory, "model.safetensors")
    with open(path, "wb") as file:
        file.write(daemon.get(f"/v1/models/{job['model']}/content"))
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}
    inputs, architecture = json.loads(metadata["inputs"]), json.loads(metadata["arch"])
    certificate = json.loads(metadata["certificate"])
    assert certificate["guarantee"]["epsilon"] <= 2, certificate
    ours = outputs(architecture, inputs,
                   forward(architecture, tensors, [encode(inputs, row) for row in rows]))
    answer = daemon.post(f"/v1/models/{job['model']}/predict", {"inputs": rows})["outputs"]
    theirs = numpy.array([o.get("probabilities", [o.get("value")]) for o in answer])
    worst = float(numpy.max(numpy.abs(ours - theirs) / numpy.maximum(1, numpy.abs(theirs))))
    print(f"  {name}: {len(rows)} rows, largest difference {worst:.1e}")
    return worst <= TOLERANCE


def main(binary):
    rows = [[float(cell) for cell in line.split(",")[:64]] for line in digits.lines(True)]
    with Daemon(binary) as daemon:
        daemon.register("digits", digits.SCHEMA, digits.files(False),
                        {"epsilon": 8, "delta": 1e-5})
        daemon.register("points", POINTS, points(1), {"epsilon": 8, "delta": 1e-5})
        spec = {"algorithm": {"name": "dpsgd"}, "privacy": {"epsilon": 2}}
        mlp = {"preset": "mlp", "hidden": [32, 16]}
        normed = {"layers": [{"type": "dense", "out": 32}, {"type": "layer_norm"},
                             {"type": "relu"}, {"type": "dense", "out": 10}]}
        right = True
        for name, dataset, model, sample in (
                ("digits, linear", "digits", {"preset": "linear"}, rows),
                ("digits, layer norm", "digits", normed, rows),
                ("digits, mlp relu", "digits", {**mlp, "activation": "relu"}, rows),
                ("points, mlp tanh", "points", {**mlp, "activation": "tanh"},
                 [[x / 4, c] for x in range(-10, 26) for c in ("red", "green", "blue")])):
            job, _ = daemon.run_job({**spec, "dataset": dataset, "model": model})
            right = check(daemon, name, job, sample) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
