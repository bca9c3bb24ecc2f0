"""Models: compares the service's predictions with those computed here from the weights by numpy, by
PyTorch and by scikit-learn; also tests the file and damaged files."""

import datetime
import io
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import epsilond

import kit

TOLERANCE = 1e-5  # between float32 in the service and float64 here
DENSE = [{"type": "dense", "out": 12}, {"type": "sigmoid"}, {"type": "dropout", "rate": 0.2},
         {"type": "dense", "out": 9, "bias": False}, {"type": "softplus"}, {"type": "dense", "out": 10}]
PEOPLE = {
    "format": "csv", "header": True,
    "columns": [
        {"name": "age", "kind": "numeric", "range": [18, 90], "default": 40},
        {"name": "note", "kind": "ignored"},
        {"name": "work", "kind": "categorical", "values": ["farm", "shop", "sea"], "default": "shop"},
        {"name": "pay", "kind": "label", "range": [0, 100]},
    ],
}
WORK = ["farm", "shop", "sea"]


def people():
    draw = random.Random(5)
    rows = [(draw.randint(10, 99), draw.randrange(3)) for _ in range(500)]
    lines = [f"{age},x,{WORK[work]},{age / 2 + 10 * work:.1f}" for age, work in rows]
    return ("age,note,work,pay\n" + "\n".join(lines) + "\n").encode()


STAYS = {
    "format": "csv", "header": False, "missing": ["?", "-9"],
    "columns": [
        {"name": "day", "kind": "date", "format": "%d.%m.%Y", "range": ["2000-01-01", "2023-12-31"],
         "parts": ["month", "quarter", "weekday"], "if_missing": "indicator"},
        {"name": "ill", "kind": "boolean", "default": False, "if_missing": "indicator"},
        {"name": "code", "kind": "hashed", "buckets": 5, "default": "E1"},
        {"name": "lab", "kind": "numeric", "range": [0, 8], "if_missing": "indicator"},
        {"name": "ward", "kind": "categorical", "values": ["a", "b"], "other": True, "if_missing": "category"},
        {"name": "cost", "kind": "label", "range": [0, 100]},
    ],
}


def stays():
    lines = [f"{1 + i % 28}.{1 + i % 12}.{2000 + i % 24},{'yn'[i % 2]},E{i % 4},{i % 9},{'abc?'[i % 4]},{i % 97}"
             for i in range(300)]
    return "\n".join(lines + ["?,?,?,-9.0,?,5", ""]).encode()


def trained(dataset, model, **more):
    told = {"epsilon": 0.2, "epochs": 1, **more}
    return kit.client().train(dataset, model, **told).wait().model


class Frame:
    """The part of the interface of a pandas frame that the client uses."""

    def __init__(self, **columns):
        self.columns = list(columns)
        self._cells = columns

    def __getitem__(self, name):
        return self._cells[name]


class Predicting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows, cls.classes = kit.digits_rows()
        cls.model = trained("digits", "linear", epsilon=3, epochs=30, evaluation="digits-test")

    def test_the_service_predicts_classes_and_probabilities(self):
        found = self.model.predict(self.rows)
        right = sum(a == b for a, b in zip(found, self.classes)) / len(found)
        job = kit.client().jobs[self.model.certificate["job"]]
        self.assertAlmostEqual(right, job.data["metrics"]["evaluation"]["accuracy"])
        shares = self.model.predict_proba(self.rows[:3])
        self.assertEqual([len(share) for share in shares], [10] * 3)
        self.assertAlmostEqual(sum(shares[0]), 1)

    def test_many_rows_are_asked_in_parts(self):
        rows = [self.rows[place % 50] for place in range(20_050)]
        self.assertEqual(self.model.predict(rows), self.model.predict(rows[:50]) * 401)

    def test_rows_that_cannot_be_read_are_refused_with_their_place(self):
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            self.model.predict([self.rows[0], self.rows[1][:5]])
        self.assertEqual(caught.exception.pointer, "/inputs/1")
        for rows in ([1, 2], "text", ["text"]):
            with self.subTest(rows), self.assertRaisesRegex(ValueError, "list of records"):
                self.model.predict(rows)

    def test_rows_without_an_answer_are_named(self):
        """A model whose steps were too large has parameters, but no finite output."""
        layers = [{"type": "dense", "out": 64}, {"type": "relu"}] * 8 + [{"type": "dense", "out": 10}]
        model = trained("digits", {"layers": layers}, epsilon=0.05,
                        optimizer={"name": "sgd", "learning_rate": 1e6})
        with self.assertRaises(epsilond.NoAnswer) as caught:
            model.predict(self.rows[:3])
        self.assertEqual(caught.exception.rows, [0, 1, 2])
        self.assertIn("row 0, 1, 2", str(caught.exception))
        with self.assertRaises(epsilond.NoAnswer):
            model.predict_proba(self.rows[:1])

    def test_the_file_of_onnx_names_the_model_and_is_compared_with_its_digest(self):
        content = self.model.onnx()
        for word in (self.model.id, self.model.data["sha256"], "certificate_sha256", "probabilities"):
            self.assertIn(word.encode(), content)
        self.assertEqual(self.model.onnx(), content)

    @kit.lacks("numpy")
    def test_columns_of_a_frame_are_taken_by_their_names(self):
        kit.client().datasets.register("people", people(), task="regression", public=True, **PEOPLE)
        model = trained("people", "linear", algorithm="sgd", epsilon=None, epochs=5)
        frame = Frame(work=["sea", None, "farm"], extra=[1, 1, 1], age=[20.0, 30.0, float("nan")])
        rows = [[20, "sea"], [30, "shop"], [40, "farm"]]
        self.assertEqual(model.predict(frame), model.predict(rows))
        local = model.as_sklearn()
        for there, here in zip(model.predict(rows), local.predict(frame)):
            self.assertAlmostEqual(there, here, delta=100 * TOLERANCE)
        self.assertGreater(local.score(rows, model.predict(rows)), 1 - TOLERANCE)
        with self.assertRaisesRegex(ValueError, "^add the columns.*age"):
            model.predict(Frame(work=["sea"]))
        for bad, told in (([[20, "moon"]], "row 0: column 'work' has no value 'moon'"),
                          ([["x", "sea"]], "x"), ([[20]], "row 0 has 1 cells, must have 2")):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, told):
                local.predict(bad)
        with self.assertRaisesRegex(epsilond.Unsupported, "^use predict.*regression has no probabilities"):
            local.predict_proba(rows)

    @kit.lacks("numpy")
    def test_a_file_of_rows_becomes_a_file_of_the_same_predictions(self):
        client = kit.client()
        client.datasets.register("rows-of-files", people(), task="regression", public=True, **PEOPLE)
        model = client.train("rows-of-files", model="linear", algorithm="sgd", batch_size=100, steps=5).wait().model
        rows = [[age % 90, WORK[age % 3]] for age in range(20_000)]
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "in.csv"), pathlib.Path(folder, "out.csv")
            source.write_text("work,age\n" + "".join(f"{work},{age}\n" for age, work in rows))
            model.predict_file(source, target)
            lines = target.read_text().splitlines()
            self.assertEqual(lines[0], "value")
            self.assertEqual([float(line) for line in lines[1:]], model.predict(rows))
            source.write_text("work,age\nfarm,1\nfarm,old\n")
            target.write_text("earlier")
            with self.assertRaisesRegex(epsilond.InvalidArgument, "line 3, column 2"):
                model.predict_file(source, target)
            self.assertEqual(target.read_text(), "earlier")
            self.assertEqual(sorted(os.listdir(folder)), ["in.csv", "out.csv"])
            with self.assertRaises(FileNotFoundError):
                model.predict_file(source, pathlib.Path(folder, "nowhere", "out.csv"))

    @kit.lacks("numpy")
    def test_every_kind_of_column_is_encoded_as_by_the_service(self):
        kit.client().datasets.register("stays", stays(), task="regression", public=True, **STAYS)
        model = trained("stays", "linear", algorithm="sgd", epsilon=None, epochs=5)
        local = model.as_sklearn()
        for row in (["01.02.2021", True, "E1", 3, "a"], ["29.2.2024", False, "N7", -9, "zebra"],
                    [None, None, None, None, None], ["31.12.1999", True, "E2", 99, "?"]):
            with self.subTest(row):
                self.assertAlmostEqual(model.predict([row])[0], local.predict([row])[0], delta=100 * TOLERANCE)
        days = Frame(day=[datetime.date(2021, 2, 1)], ill=[True], code=["E1"], lab=[3], ward=["a"])
        self.assertAlmostEqual(local.predict(days)[0], model.predict([["01.02.2021", True, "E1", 3, "a"]])[0],
                               delta=100 * TOLERANCE)
        for bad in (["2021-02-01", True, "E1", 3, "a"], ["01.02.2021", "perhaps", "E1", 3, "a"]):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, "^give (date|boolean) cells in the column"):
                local.predict([bad])

    @kit.lacks("numpy")
    def test_local_predictions_are_those_of_the_service(self):
        specs = ["linear", {"preset": "mlp", "hidden": [20, 8], "activation": "tanh"},
                 {"preset": "mlp", "hidden": [16], "activation": "gelu"},
                 {"preset": "mlp", "hidden": [16], "activation": "gelu_tanh"},
                 {"layers": DENSE}]
        for spec in specs:
            with self.subTest(spec):
                model = trained("digits", spec)
                local = model.as_sklearn()
                there, here = model.predict_proba(self.rows), local.predict_proba(self.rows)
                self.assertLess(abs(here - there).max(), TOLERANCE)
                self.assertEqual(local.n_features_in_, 64)

    @kit.lacks("numpy")
    def test_a_model_of_released_ranges_predicts_by_them(self):
        client = kit.client()
        asked = client.statistics("digits", [{"kind": "quantiles", "column": "cell10", "bins": 16,
                                              "probabilities": [0.1, 0.9]}], epsilon=0.3).wait()
        model = trained("digits", "linear", scaling=asked)
        scaling = model.certificate["scaling"]
        self.assertEqual(scaling, client.jobs[model.certificate["job"]].data["scaling"])
        self.assertEqual(scaling["statistics"], asked.id)
        self.assertEqual(scaling["reserve"], asked.guarantee["reserve"])
        self.assertNotEqual(scaling["ranges"][0]["range"], [0, 16])
        there, here = model.predict_proba(self.rows), model.as_sklearn().predict_proba(self.rows)
        self.assertLess(abs(here - there).max(), TOLERANCE)

    @kit.lacks("numpy")
    def test_a_predictor_scores_and_knows_its_classes(self):
        local = self.model.as_sklearn()
        self.assertEqual(local.classes_.tolist(), [str(digit) for digit in range(10)])
        self.assertEqual(local.predict(self.rows).tolist(), self.model.predict(self.rows))
        job = kit.client().jobs[self.model.certificate["job"]]
        self.assertAlmostEqual(local.score(self.rows, self.classes),
                               job.data["metrics"]["evaluation"]["accuracy"])
        with self.assertRaisesRegex(ValueError, "^give classes.*nothing in y is one of the classes"):
            local.score(self.rows, [int(digit) for digit in self.classes])
        with self.assertRaisesRegex(ValueError, "^give one y for each row"):
            local.score(self.rows, self.classes[:5])
        self.assertFalse(hasattr(local, "fit"))

    @kit.lacks("numpy")
    def test_two_classes_have_one_output_and_labels_are_numbers(self):
        lines = b"".join(b"%d 1:0.5 3:%.4f\n" % ((-1) ** place, place / 300) for place in range(300))
        kit.client().datasets.register(
            "signs", lines, format="libsvm", public=True, classes=2, labels=[-1, 1],
            features={"count": 4, "range": [0, 1]})
        model = trained("signs", "linear", algorithm="sgd", epsilon=None)
        rows = [[0, 1, 0.2, 3], [1, 0, 0.9, 0]]
        local = model.as_sklearn()
        self.assertEqual(local.classes_.tolist(), [-1, 1])
        self.assertEqual(local.predict(rows).tolist(), model.predict(rows))
        self.assertLess(abs(local.predict_proba(rows) - model.predict_proba(rows)).max(), TOLERANCE)

    @kit.lacks("numpy", "sklearn")
    def test_scikit_learn_says_the_same_of_these_weights(self):
        import numpy
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import accuracy_score, log_loss

        file, local = self.model.file(), self.model.as_sklearn()
        theirs = LogisticRegression()
        theirs.classes_ = numpy.array(local.classes_)
        theirs.coef_, theirs.intercept_ = self.model.numpy()["0.weight"], self.model.numpy()["0.bias"]
        encoded = file.encode(self.rows)
        self.assertLess(abs(theirs.predict_proba(encoded) - local.predict_proba(self.rows)).max(),
                        TOLERANCE)
        self.assertEqual(accuracy_score(self.classes, local.predict(self.rows)),
                         local.score(self.rows, self.classes))
        self.assertLess(log_loss(self.classes, local.predict_proba(self.rows), labels=local.classes_), 2)


class Images(unittest.TestCase):
    """Models with convolutions, on images of noise: only the agreement matters."""

    @classmethod
    @kit.lacks("numpy")
    def setUpClass(cls):
        import numpy

        draw = numpy.random.default_rng(3)
        cls.rows = {}
        for id, shape in (("grey", (1, 28, 28)), ("colour", (3, 32, 32))):
            images = draw.integers(0, 255, (256, *shape), dtype="u1")
            files = {}
            for name, values in (("features", images), ("labels", draw.integers(0, 3, 256, dtype="u1"))):
                content = io.BytesIO()
                numpy.save(content, values)
                files[name] = content.getvalue()
            kit.client().datasets.register(id, files, format="npy", public=True, classes=3,
                                           features={"shape": list(shape), "scale": 255})
            cls.rows[id] = images[:6]

    def compare(self, id, spec):
        import torch

        model = trained(id, spec, epsilon=None, algorithm="sgd", epochs=None, steps=2)
        module, encoded = model.torch(), torch.tensor(model.file().encode(self.rows[id]), dtype=torch.float32)
        with torch.no_grad():
            here = torch.softmax(module(encoded), 1).numpy()
        self.assertLess(abs(here - model.predict_proba(self.rows[id])).max(), TOLERANCE)
        self.assertFalse(module.training)
        return model, module

    @kit.lacks("numpy", "torch")
    def test_torch_computes_what_the_service_does(self):
        mixed = {"input": {"shape": [32, 32, 3]}, "layers": [
            {"type": "conv2d", "out": 4, "kernel": [3, 2], "dilation": 2}, {"type": "dense", "out": 6},
            {"type": "residual", "body": [{"type": "conv2d", "out": 6, "kernel": 3, "padding": 1},
                                          {"type": "group_norm", "groups": 3}, {"type": "gelu"}],
             "shortcut": [{"type": "dense", "out": 6}, {"type": "softplus"}]},
            {"type": "layer_norm"},
            {"type": "avg_pool2d", "kernel": 2}, {"type": "max_pool2d", "kernel": 3, "padding": 1},
            {"type": "sigmoid"}, {"type": "dropout", "rate": 0.5}, {"type": "global_avg_pool"},
            {"type": "tanh"}, {"type": "dense", "out": 3}]}
        maps = {"layers": [{"type": "scatter", "centre": 0.45}, {"type": "group_norm", "groups": 9},
                           {"type": "flatten"}, {"type": "dense", "out": 3}]}
        for id, spec in (("grey", "linear"), ("grey", "cnn_mnist"), ("colour", "cnn_cifar"),
                         ("colour", mixed), ("grey", maps), ("colour", maps)):
            with self.subTest(spec):
                model, module = self.compare(id, spec)
                self.assertEqual(set(module.state_dict()), set(model.state_dict()))

    @kit.lacks("numpy", "torch")
    def test_a_resnet_has_the_names_of_torchvision_and_still_runs(self):
        model, _ = self.compare("colour", "resnet18_gn")
        self.assertIn("layer2.0.downsample.0.weight", model.state_dict())

    @kit.lacks("numpy")
    def test_a_predictor_says_what_it_cannot_and_what_can(self):
        model = trained("grey", "cnn_mnist", epsilon=None, algorithm="sgd", epochs=None, steps=1)
        with self.assertRaisesRegex(epsilond.Unsupported, r"^use the model's predict\(\).*torch.*layer 0 is 'replicate'"):
            model.as_sklearn()

    @kit.lacks("numpy")
    def test_a_predictor_of_images_takes_them_flat_or_in_their_shape(self):
        model = trained("grey", "linear", epsilon=None, algorithm="sgd", epochs=None, steps=1)
        images, local = self.rows["grey"], model.as_sklearn()
        self.assertEqual(local.predict(images).tolist(), model.predict(images))
        self.assertEqual(local.predict(images.reshape(6, -1)).tolist(), model.predict(images))
        with self.assertRaisesRegex(ValueError, "has 5 values, must have 784"):
            local.predict([[1] * 5])
        with self.assertRaisesRegex(ValueError, "not a finite"):
            local.predict([[float("inf")] * 784])


class Texts(unittest.TestCase):
    """Models of texts as their bytes, and of columns of words, on random records."""

    @classmethod
    @kit.lacks("numpy")
    def setUpClass(cls):
        lines = ["".join(chr(97 + (i * 7 + k * k) % 26) for k in range(i % 9)) for i in range(60)]
        data = "".join(f"{line},{'abc'[i % 3]}\n" for i, line in enumerate(lines))
        label = {"name": "y", "kind": "label", "values": ["a", "b", "c"]}
        kit.client().datasets.register(
            "letters", data.encode(), format="csv", public=True, columns=[
                {"name": "text", "kind": "text", "length": 8, "tokenizer": {"kind": "bytes"}}, label])
        words = "".join(f"{i % 7},{'rgb?'[i % 4]},{2000 + i % 20}-01-0{1 + i % 9},c{i % 11},{'abc'[i % 3]}\n"
                        for i in range(90))
        kit.client().datasets.register(
            "words", words.encode(), format="csv", public=True, columns=[
                {"name": "x", "kind": "numeric", "range": [0, 9]},
                {"name": "colour", "kind": "categorical", "values": ["r", "g"], "other": True, "missing": ["?"],
                 "if_missing": "category"},
                {"name": "day", "kind": "date", "format": "%Y-%m-%d", "range": ["2000-01-01", "2030-01-01"],
                 "parts": ["month"]},
                {"name": "code", "kind": "hashed", "buckets": 5}, label])
        cls.rows = {"letters": [[line] for line in lines[:20]],
                    "words": [[3, "r", "2005-02-03", "c1"], [0, "?", "2001-12-30", "c5"], [9, "b", "2011-07-07", "c7"]]}

    def compare(self, id, spec):
        import torch

        model = trained(id, spec, epsilon=None, algorithm="sgd", epochs=None, steps=2)
        module = model.torch()
        encoded = torch.tensor(model.file().encode(self.rows[id]), dtype=torch.float32)
        with torch.no_grad():
            here = torch.softmax(module(encoded), 1).numpy()
        self.assertLess(abs(here - model.predict_proba(self.rows[id])).max(), TOLERANCE)
        return model, module

    @kit.lacks("numpy", "torch")
    def test_torch_reads_texts_as_the_service_does(self):
        def dense(out):
            return {"type": "dense", "out": out}

        table = {"type": "embedding", "vocabulary": 110, "out": 8}
        attention = {"type": "attention", "heads": 2, **{part: [dense(8)] for part in ("query", "key", "value")}}
        first = [table, {"type": "position", "positions": 12, "offset": 2},
                 {"type": "token_type", "types": 2, "separator": 104}, {"type": "layer_norm"},
                 {"type": "residual", "body": [attention, dense(8)]}]
        for layers in ([*first, {"type": "take", "position": "first"}], [*first, {"type": "take", "position": "mean"}],
                       [table, {"type": "lstm", "hidden": 5}, {"type": "lstm", "hidden": 6},
                        {"type": "take", "position": "last"}],
                       [table, {"type": "token_type", "types": 1, "separator": 0}, {"type": "flatten"}]):
            layers[0] = {**layers[0], "vocabulary": 256}
            with self.subTest(layers):
                model, module = self.compare("letters", {"layers": [*layers, dense(3)]})
                self.assertEqual(set(module.state_dict()), set(model.state_dict()))

    @kit.lacks("numpy", "torch")
    def test_torch_runs_encoders_of_each_family(self):
        sizes = {"blocks": 2, "width": 8, "heads": 2, "intermediate": 12, "vocabulary": 256, "positions": 14}
        for spec in ("char_lstm", {"preset": "bert", "separator": 104, **sizes}, {"preset": "roberta", **sizes},
                     {"preset": "distilbert", **sizes}, {"preset": "bert", "take": "mean", **sizes}):
            with self.subTest(spec):
                self.compare("letters", spec)

    @kit.lacks("numpy", "torch")
    def test_torch_runs_adapters(self):
        sizes = {"blocks": 1, "width": 8, "heads": 2, "intermediate": 12, "vocabulary": 256, "positions": 14}
        for id, spec, targets in (("letters", {"preset": "bert", "separator": 104, **sizes}, ["*.query", "*.dense"]),
                                  ("words", {"preset": "mlp", "hidden": [4]}, ["0"])):
            with self.subTest(spec):
                lora = {"rank": 2, "alpha": 100, "targets": targets}
                body = trained(id, {**spec, "trainable": "all"}, epsilon=None, algorithm="sgd", epochs=None, steps=2)
                model, module = self.compare(id, {**spec, "weights": body.id, "trainable": {"lora": lora}})
                self.assertTrue(any(name.endswith(".lora_B.weight") for name in module.state_dict()))
                if id == "words":
                    here = model.as_sklearn().predict_proba(self.rows[id])
                    self.assertLess(abs(here - model.predict_proba(self.rows[id])).max(), TOLERANCE)

    @kit.lacks("numpy", "torch")
    def test_torch_embeds_columns(self):
        for spec in ({"preset": "mlp", "hidden": [4], "embed": 3},
                     {"layers": [{"type": "embed_columns", "columns": ["code"], "out": 2}, {"type": "dense", "out": 3}]}):
            with self.subTest(spec):
                self.compare("words", spec)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = trained("digits", "linear")
        cls.content = cls.model.file().content

    def test_a_saved_file_needs_no_service(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.safetensors")
            self.model.save(path)
            file = epsilond.load(path)
        self.assertEqual(file.certificate, self.model.certificate)
        self.assertIn(self.model.id, repr(file))
        self.assertRegex(repr(self.model), r"by dpsgd on digits: epsilon 0\.2 at delta 1e-05 \(zero_out\)")

    @kit.lacks("numpy", "safetensors")
    def test_the_reader_agrees_with_the_reference(self):
        from safetensors.numpy import load

        ours, theirs = self.model.numpy(), load(self.content)
        self.assertEqual(set(ours), set(theirs))
        for name in theirs:
            self.assertEqual(ours[name].tobytes(), theirs[name].tobytes())
            self.assertEqual(ours[name].shape, theirs[name].shape)
            ours[name][:] = 0  # the reader gets a copy and may change it

    def test_what_is_not_the_file_that_was_published_is_refused(self):
        card = dict(self.model.data)
        answers = {"content": (200, {}, self.content[:-4] + b"\0\0\0\1"),
                   self.model.id: (200, {"Content-Type": "application/json"}, json.dumps(card).encode())}
        with kit.Fake(lambda request: answers[request.path.rpartition("/")[2]]) as fake, \
                self.assertRaisesRegex(epsilond.ModelFileError, "not the file that was published"):
            epsilond.Client(fake.url).models[self.model.id].file()

    def changed(self, change):
        """The file after a change of its header."""
        (size,) = struct.unpack_from("<Q", self.content)
        header = json.loads(self.content[8 : 8 + size])
        text = change(header)
        text = json.dumps(header).encode() if text is None else text
        return struct.pack("<Q", len(text)) + text + self.content[8 + size :]

    def test_damaged_files_are_refused(self):
        def tensor(**members):
            return lambda header: header["0.bias"].update(members)

        def drop(header):
            del header["0.bias"]

        cases = {
            "empty": b"", "short": self.content[:7], "cut": self.content[:-1],
            "longer": self.content + b"\0", "no header": struct.pack("<Q", 1 << 40) + b"{}",
            "huge header": b"\xff" * 8 + self.content[8:], "list": struct.pack("<Q", 2) + b"[]",
            "not json": self.changed(lambda header: b"{'a'}"),
            "deep": self.changed(lambda header: b'{"a":' + b"[" * 100_000),
            "twins": self.changed(lambda header: b'{"a": 1, "a": 2}'),
            "not utf-8": self.changed(lambda header: b'{"\xff": 1}'),
            "no metadata": self.changed(lambda header: header.pop("__metadata__") and None),
            "another format": self.changed(lambda header: header["__metadata__"].update(format="pt")),
            "no inputs": self.changed(lambda header: header["__metadata__"].pop("inputs") and None),
            "arch of no json": self.changed(lambda header: header["__metadata__"].update(arch="{")),
            "arch of a number": self.changed(lambda header: header["__metadata__"].update(arch=5)),
            "a gap": self.changed(drop), "another type": self.changed(tensor(dtype="F64")),
            "another shape": self.changed(tensor(shape=[11])), "no shape": self.changed(tensor(shape=None)),
            "negative": self.changed(tensor(shape=[-10])),
            "an overlap": self.changed(tensor(data_offsets=[4, 44])),
            "text": self.changed(tensor(data_offsets="ab")),
        }
        for name, content in cases.items():
            with self.subTest(name), self.assertRaises(epsilond.ModelFileError):
                epsilond.ModelFile(content)

    def test_a_model_is_found_by_its_id_and_in_the_list(self):
        client = kit.client()
        self.assertEqual(client.models[self.model.id].data, self.model.data)
        self.assertIn(self.model.id, [model.id for model in client.models])

    def test_without_numpy_the_extra_is_named(self):
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            self.model.save(file.name)
            program = ("import sys\nsys.modules['numpy'] = sys.modules['torch'] = None\n"
                       "import epsilond\nfile = epsilond.load(sys.argv[1])\n"
                       "for ask in (file.numpy, file.as_sklearn, file.torch, lambda: file.encode([])):\n"
                       "    try: ask()\n    except epsilond.Unsupported as error: print(error)\n")
            told = subprocess.run([sys.executable, "-c", program, file.name], check=True,
                                  capture_output=True, text=True, env=os.environ).stdout
        self.assertEqual(told.count("epsilond[numpy]"), 3)
        self.assertEqual(told.count("epsilond[torch]"), 1)


if __name__ == "__main__":
    unittest.main()
