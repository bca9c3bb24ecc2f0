#!/usr/bin/env python3
"""Compares GET /v1/job-schema with the daemon that answers it, on a dataset of every format: a body with
only its defaults is a job, with every algorithm and preset, and what the schema forbids is refused.

  check_job_schema.py http://127.0.0.1:PORT [resnets]

Finding out whether a residual network is float safe takes seconds, so these are tried only on request.
"""
import copy
import json
import sys

import jsonschema

from replay_openapi import FILES, Replay


def defaults(schema, algorithm=None):
    """The members that have a default and those given; also those that follow from the algorithm."""
    body = {name: copy.deepcopy(member["default"])
            for name, member in schema["properties"].items() if "default" in member}
    if algorithm is not None:
        body["algorithm"] = {"name": algorithm}
    for rule in schema["allOf"]:
        named = rule["if"]["properties"]["algorithm"]["properties"]["name"]["const"]
        if named != body["algorithm"]["name"]:
            continue
        for name, member in rule["then"]["properties"].items():
            if member is False:
                body.pop(name, None)
            else:
                body[name] = copy.deepcopy(member["default"])
    return body


def alternative_defaults(alternative):
    """A model of its required members and of every default."""
    return {name: copy.deepcopy(member.get("const", member.get("default")))
            for name, member in alternative["properties"].items()
            if "const" in member or "default" in member}


class Check:
    def __init__(self, base, resnets):
        self.replay = Replay(base)
        self.resnets = resnets
        self.failures = self.replay.failures
        self.accepted = self.refused = 0
        self.tried = set()

    def schema(self, dataset):
        status, schema = self.replay.call("get", "/v1/job-schema", query=f"?dataset={dataset}")
        if status != 200:
            sys.exit(f"no schema of {dataset}: {schema}")
        jsonschema.Draft202012Validator.check_schema(schema)
        return schema

    def accepts(self, schema, body, where, unless=()):
        """unless: codes of refusals that depend on this machine."""
        for error in jsonschema.Draft202012Validator(schema).iter_errors(body):
            self.failures.append(f"{where}: forbidden: {error.json_path}: {error.message[:200]}")
        status, answer = self.replay.call("post", "/v1/jobs:estimate", body)
        if status == 400 and answer["code"] in unless:
            print(f"{where}: {answer['code']}")
        elif status != 200:
            self.failures.append(f"{where}: {json.dumps(body)}: {answer}")
        elif answer["fits"] != "yes":
            self.failures.append(f"{where}: fits {answer['fits']}")
        self.accepted += 1

    def forbids(self, schema, body, where, submit=False):
        if jsonschema.Draft202012Validator(schema).is_valid(body):
            self.failures.append(f"{where}: allowed: {json.dumps(body)}")
        status, _ = self.replay.call("post", "/v1/jobs" if submit else "/v1/jobs:estimate", body)
        if status not in (400, 409):
            self.failures.append(f"{where}: {status}: {json.dumps(body)}")
        self.refused += 1

    def choices(self, dataset, schema):
        """Every algorithm, preset and loss that the schema names must be accepted, and no other."""
        self.accepts(schema, defaults(schema), f"{dataset}, defaults")
        named = [item["properties"]["name"]["const"]
                 for item in schema["properties"]["algorithm"]["oneOf"]]
        _, known = self.replay.call("get", "/v1/algorithms")
        for algorithm in known["algorithms"]:
            name = algorithm["name"]
            if name in named:
                self.accepts(schema, defaults(schema, name), f"{dataset}, {name}")
                continue
            body = {**defaults(schema), "algorithm": {"name": name}}
            if not algorithm["private"]:
                body.pop("privacy", None)
            self.forbids(schema, body, f"{dataset}, {name}")
        presets = set()
        for alternative in schema["properties"]["model"]["oneOf"]:
            model = alternative_defaults(alternative)
            if "preset" not in model:
                continue
            presets.add(model["preset"])
            if model["preset"].startswith("resnet") and (
                    not self.resnets or model["preset"] in self.tried):
                continue
            self.tried.add(model["preset"])
            self.accepts(schema, {**defaults(schema), "model": model},
                         f"{dataset}, {model['preset']}", ("not_float_safe", "job_too_large"))
        for preset in {"linear", "mlp", "cnn_mnist", "cnn_cifar", "resnet18_gn",
                       "resnet34_gn", "scatter", "bert", "roberta", "distilbert",
                       "char_lstm", "histograms"} - presets:
            self.forbids(schema, {**defaults(schema), "model": {"preset": preset}},
                         f"{dataset}, {preset}")
        losses = schema["$defs"]["loss"]["oneOf"][0]["enum"]
        for loss in ("softmax_cross_entropy", "logistic", "squared"):
            body = {**defaults(schema), "model": {"preset": "linear", "loss": loss}}
            if loss in losses:
                self.accepts(schema, body, f"{dataset}, {loss}")
            else:
                self.forbids(schema, body, f"{dataset}, {loss}")
        body = {**defaults(schema), "model": {"preset": "linear",
                                              "loss": {"huber": {"delta": 0.5}}}}
        if "squared" in losses:
            self.accepts(schema, body, f"{dataset}, huber")
        else:
            self.forbids(schema, body, f"{dataset}, huber")

    def layers(self, dataset, schema):
        """The schema of layers must match the parser: required members must be present, and no others."""
        body = defaults(schema)
        outputs = 1 if "logistic" in schema["$defs"]["loss"]["oneOf"][0]["enum"] else 10
        last = {"type": "dense", "out": outputs}
        body["model"] = {"layers": [{"type": "dense", "out": 4}, {"type": "relu"}, last]}
        self.accepts(schema, body, f"{dataset}, layers")
        for layer in ({"type": "dense"}, {"type": "dense", "out": 0}, {"type": "none"},
                      {"type": "dense", "out": 4, "kernel": 2}, {"type": "dropout", "rate": 1},
                      {"type": "conv2d", "out": 4, "kernel": 65}, {"type": "gelu", "approximate": "x"},
                      {"type": "residual", "body": [{"type": "dense", "out": 1.5}]}, {"out": 4}):
            body["model"] = {"layers": [layer, last]}
            self.forbids(schema, body, f"{dataset}, {layer}")

    def bounds(self, dataset, schema):
        """Values beyond the schema's bounds must be refused."""
        body = defaults(schema)
        members = schema["properties"]
        for change in ({"batch_size": members["batch_size"]["maximum"] + 1}, {"batch_size": 0},
                       {"epochs": 0}, {"epochs": 1, "steps": 1}, {"dataset": "nowhere-else!"},
                       {"seed": 1}, {"model": {}}, {"model": {"preset": "linear", "hidden": [2]}},
                       {"model": {"preset": "mlp", "activation": "softmax"}},
                       {"algorithm": {}}, {"algorithm": {"name": "dpsgd", "clip_norm": 0}},
                       {"optimizer": {"name": "sgd", "beta1": 0.5}},
                       {"optimizer": {"name": "adam", "beta1": 1}},
                       {"optimizer": {"name": "sgd", "learning_rate": 0}},
                       {"privacy": {}}, {"privacy": {"epsilon": 1, "noise_multiplier": 1}},
                       {"privacy": {"noise_multiplier": 1e-3}},
                       {"privacy": {"epsilon": 31, "delta": 1e-9}},
                       {"privacy": {"epsilon": 1, "accountant": "moments"}}):
            self.forbids(schema, {**body, **change}, f"{dataset}, {change}")
        ceiling = members["privacy"].get("then", {}).get("properties", {}).get("epsilon")
        if ceiling is None:
            self.forbids(schema, {**defaults(schema, "dpsgd"), "privacy": {"budget_fraction": 0.5}},
                         f"{dataset}, a share of nothing")
            return
        self.forbids(schema, {key: value for key, value in body.items() if key != "privacy"},
                     f"{dataset}, no privacy")
        beyond = min(ceiling["maximum"] * 1.01, 29.9)
        self.forbids(schema, {**body, "privacy": {"epsilon": beyond}},
                     f"{dataset}, epsilon {beyond}", submit=True)

    def dataset(self, body, files):
        dataset = body["id"]
        self.replay.call("post", "/v1/datasets", body)
        query = f"?dataset={dataset}"
        if self.replay.call("get", "/v1/job-schema", query=query)[0] != 409:
            self.failures.append(f"{dataset}: a schema before the import")
        for name, content in files.items():
            self.replay.call("put", "/v1/datasets/{id}/files/{name}", content, id=dataset, name=name)
        self.replay.call("post", "/v1/datasets/{id}:import", id=dataset)
        schema = self.schema(dataset)
        self.choices(dataset, schema)
        self.bounds(dataset, schema)
        if dataset == "mnist":
            self.layers(dataset, schema)


def what_is_left(check):
    """The maximum of epsilon must fall as the budget is spent."""
    def left():
        return check.schema("mnist")["properties"]["privacy"]["then"]["properties"]["epsilon"][
            "maximum"]
    before = left()
    body = {**defaults(check.schema("mnist")), "epochs": 1, "privacy": {"budget_fraction": 0.5}}
    status, job = check.replay.call("post", "/v1/jobs", body)
    if status != 201 or not 0 < left() < before:
        check.failures.append(f"{before} were left before the job, {left()} after {job}")


def refusals(check):
    for query, expected in (("", 400), ("?dataset=", 404), ("?dataset=nowhere", 404),
                            ("?dataset=mnist&dataset=mnist", 400), ("?datasets=mnist", 400)):
        status, answer = check.replay.call("get", "/v1/job-schema", query=query)
        if status != expected or answer["errors"][0]["parameter"] not in ("dataset", "datasets"):
            check.failures.append(f"{query}: {status} {answer}")
    check.replay.call("delete", "/v1/datasets/{id}", id="waves")
    if check.replay.call("get", "/v1/job-schema", query="?dataset=waves")[0] != 404:
        check.failures.append("a schema of what was deleted")


def main(base, *what):
    check = Check(base, "resnets" in what)
    for _, body in check.replay.examples("post", "/v1/datasets"):
        check.dataset(body, FILES[body["id"]])
    what_is_left(check)
    refusals(check)
    print(f"{check.accepted} bodies taken, {check.refused} refused")
    for failure in check.failures:
        print(failure, file=sys.stderr)
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
