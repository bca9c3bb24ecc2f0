"""Tests of what the client reads from the owner's own file: the format, and a suggestion that nothing adopts
before a person has confirmed it."""

import gzip
import pathlib
import tempfile
import unittest

import epsilond
from epsilond import _formats
from epsilond._suggest import suggest

import kit

TABLE = b"age;work;code;rich\n" + b"".join(
    b"%d;%s;u%d;%s\n" % (20 + place % 50, (b"farm", b"shop", b"?")[place % 3], place, (b"no", b"yes")[place % 5 > 1])
    for place in range(1500))
COMMAS = TABLE.replace(b";", b",")
SAID = {"words": ["work", "rich"], "ranges": {"age": [0, 120]}, "ignore": ["code"]}
COLUMNS = [{"name": "age", "kind": "numeric", "range": [0, 120]},
           {"name": "rich", "kind": "label", "values": ["yes", "no"]}]


class Formats(unittest.TestCase):
    def test_the_format_is_inferred_from_the_name_or_the_first_bytes(self):
        idx, npy = b"\0\0\x08\x03", b"\x93NUMPY\x01\0"
        with tempfile.TemporaryDirectory() as folder:
            for name, content, format in (
                    ("a.csv", b"x\n1\n", "csv"), ("a.TSV", b"x\ty\n", "csv"), ("a.csv.gz", gzip.compress(b"x\n"), "csv"),
                    ("a.svm", b"", "libsvm"), ("a.libsvm.gz", gzip.compress(b""), "libsvm"),
                    ("a.jsonl", b"", "jsonl"), ("a.ndjson.gz", gzip.compress(b""), "jsonl"),
                    ("a.txt", b'\n{"a":1,"b":"x, y"}\n{"b":null}\n', "jsonl"),
                    ("a", b"+1 3:0.5 7:1\n-1\n", "libsvm"), ("a.txt", b"1,2\n3,4\n", "csv"),
                    ("a.dat", gzip.compress(b"1|2\n3|4\n"), "csv")):
                with self.subTest(name):
                    path = pathlib.Path(folder, name)
                    path.write_bytes(content)
                    self.assertEqual(_formats.format_of(path), format)
        for files, format in ((b"1;2\n3;4\n", "csv"), ({"data": b"1 1:2\n"}, "libsvm"),
                              ({"features": idx, "labels": b""}, "idx"), ({"features": npy, "labels": npy}, "npy"),
                              ({"features": gzip.compress(idx), "labels": idx}, "idx")):
            with self.subTest(files):
                self.assertEqual(_formats.format_of(files), format)

    def test_a_form_that_does_not_show_is_asked_for(self):
        for files in (b"", b"one two\nthree\n", b"\1\2\3\xff" * 3073, {"features": b"1,2\n", "labels": b""}, {}, 7):
            with self.subTest(files), self.assertRaisesRegex(TypeError, "^give "):
                _formats.format_of(files)

    def test_the_delimiter_divides_every_line_alike(self):
        for lines, delimiter in ((["a,b;c", "1,5;2"], ";"), (["a;b", "1;2;3"], None), (["a;b;c", "1,5;2;3"], ";"), (["a|b", '"x|y"|2'], "|"),
                                 (["a\tb", "1\t2"], "\t"), (["word", "word"], None)):
            with self.subTest(lines):
                self.assertEqual(_formats.delimiter_of(lines), delimiter)

    def test_a_header_is_declared_if_the_first_line_has_the_names(self):
        for first, has in (("rich,age", True), (" age , rich,more", True), ("20,yes", False), ("Age,rich", False)):
            with self.subTest(first):
                self.assertEqual(_formats.has_header(f"{first}\n1,2\n".encode(), COLUMNS, ","), has)

    def test_a_file_is_registered_without_its_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "people.csv")
            path.write_text("rich,age\n" + "".join(f"{'no' if age % 3 else 'yes'},{age}\n" for age in range(90)))
            dataset = kit.client().datasets.register("inferred", path, public=True, columns=COLUMNS)
            self.assertEqual((dataset.data["format"], dataset.data["header"], dataset.records), ("csv", True, 90))
            path = pathlib.Path(folder, "people.jsonl")
            path.write_text("".join(f'{{"rich":"{"no" if age % 3 else "yes"}","age":{age}.0}}\n' for age in range(90)))
            dataset = kit.client().datasets.register("inferred-objects", path, public=True, columns=COLUMNS)
            self.assertEqual((dataset.data["format"], dataset.records), ("jsonl", 90))
        lines = b"".join(b"%d 1:0.5 2:%.2f\n" % (place % 2, place / 90) for place in range(90))
        features = {"count": 2, "range": [0, 1]}
        dataset = kit.client().datasets.register("inferred-lines", lines, public=True, classes=2, features=features)
        self.assertEqual((dataset.data["format"], dataset.records), ("libsvm", 90))


class Suggestions(unittest.TestCase):
    def test_what_was_read_is_shown_and_what_is_left_out_comes_first(self):
        shown = repr(suggest(TABLE, "rich"))
        self.assertRegex(shown, r"(?s)^from your file: confirm.*left out.*code: more than 1000 different words; or hashed=\{'code': buckets\}\n"
                         r"words.*work: \?, farm, shop\n  rich: no, yes\nnumbers.*age: numbers\n"
                         r"may mean missing cells.*work: \?$")

    def test_nothing_is_adopted_that_was_not_confirmed(self):
        """Each statement that is left out is asked for by name, all at once, and nothing else is."""
        suggestion = suggest(TABLE, "rich")
        with self.assertRaises(epsilond.Unconfirmed) as caught:
            suggestion.confirm()
        self.assertIs(caught.exception.suggestion, suggestion)
        lines = str(caught.exception).splitlines()
        self.assertTrue(lines[0].startswith("say what the file cannot"))
        self.assertEqual([line.split(":")[0].strip() for line in lines[1:]],
                         ["ranges={'age'", "words=['work']", "ignore=['code']", "words=['rich']"])
        for left_out, asked in (({"words": ["work"]}, "words=['rich']"), ({"ranges": {}}, "ranges={'age'"),
                                ({"ignore": []}, "ignore=['code']"), ({"words": [*SAID["words"], "code"], "ignore": []},
                                                                      "ignore=['code'], not words")):
            with self.subTest(left_out), self.assertRaises(epsilond.Unconfirmed) as caught:
                suggestion.confirm(**{**SAID, **left_out})
            self.assertEqual(len(str(caught.exception).splitlines()), 2)
            self.assertIn(asked, str(caught.exception))

    def test_a_range_is_never_taken_from_the_file(self):
        suggestion = suggest(TABLE, "rich")
        self.assertNotIn("20", repr(suggestion))
        self.assertNotIn("69", repr(suggestion))
        self.assertEqual(suggestion.confirm(**SAID)["columns"][0],
                         {"name": "age", "kind": "numeric", "range": [0, 120]})

    def test_lines_of_json_are_suggested_as_a_table_is(self):
        lines = b"\xef\xbb\xbf" + b"".join(b'{"code":%d.50,"rich":"%s"%s}\n' % (place % 3, b"yes" if place % 2 else b"no",
                                                                             b',"old":true' if place > 4 else b"") for place in range(30))
        suggestion = suggest(lines, "rich")
        self.assertTrue(suggestion.columns["old"].has_empty)
        self.assertEqual(suggestion.confirm(words=["code", "rich"], booleans=["old"], defaults={"old": False}), {
            "format": "jsonl", "task": "classification", "columns": [
                {"name": "code", "kind": "categorical", "values": ["0.50", "1.50", "2.50"]},
                {"name": "rich", "kind": "label", "values": ["no", "yes"]},
                {"name": "old", "kind": "boolean", "default": False}]})
        with self.assertRaisesRegex(ValueError, "^check line 2 of the file"):
            suggest(b'{"a":1}\n{"a":1,}\n')

    def test_what_was_confirmed_is_the_declaration(self):
        self.assertEqual(suggest(TABLE, "rich").confirm(**SAID), {
            "format": "csv", "task": "classification", "header": True, "delimiter": ";", "columns": [
                {"name": "age", "kind": "numeric", "range": [0, 120]},
                {"name": "work", "kind": "categorical", "values": ["?", "farm", "shop"]},
                {"name": "code", "kind": "ignored"},
                {"name": "rich", "kind": "label", "values": ["no", "yes"]}]})

    def test_the_decimal_sign_shows_in_the_numbers(self):
        for cells, decimal in (("1,5;a", ","), ("2;a", None), ("1.5;a", None), ("1,5;2.5", None), (";a", None)):
            with self.subTest(cells):
                suggestion = suggest(f"x;y\n3;1\n{cells}\n".encode())
                self.assertEqual(suggestion.form.get("decimal"), decimal)
        self.assertNotIn("decimal", suggest(b'x,y\n3,1\n"1,5",2\n').form)

    def test_a_table_with_semicolons_and_decimal_commas_is_registered_as_it_is(self):
        content = b"weight;rich\n" + b"".join(b"%d,%d;%s\n" % (40 + place % 60, place % 10, (b"no", b"yes")[place % 2])
                                              for place in range(300))
        said = suggest(content, "rich").confirm(words=["rich"], ranges={"weight": [0, 200]})
        self.assertEqual((said["delimiter"], said["decimal"]), (";", ","))
        dataset = kit.client().datasets.register("semicolons", content, public=True, **said)
        self.assertEqual((dataset.records, dataset.data["decimal"]), (300, ","))

    @kit.lacks("pandas")
    def test_a_table_has_no_delimiter(self):
        import pandas

        with self.assertRaisesRegex(TypeError, "^leave out delimiter"):
            kit.client().datasets.register("semi", pandas.DataFrame({"age": [1]}), public=True, columns=COLUMNS[:1],
                                           delimiter=";")

    def test_other_kinds_and_missing_cells_are_suggested_and_adopted_only_by_name(self):
        """Nothing of the file but what was named is in the declaration, and each kind is accepted as it is declared."""
        rows = [(f"{1 + place % 28:02}.{1 + place % 12:02}.2020" if place % 9 else "NA", ("yes", "No", "?")[place % 3], f"c{place}",
                 ("NA", "0.5", "2")[place % 3], ("ward", "home")[place % 2], ("a", "b")[place % 5 > 1]) for place in range(1500)]
        content = "\n".join(map(",".join, [("day", "smokes", "code", "dose", "place", "outcome"), *rows])).encode()
        suggestion = suggest(content, "outcome")
        shown = repr(suggestion)
        for part in ("dates: type dates={", "day: dates as %d.%m.%Y", "booleans=['smokes']", "hashed={'code': buckets}",
                     "day: NA", "smokes: ?", "dose: NA"):
            self.assertIn(part, shown)
        self.assertNotIn("2020", shown)
        with self.assertRaises(epsilond.Unconfirmed) as caught:
            suggestion.confirm(ranges={"dose": [0, 5]}, booleans=["smokes"], dates={"day": ["2019-01-01", "2021-12-31"]})
        self.assertEqual([line.split(":")[0].strip() for line in str(caught.exception).splitlines()[1:]],
                         ["missing=['NA']", "missing=['?']", "ignore=['code']", "missing=['NA']", "words=['place']", "words=['outcome']"])
        said = suggestion.confirm(ranges={"dose": [0, 5]}, booleans=["smokes"], dates={"day": ["2019-01-01", "2021-12-31"]},
                                  hashed={"code": 8}, words=["place", "outcome"], other=["place"], missing=["NA", "?"],
                                  indicate=["day", "smokes"], defaults={"dose": 1})
        self.assertEqual(said["missing"], ["NA", "?"])
        self.assertEqual(said["columns"], [
            {"name": "day", "kind": "date", "format": "%d.%m.%Y", "range": ["2019-01-01", "2021-12-31"], "if_missing": "indicator"},
            {"name": "smokes", "kind": "boolean", "if_missing": "indicator"}, {"name": "code", "kind": "hashed", "buckets": 8},
            {"name": "dose", "kind": "numeric", "range": [0, 5], "default": 1},
            {"name": "place", "kind": "categorical", "values": ["home", "ward"], "other": True},
            {"name": "outcome", "kind": "label", "values": ["a", "b"]}])
        self.assertEqual(kit.client().datasets.register("kinds", content, public=True, **said).records, 1500)

    def test_the_order_of_day_and_month_is_never_guessed(self):
        suggestion = suggest(b"day,y\n01/02/2020,a\n03/04/2020,b\n", "y")
        said = {"words": ["y"], "dates": {"day": ["2020-01-01", "2020-12-31"]}}
        with self.assertRaisesRegex(epsilond.Unconfirmed, r"formats=\{'day': ...\}: one of \['%d/%m/%Y', '%m/%d/%Y'\]"):
            suggestion.confirm(**said)
        self.assertEqual(suggestion.confirm(**said, formats={"day": "%m/%d/%Y"})["columns"][0]["format"], "%m/%d/%Y")

    def test_a_word_like_a_missing_cell_may_be_a_word(self):
        said = suggest(TABLE, "rich").confirm(**SAID)
        self.assertIn("?", said["columns"][1]["values"])
        with self.assertRaisesRegex(epsilond.Unconfirmed, r"indicate=\['work'\]"):
            suggest(TABLE, "rich").confirm(**SAID, missing=["?"])
        said = suggest(TABLE, "rich").confirm(**SAID, missing=["?"], indicate=["work"])
        self.assertEqual(said["columns"][1], {"name": "work", "kind": "categorical", "values": ["farm", "shop"], "if_missing": "category"})

    def test_an_empty_cell_and_a_label_are_asked_for(self):
        content = b"1,,a\n2,x,\n,y,b\n"
        with self.assertRaises(epsilond.Unconfirmed) as caught:
            suggest(content).confirm()
        for part in ("label: ", "defaults={'column1': ", "defaults={'column2': ", "defaults={'column3': "):
            self.assertIn(part, str(caught.exception))
        said = suggest(content).confirm(label="column1", ranges={"column1": [0, 9]}, words=["column2", "column3"],
                                        defaults={"column1": 1, "column2": "x", "column3": "a"})
        self.assertEqual((said["task"], said["header"]), ("regression", False))
        self.assertEqual(said["columns"][0], {"name": "column1", "kind": "label", "range": [0, 9], "default": 1})
        for name in ("nobody",):
            with self.assertRaisesRegex(ValueError, "^name a column"):
                suggest(content, name)
            with self.assertRaisesRegex(ValueError, "^name a column"):
                suggest(content).confirm(ignore=[name])

    def test_a_file_that_no_delimiter_divides_is_refused(self):
        with self.assertRaisesRegex(ValueError, "^check that the file is a table: no comma"):
            suggest(b"one\ntwo\n")

    @kit.lacks("pandas")
    def test_a_frame_is_suggested_like_its_file(self):
        import io
        import pandas

        frame = pandas.read_csv(io.BytesIO(COMMAS))
        self.assertEqual(suggest(frame, "rich").confirm(**SAID), suggest(COMMAS, "rich").confirm(**SAID))

    def test_from_a_file_to_a_model_of_known_quality_in_six_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "people.csv")
            path.write_bytes(COMMAS)
            c = kit.client()
            with self.assertRaises(epsilond.Unconfirmed):
                c.datasets.register("people-suggested", path, epsilon=4, delta=1e-5)
            self.assertNotIn("people-suggested", c.datasets)
            s = c.datasets.suggest(path, label="rich")
            c.datasets.register("people-suggested", path, **s.confirm(**SAID), epsilon=4, delta=1e-5, holdout=0.2)
            job = c.train("people-suggested", epsilon=1, learning_rate=1, evaluation=epsilond.holdout(1)).wait()
            self.assertIn("value", job.quality["accuracy"])
            self.assertEqual(job.data["optimizer"], {"name": "sgd", "learning_rate": 1.0, "momentum": 0.0})


class Rates(unittest.TestCase):
    def test_a_learning_rate_is_of_the_optimizer_that_is_named(self):
        client = kit.client()
        for said, name in (({}, "sgd"), ({"optimizer": "adam"}, "adam"), ({"optimizer": {"name": "adam"}}, "adam")):
            with self.subTest(said):
                job = client.train("digits-test", algorithm="sgd", epochs=1, learning_rate=0.125, **said)
                self.assertEqual(job.data["optimizer"]["name"], name)
                self.assertEqual(job.data["optimizer"]["learning_rate"], 0.125)
        with self.assertRaisesRegex(TypeError, "^give the learning rate once"):
            client.train("digits-test", learning_rate=1, optimizer={"name": "sgd", "learning_rate": 1})


if __name__ == "__main__":
    unittest.main()
