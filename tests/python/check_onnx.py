"""Runs published models as ONNX in ONNX Runtime, and compares with the daemon's predict to 1e-5, for the
same rows; also runs onnx.checker with full checks on each file. The models have every type of layer and
every preset that the daemon offers.

    check_onnx.py EPSILOND
"""

import datetime
import hashlib
import io
import json
import sys
import time

import numpy
import onnx
import onnxruntime
import yaml

from daemon import Daemon

TOLERANCE = 1e-5
ROWS = 30
RANDOM = numpy.random.default_rng(2385)
COLUMNS = [{"name": "x", "kind": "numeric", "range": [-2, 6], "default": 1.5},
           {"name": "colour", "kind": "categorical", "values": ["red", "green", "blue"],
            "default": "blue"},
           {"name": "note", "kind": "ignored"},
           {"name": "when", "kind": "numeric", "range": [1600000000, 1600086400]},
           {"name": "wide", "kind": "numeric", "range": [-8e307, 8e307]},
           {"name": "size", "kind": "categorical", "values": ["1", "10"]},
           {"name": "lab", "kind": "numeric", "range": [0, 8], "missing": ["NA", "-9"], "if_missing": "indicator"},
           {"name": "sick", "kind": "boolean", "default": False, "if_missing": "indicator"},
           {"name": "born", "kind": "date", "format": "%d.%m.%Y", "range": ["1930-06-07", "2020-02-29"],
            "parts": ["quarter", "month", "weekday"], "if_missing": "indicator"},
           {"name": "seen", "kind": "date", "format": "%Y-%m-%d", "range": ["2000-01-01", "2024-12-31"],
            "parts": ["month"], "default": "2012-02-29"},
           {"name": "code", "kind": "hashed", "buckets": 7, "if_missing": "category"},
           {"name": "post", "kind": "hashed", "buckets": 3, "default": "E1"},
           {"name": "ward", "kind": "categorical", "values": ["a", "b"], "other": True, "missing": ["?"],
            "if_missing": "category"},
           {"name": "work", "kind": "categorical", "values": ["a", "b"], "other": True, "missing": ["?", "-"],
            "default": "b"}]
FEATURES = {"numeric", "categorical", "boolean", "date", "hashed"}


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def images(shape, count=64, classes=3):
    """Files of a dataset of random images, and rows of it as input of predict."""
    values = RANDOM.integers(0, 256, (count, *shape)).astype(numpy.uint8)
    labels = numpy.arange(count, dtype=numpy.int64) % classes
    schema = {"format": "npy", "task": "classification", "classes": classes,
              "features": {"shape": list(shape), "scale": 255}}
    return schema, {"features": npy(values), "labels": npy(labels)}, \
        values[:ROWS].reshape(ROWS, -1).astype(float).tolist()


def tokens(positions, vocabulary, count=64, classes=3):
    """A dataset of texts as ids, with -1 behind the last one, and rows of it."""
    ids = RANDOM.integers(0, vocabulary, (count, positions)).astype(numpy.float32)
    for i, row in enumerate(ids):
        row[1 + i % positions:] = -1
    labels = numpy.arange(count, dtype=numpy.int64) % classes
    schema = {"format": "npy", "task": "classification", "classes": classes, "features": {"shape": [positions], "scale": 1}}
    return schema, {"features": npy(ids), "labels": npy(labels)}, ids[:ROWS].astype(float).tolist()


def texts(length):
    """A dataset of texts that its tokenizer makes ids of their bytes, and rows of it."""
    lines = ["".join(chr(97 + (i * 7 + k * k) % 26) for k in range(i % 15)) for i in range(60)]
    schema = {"format": "csv", "task": "classification", "columns": [
        {"name": "text", "kind": "text", "length": length, "tokenizer": {"kind": "bytes"}},
        {"name": "y", "kind": "label", "values": ["a", "b", "c"]}]}
    data = "".join(f"{line},{'abc'[i % 3]}\n" for i, line in enumerate(lines))
    return schema, {"data": data.encode()}, [[line] for line in lines[:ROWS]]


def cells(empty):
    """Rows of COLUMNS; every third has empty cells, as None."""
    colours, sizes = ["red", "green", "blue"], ["1", "10"]
    rows = [[round(float(RANDOM.uniform(-3, 7)), 3), colours[i % 3],
             int(RANDOM.integers(1599990000, 1600090000)), float(RANDOM.uniform(-1.7, 1.7)) * 1e308,
             sizes[i % 2], -9 if i % 5 == 0 else i % 9, i % 2 == 0, day(i * 700).strftime("%d.%m.%Y"),
             day(i * 333).isoformat(), f"code {i % 11}", f"N{i % 5}", "abc?"[i % 4], "ab-x?"[i % 5]]
            for i in range(120)]
    for row in rows[::3] if empty else []:
        row[0] = row[1] = None
    for row in rows[1::3] if empty else []:
        row[5:] = [None] * len(row[5:])
    return rows


def day(count):
    """Days from before the first declared date to after the last."""
    return datetime.date(1920, 1, 30) + datetime.timedelta(days=count)


def table(label, answers):
    lines = [",".join(column["name"] for column in COLUMNS) + ",y"]
    for i, (x, colour, *more) in enumerate(cells(False)):
        texts = [repr(cell) if isinstance(cell, float) else str(cell) for cell in more]
        lines.append(f"{x},{colour},n{i},{','.join(texts)},{answers[i % len(answers)]}")
    task = {"task": "regression"} if "range" in label else \
        {"task": "classification", "classes": len(answers)}
    schema = {"format": "csv", "header": True, **task,
              "columns": COLUMNS + [{"name": "y", "kind": "label", **label}]}
    return schema, {"data": "\n".join(lines).encode() + b"\n"}, cells(True)[:ROWS]


def indexed(features):
    lines = [f"{1 if i % 2 else -1} " + " ".join(f"{j + 1}:{(i * 7 + j * 3) % 11 / 2 - 1}"
                                                for j in range(5)) for i in range(64)]
    schema = {"format": "libsvm", "task": "classification", "classes": 2, "labels": [-1, 1],
              "features": {"count": 5, **features}}
    return schema, {"data": "\n".join(lines).encode() + b"\n"}, \
        RANDOM.uniform(-2, 5, (ROWS, 5)).round(3).tolist()


DATASETS = {
    "colour": images((3, 12, 10)), "grey": images((1, 28, 28)), "small": images((3, 32, 32)),
    "vectors": images((12,)), "tokens": tokens(11, 9), "texts": texts(12),
    "region": table({"values": ["north", "south", "west"]}, ["north", "south", "west"]),
    "answer": table({"values": ["no", "yes"]}, ["no", "yes"]),
    "price": table({"range": [-10, 50]}, ["3.5", "-2", "49"]),
    "sparse": indexed({}), "ranged": indexed({"range": [-1, 3.5]}),
}


def layers(*names):
    return {"layers": [{"type": n} if isinstance(n, str) else n for n in names]}


def dense(out, **more):
    return {"type": "dense", "out": out, **more}


def conv(out, kernel, **more):
    return {"type": "conv2d", "out": out, "kernel": kernel, **more}


def residual(body, shortcut=()):
    branches = {"body": layers(*body)["layers"]}
    if shortcut:
        branches["shortcut"] = layers(*shortcut)["layers"]
    return {"type": "residual", **branches}


def attention(heads, *widths):
    branches = {name: [dense(width)] for name, width in zip(("query", "key", "value"), widths)}
    return {"type": "attention", "heads": heads, **branches}


PUT_BY_JOBS = "standardise"  # the layer of jobs that standardise
NORM = {"type": "group_norm", "groups": 2}
SMALL = {"width": 8, "heads": 2, "intermediate": 16}  # sizes of an encoder of texts
def adapted(targets):
    """Adapters of a model that was trained before; a great alpha, so that three steps move the answers."""
    return {"trainable": {"lora": {"rank": 2, "alpha": 100, "targets": targets}}}


MODELS = [
    ("vectors", {"preset": "linear"}),
    ("vectors", {"preset": "mlp", "hidden": [9, 8], "activation": "sigmoid"}),
    ("colour", {"preset": "linear"}),
    ("grey", {"preset": "cnn_mnist"}),
    ("small", {"preset": "cnn_cifar"}),
    ("small", {"preset": "resnet18_gn"}),
    ("small", {"preset": "resnet34_gn"}),
    ("small", {"preset": "scatter"}),
    ("region", {"preset": "mlp", "hidden": [7], "activation": "gelu_tanh"}),
    ("answer", {"preset": "linear"}),
    ("answer", {"preset": "linear", "loss": "softmax_cross_entropy"}),
    ("price", {"preset": "linear"}),
    ("price", {"preset": "mlp", "hidden": [7], "activation": "softplus",
               "loss": {"huber": {"delta": 0.5}}}),
    ("region", {"preset": "histograms", "pairs": [[0, 1], [2, 0]]}),
    ("answer", {"preset": "histograms"}),
    ("price", {"preset": "histograms", "pairs": [[1, 2]]}),
    ("vectors", layers({"type": "step_functions", "out": 3})),
    ("sparse", {"preset": "linear"}),
    ("ranged", {"preset": "mlp", "hidden": [6], "activation": "tanh"}),
    ("vectors", layers(dense(8), NORM, "relu", {"type": "dropout", "rate": 0.5}, dense(6),
                       "layer_norm", "gelu", {"type": "gelu", "approximate": "tanh"}, dense(3))),
    ("colour", layers(conv(4, 3), "relu", {"type": "max_pool2d", "kernel": 2}, "flatten", "tanh",
                      dense(3))),
    ("colour", layers(conv(4, [3, 2], stride=2, padding=3, dilation=2, bias=False), NORM, "softplus",
                      {"type": "avg_pool2d", "kernel": 2, "stride": 1}, dense(5), "sigmoid",
                      "layer_norm", {"type": "dropout", "rate": 0.3},
                      {"type": "max_pool2d", "kernel": 3, "stride": 2, "padding": 1},
                      "global_avg_pool", NORM | {"groups": 5}, dense(3))),
    ("colour", layers({"type": "crop", "size": 9}, conv(6, 7, padding=9, stride=3), "gelu",
                      residual([conv(6, 3, padding=1), NORM, "relu",
                                residual([conv(6, 3, padding=1)])]),
                      residual([conv(4, 1, stride=2)], [conv(4, 1, stride=2), NORM]),
                      "flatten", residual(["relu"]), dense(3))),
    ("colour", layers("layer_norm", conv(2, 3), dense(3), "relu", "global_avg_pool", dense(3))),
    ("small", layers({"type": "scatter", "centre": 0.45}, {"type": "group_norm", "groups": 27},
                     "flatten", dense(3))),
    ("grey", layers({"type": "crop", "size": 20}, "scatter", "global_avg_pool", dense(3))),
    ("grey", layers({"type": "replicate", "channels": 3}, conv(2, 5, stride=3), "relu", dense(4),
                    "flatten", dense(3))),
    ("grey", layers({"type": "crop", "size": 20}, "relu", conv(2, 5, stride=3), "flatten", dense(3))),
    ("grey", layers({"type": "group_norm", "groups": 1}, conv(2, 5, stride=3), "flatten", dense(3))),
    ("grey", layers(residual(["relu"], [conv(1, 3, padding=1)]), "flatten", dense(3))),
    ("tokens", layers({"type": "embedding", "vocabulary": 9, "out": 8},
                      {"type": "position", "positions": 14, "offset": 2},
                      {"type": "token_type", "types": 2, "separator": 4}, "layer_norm",
                      residual([attention(2, 8, 8, 8), dense(8)]), "layer_norm",
                      residual([dense(6), "gelu", dense(8)]), {"type": "take", "position": "first"},
                      dense(5), "tanh", dense(3)) | {"trainable": "head"}),
    ("tokens", layers({"type": "embedding", "vocabulary": 9, "out": 8}, attention(4, 12, 12, 12),
                      {"type": "token_type", "types": 1, "separator": 0},
                      {"type": "take", "position": "mean"}, dense(3)) | {"trainable": "head"}),
    ("tokens", layers({"type": "embedding", "vocabulary": 9, "out": 8},
                      {"type": "position", "positions": 12}, "tanh", dense(6),
                      {"type": "token_type", "types": 2, "separator": 4},
                      {"type": "take", "position": "last"}, dense(3))),
    ("answer", {"preset": "mlp", "hidden": [6], "embed": 4}),
    ("price", layers({"type": "embed_columns", "columns": ["code", "colour", "ward"], "out": 5}, dense(8),
                      "tanh", dense(1))),
    ("tokens", {"preset": "char_lstm"}),
    ("texts", {"preset": "char_lstm"}),
    ("tokens", {"preset": "bert", "blocks": 2, "vocabulary": 9, "positions": 11, "separator": 2, **SMALL}),
    ("texts", {"preset": "roberta", "blocks": 1, "vocabulary": 256, "positions": 14, **SMALL}),
    ("texts", {"preset": "distilbert", "blocks": 1, "vocabulary": 256, "positions": 12, **SMALL}),
    ("tokens", layers({"type": "embedding", "vocabulary": 9, "out": 8}, {"type": "lstm", "hidden": 7},
                      "layer_norm", {"type": "lstm", "hidden": 5},
                      {"type": "take", "position": "last"}, dense(3))),
    ("tokens", layers({"type": "embedding", "vocabulary": 9, "out": 4}, {"type": "lstm", "hidden": 6},
                      "flatten", dense(3))),
    ("answer", {"preset": "mlp", "hidden": [6]} | adapted(["0"])),
    ("texts", {"preset": "bert", "blocks": 1, "vocabulary": 256, "positions": 12, "separator": 2, **SMALL}
     | adapted(["*.query", "*.value", "*.dense"])),
]


def feeds(session, rows, columns):
    """Converts rows for predict to the graph's inputs."""
    types = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64}
    wanted = {given.name: given.type for given in session.get_inputs()}
    if "inputs" in wanted:
        return {"inputs": numpy.array(rows, dtype=types[wanted["inputs"]])}
    if "input_ids" in wanted:
        return bytes_of(rows, columns[0]["length"])
    columns = [column for column in columns if column["kind"] in FEATURES]
    numbers = [[number(cell, column) for cell, column in zip(row, columns)
                if column["kind"] in ("numeric", "boolean", "date")] for row in rows]
    words = [["" if cell is None else cell for cell, column in zip(row, columns)
              if column["kind"] == "categorical"] for row in rows]
    buckets = [[bucket(cell, column) for cell, column in zip(row, columns)
                if column["kind"] == "hashed"] for row in rows]
    return {"numbers": numpy.array(numbers, dtype=numpy.float64),
            "words": numpy.array(words, dtype=object),
            "buckets": numpy.array(buckets, dtype=numpy.int64)}


def bytes_of(rows, length):
    """The ids of texts whose tokens are bytes, as tokenizers give them."""
    ids = numpy.zeros((len(rows), length), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    for i, (text,) in enumerate(rows):
        values = list(text.encode())[:length]
        ids[i, :len(values)], mask[i, :len(values)] = values, 1
    return {"input_ids": ids, "attention_mask": mask}


def number(cell, column):
    if cell is None:
        return numpy.nan
    if column["kind"] == "date":
        return (datetime.datetime.strptime(cell, column["format"]) - datetime.datetime(1970, 1, 1)).days
    return cell


def bucket(cell, column):
    if cell is None and "default" not in column:
        return column["buckets"]
    text = f"{column['seed']}:{column['default'] if cell is None else cell}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % column["buckets"]


def differs(session, given, answer, classes):
    """The largest difference between the graph's outputs and those of predict."""
    outputs = dict(zip((out.name for out in session.get_outputs()), session.run(None, given)))
    if "value" in outputs:
        theirs = numpy.array([one["value"] for one in answer])
        return float(numpy.max(numpy.abs(outputs["value"] - theirs)
                               / numpy.maximum(1, numpy.abs(theirs))))
    theirs = numpy.array([one["probabilities"] for one in answer])
    sure = numpy.sort(theirs, axis=1)
    for row in numpy.flatnonzero(sure[:, -1] - sure[:, -2] > TOLERANCE):
        assert classes[outputs["class"][row]] == str(answer[row]["class"]), answer[row]
    assert outputs["probabilities"].shape == theirs.shape
    return float(numpy.max(numpy.abs(outputs["probabilities"] - theirs)))


def fetch(daemon, model):
    content = daemon.get(f"/v1/models/{model}/content?format=onnx")
    graph = onnx.load_from_string(content)
    onnx.checker.check_model(graph, full_check=True)
    return content, {entry.key: entry.value for entry in graph.metadata_props}


def columns_of(properties):
    """The columns as the model declares them, with the seeds that the daemon drew."""
    return json.loads(properties["inputs"]).get("columns")


def begun(daemon, name, model):
    """The model, which begins with another one if it has adapters."""
    if "lora" not in model.get("trainable", ""):
        return model
    body, _ = daemon.run_job(spec_of(name, {**model, "trainable": "all"}))
    return {**model, "weights": body["model"]}


def spec_of(name, model):
    return {"dataset": name, "evaluation": name, "model": model, "algorithm": {"name": "sgd"},
            "optimizer": {"name": "sgd", "learning_rate": 0.001}, "batch_size": 32, "steps": 3}


def check(daemon, name, model):
    _, _, rows = DATASETS[name]
    job, _ = daemon.run_job(spec_of(name, begun(daemon, name, model)))
    content, properties = fetch(daemon, job["model"])
    assert "epsilon" not in properties and properties["model"] == job["model"]
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    answer = daemon.post(f"/v1/models/{job['model']}/predict", {"inputs": rows})["outputs"]
    worst = differs(session, feeds(session, rows, columns_of(properties)), answer,
                    json.loads(properties.get("classes", "[]")))
    shown = model.get("preset") or " ".join(types_of(model["layers"]))
    print(f"  {name}, {shown}: largest difference {worst:.1e}", flush=True)
    return worst <= TOLERANCE


def types_of(list_of_layers):
    for layer in list_of_layers:
        yield layer["type"]
        for branch in ("body", "shortcut", "query", "key", "value"):
            yield from types_of(layer.get(branch, []))


def offered(daemon):
    """Every layer type and preset of openapi.yaml."""
    schemas = yaml.safe_load(daemon.get("/openapi.yaml"))["components"]["schemas"]
    types = set(schemas["Layer"]["discriminator"]["mapping"])
    presets = next(set(part["properties"]["preset"]["enum"]) for part in schemas.values()
                   if "enum" in part.get("properties", {}).get("preset", {}))
    return types, presets


def all_are_checked(daemon):
    types, presets = offered(daemon)
    ours = {PUT_BY_JOBS}.union(*(types_of(model.get("layers", [])) for _, model in MODELS))
    missing = (types - ours) | (presets - {model.get("preset") for _, model in MODELS})
    if missing:
        print("not checked: " + ", ".join(sorted(missing)))
    return not missing


def a_word_that_is_not_declared_fails(daemon, job):
    content, properties = fetch(daemon, job["model"])
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    row = cells(False)[0]
    row[1] = "mauve"
    given = feeds(session, [row], columns_of(properties))
    try:
        session.run(None, given)
    except Exception as error:  # of a class that ONNX Runtime does not export
        return "OneHotEncoder" in str(error)
    return False


def a_private_model_says_its_guarantee(daemon):
    schema, files, _ = table({"values": ["no", "yes"]}, ["no", "yes"])  # other records
    daemon.register("people", schema, files, {"epsilon": 8, "delta": 1e-5})
    job, _ = daemon.run_job({"dataset": "people", "model": {"preset": "linear"},
                             "algorithm": {"name": "dpsgd"}, "batch_size": 60, "epochs": 2,
                             "privacy": {"epsilon": 2}})
    _, properties = fetch(daemon, job["model"])
    card = daemon.get(f"/v1/models/{job['model']}")
    certificate = json.loads(properties["certificate"])
    assert certificate["guarantee"]["epsilon"] == float(properties["epsilon"]) <= 2
    assert certificate["guarantee"]["delta"] == float(properties["delta"]) == 1e-5
    assert certificate == card["certificate"] and properties["sha256"] == card["sha256"]
    assert properties["certificate_sha256"] == \
        hashlib.sha256(properties["certificate"].encode()).hexdigest()
    return a_word_that_is_not_declared_fails(daemon, job)


def ranges_that_were_released_are_in_the_graph(daemon):
    schema, files, rows = table({"values": ["no", "yes"]}, ["no", "yes"])  # other records
    daemon.register("released", schema, files, {"epsilon": 8, "delta": 1e-5})
    asked = daemon.post("/v1/statistics", {
        "dataset": "released", "privacy": {"epsilon": 4},
        "statistics": [{"kind": "quantiles", "column": column, "probabilities": [0.2, 0.8], "bins": 16}
                       for column in ("x", "when")]})
    while daemon.get(f"/v1/statistics/{asked['id']}")["state"] == "RUNNING":
        time.sleep(0.1)
    job, _ = daemon.run_job({"dataset": "released", "model": {"preset": "linear"},
                             "algorithm": {"name": "dpsgd"}, "batch_size": 60, "epochs": 20,
                             "privacy": {"epsilon": 2}, "scaling": {"statistics": asked["id"]}})
    _, properties = fetch(daemon, job["model"])
    declared = {column["name"]: column.get("range") for column in json.loads(properties["inputs"])["columns"]}
    for range in job["scaling"]["ranges"]:
        assert declared[range["column"]] == range["range"]
    assert declared["x"] != [-2, 6] and declared["wide"] == [-8e307, 8e307]
    return agrees(daemon, job, rows, "released ranges")


def agrees(daemon, job, rows, title):
    content, properties = fetch(daemon, job["model"])
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    answer = daemon.post(f"/v1/models/{job['model']}/predict", {"inputs": rows})["outputs"]
    worst = differs(session, feeds(session, rows, columns_of(properties)), answer,
                    json.loads(properties["classes"]))
    print(f"  {title}: largest difference {worst:.1e}", flush=True)
    return worst <= TOLERANCE


def means_and_deviations_are_in_the_graph(daemon):
    schema, files, rows = table({"values": ["no", "yes"]}, ["no", "yes"])  # other records
    daemon.register("standardised", schema, files, {"epsilon": 8, "delta": 1e-5})
    job, _ = daemon.run_job({"dataset": "standardised", "model": {"preset": "mlp", "hidden": [4]},
                             "algorithm": {"name": "dpsgd"}, "batch_size": 60, "epochs": 2,
                             "privacy": {"epsilon": 2}, "standardise": {"epsilon": 4}})
    return agrees(daemon, job, rows, "means and deviations")


def those_of_channels_are_in_the_graph(daemon):
    schema, files, rows = images((3, 32, 32), 96)
    daemon.register("channels", schema, files, {"epsilon": 8, "delta": 1e-5})
    pooled = layers({"type": "avg_pool2d", "kernel": 2, "stride": 2}, "flatten", dense(3))
    right = True
    for name, model in (("a pool", pooled), ("scattering", {"preset": "scatter"})):
        job, _ = daemon.run_job({"dataset": "channels", "model": model,
                                 "algorithm": {"name": "dpsgd"}, "batch_size": 48, "epochs": 2,
                                 "optimizer": {"name": "sgd", "learning_rate": 0.01},
                                 "privacy": {"epsilon": 1}, "standardise": {"epsilon": 2}})
        right = agrees(daemon, job, rows, f"means and deviations behind {name}") and right
    return right


def boosted_histograms_are_in_the_graph(daemon):
    schema, files, rows = table({"values": ["no", "yes"]}, ["yes", "no"])  # other records
    daemon.register("boosted", schema, files, {"epsilon": 8, "delta": 1e-5})
    job, _ = daemon.run_job({"dataset": "boosted", "model": {"preset": "histograms", "pairs": [[0, 2]]},
                             "algorithm": {"name": "boosted_histograms"}, "privacy": {"epsilon": 4}})
    return agrees(daemon, job, rows, "boosted histograms")


def main(binary):
    with Daemon(binary) as daemon:
        for name, (schema, files, _) in DATASETS.items():
            daemon.register(name, schema, files, "public")
        right = all_are_checked(daemon)
        for name, model in MODELS:
            right = check(daemon, name, model) and right
        right = a_private_model_says_its_guarantee(daemon) and right
        right = ranges_that_were_released_are_in_the_graph(daemon) and right
        right = means_and_deviations_are_in_the_graph(daemon) and right
        right = those_of_channels_are_in_the_graph(daemon) and right
        right = boosted_histograms_are_in_the_graph(daemon) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
