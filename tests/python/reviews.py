"""Film reviews as raw texts: a csv file with a column of texts, and jobs that train a private head on a
frozen MiniLM. snippets.py has the same reviews as vectors that another program computed."""

import csv
import datetime
import io
import os
import statistics

import numpy

import snippets

LENGTH = 48  # few reviews have more tokens
ENCODER = {"preset": "bert", "blocks": 6, "width": 384, "heads": 12, "intermediate": 1536,
           "take": "mean", "fresh": "head"}
RUNS = 3


def table(rows):
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["review", "rating"])
    for _, rating, review in rows:
        writer.writerow([review, "good" if rating > 0 else "bad"])
    return text.getvalue().encode()


def npy(values):
    file = io.BytesIO()
    numpy.save(file, values)
    return file.getvalue()


def upload(daemon, path, query=""):
    with open(path, "rb") as file:
        return daemon.call("POST", f"/v1/files{query}", file.read(),
                           {"Content-Type": "application/octet-stream"}, timeout=600)["id"]


def register(daemon, archive, model, budget, acknowledge):
    """Uploads the encoder, and registers reviews and reviews-test. Returns the model of the jobs."""
    vocabulary = upload(daemon, os.path.join(model, "vocab.txt"), "?kind=tokenizer")
    weights = upload(daemon, os.path.join(model, "model.safetensors"))
    schema = {"format": "csv", "header": True, "task": "classification", "columns": [
        {"name": "review", "kind": "text", "length": LENGTH,
         "tokenizer": {"kind": "wordpiece", "vocabulary": vocabulary, "lower": True}},
        {"name": "rating", "kind": "label", "values": ["bad", "good"]}]}
    rows = snippets.rated(archive)
    daemon.register("reviews", schema, {"data": table(rows[snippets.TESTS:])}, budget, acknowledge)
    daemon.register("reviews-test", schema, {"data": table(rows[:snippets.TESTS])}, "public")
    return {**ENCODER, "weights": weights}


def job(model, epsilon):
    return {"dataset": "reviews", "evaluation": "reviews-test", "model": model, "features": "cached",
            "algorithm": {"name": "dpsgd", "clip_norm": 0.5}, "batch_size": 1024, "epochs": 20,
            "averaging": {"kind": "tail", "share": 0.5}, "privacy": {"epsilon": epsilon},
            "optimizer": {"name": "sgd", "learning_rate": 2, "momentum": 0.9}}


def head_size(daemon):
    """Returns the bytes of the file of the newest model."""
    return daemon.get("/v1/models?page_size=1")["models"][0]["size"]


def seconds(daemon, spec):
    """Returns how long the job ran, by its own clock of whole seconds."""
    done, _ = daemon.run_job(spec)
    start, end = (datetime.datetime.fromisoformat(done[name]) for name in ("start_time", "end_time"))
    return (end - start).total_seconds()


def ratio_to_vectors(daemon, model, budget, acknowledge):
    """Returns the time of a job on cached features over that of the same job on vectors in npy files, as the
    median of RUNS turns. The features were computed before; the vectors are made up."""
    count = daemon.get("/v1/datasets/reviews")["records"]
    drawn = numpy.random.default_rng(7).standard_normal((count, 384)).astype(numpy.float32)
    files = {"features": npy(drawn), "labels": npy((numpy.arange(count) % 2).astype(numpy.uint8))}
    daemon.register("vectors", snippets.SCHEMA, files, budget, acknowledge)
    texts = {**job(model, 1), "epochs": 2000, "privacy": {"noise_multiplier": 100}}
    del texts["evaluation"]
    vectors = {**texts, "dataset": "vectors", "model": {"preset": "linear"}}
    del vectors["features"]
    turns = [(seconds(daemon, texts), seconds(daemon, vectors)) for _ in range(RUNS)]
    return statistics.median(text / vector for text, vector in turns)
