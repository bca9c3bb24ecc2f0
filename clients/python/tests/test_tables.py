"""Tables as people have them: frames of pandas and polars, tables of Arrow, Parquet files and dicts, for
registration and for predictions. Method: each must be the same dataset as the CSV file that was written
by hand, which the service itself compares, and must be predicted like its rows."""

import datetime
import decimal
import pathlib
import random
import tempfile
import unittest

import epsilond
from epsilond import _tables

import kit

COLUMNS = [{"name": "age", "kind": "numeric", "range": [0, 120], "default": 40},
           {"name": "work", "kind": "categorical", "values": ["farm", "shop, at sea", "3"], "default": "farm"},
           {"name": "note", "kind": "ignored"},
           {"name": "rich", "kind": "label", "values": ["yes", "no"]}]
WORK = ["farm", "shop, at sea", "3", None]


def people(count=300, seed=1):
    """The cells of the columns, and one that is not declared."""
    draw = random.Random(seed)
    ages = [draw.choice([None, 20.5, 31, 77, 118]) for _ in range(count)]
    return {"age": ages, "work": [draw.choice(WORK) for _ in range(count)], "secret": ["x"] * count,
            "note": [f"n{place}" for place in range(count)],
            "rich": ["yes" if (age or 40) > 35 else "no" for age in ages]}


def by_hand(cells):
    """The CSV file that a person would write, with the columns in another order."""
    lines = ["work,rich,note,age"]
    for age, work, note, rich in zip(cells["age"], cells["work"], cells["note"], cells["rich"]):
        quoted = f'"{work}"' if work and "," in work else work or ""
        lines.append(f"{quoted},{rich},{note},{'' if age is None else f'{age:g}'}")
    return ("\n".join(lines) + "\n").encode()


def tables(cells, folder):
    """The same cells as each kind of table."""
    import pandas
    import polars
    import pyarrow
    import pyarrow.parquet

    arrow = pyarrow.table(cells)
    pyarrow.parquet.write_table(arrow, pathlib.Path(folder, "people.parquet"), row_group_size=70)
    pathlib.Path(folder, "people").write_bytes(pathlib.Path(folder, "people.parquet").read_bytes())
    return {"pandas": pandas.DataFrame(cells), "polars": polars.DataFrame(cells, strict=False), "arrow": arrow,
            "parquet": pathlib.Path(folder, "people.parquet"), "named otherwise": str(pathlib.Path(folder, "people"))}


class Registering(unittest.TestCase):
    @kit.lacks("pandas", "polars", "pyarrow")
    def test_each_table_is_the_same_dataset_as_the_file(self):
        datasets = kit.client().datasets
        cells = people()
        datasets.register("by-hand", by_hand(cells), epsilon=1, delta=1e-5, columns=COLUMNS)
        with tempfile.TemporaryDirectory() as folder:
            for place, (name, table) in enumerate(tables(cells, folder).items()):
                with self.subTest(name), self.assertRaises(epsilond.Conflict) as caught:
                    datasets.register(f"table-{place}", table, epsilon=1, delta=1e-5, columns=COLUMNS)
                self.assertEqual(caught.exception.code, "duplicate_content")

    @kit.lacks("pandas")
    def test_a_column_that_is_not_declared_is_not_sent(self):
        import pandas

        table = _tables.table_of(pandas.DataFrame(people(3)))
        sent = b"".join(_tables.csv_of(table, ["age", "rich"]))
        self.assertTrue(sent.startswith(b"age,rich\n"))
        self.assertNotIn(b"x", sent)
        datasets = kit.client().datasets
        with self.assertRaisesRegex(ValueError, r"^add the columns \['age'\]"):
            datasets.register("short-table", pandas.DataFrame({"work": ["farm"]}), public=True, columns=COLUMNS[:2])
        self.assertNotIn("short-table", datasets)

    @kit.lacks("pyarrow")
    def test_a_table_is_sent_part_by_part_and_again_after_a_lost_answer(self):
        import pyarrow

        count = 3 * _tables.PART - 1
        table = pyarrow.table({"age": [place % 97 for place in range(count)], "rich": ["yes", "no", "no"] * (count // 3)
                               + ["yes"] * (count % 3)})
        self.assertEqual(len(list(_tables.csv_of(_tables.table_of(table), ["age"]))), 1 + 3)
        with kit.Deaf(kit.daemon().base, 2) as service:
            client = epsilond.Client(service.url)
            dataset = client.datasets.register("in-parts", table, public=True, columns=[COLUMNS[0], COLUMNS[3]])
        self.assertEqual(dataset.records, count)

    @kit.lacks("pyarrow")
    def test_a_column_of_lists_is_refused_by_its_name(self):
        import pyarrow

        for cells in ([[1], [2]], [{"a": 1}, {"a": 2}]):
            table = _tables.table_of(pyarrow.table({"age": cells}))
            with self.assertRaisesRegex(ValueError, "^replace the column 'age'"):
                list(_tables.csv_of(table, ["age"]))

    def test_a_cell_is_written_as_a_person_would(self):
        day = datetime.date(2024, 2, 29)
        for cell, text in ((None, ""), (float("nan"), ""), (3.0, "3"), (-0.25, "-0.25"), (True, "true"),
                           (day, "2024-02-29"), (datetime.datetime(2024, 2, 29, 7), "2024-02-29T07:00:00"),
                           (decimal.Decimal("1.50"), "1.5"), ("a,b", "a,b"), (2**60, str(2**60)), (1e300, "1e+300")):
            with self.subTest(cell):
                self.assertEqual(_tables.text_of(_tables.cell_of(cell, "x")), text)

    @kit.lacks("polars")
    def test_names_and_queries_that_cannot_be_sent_say_what_to_do(self):
        import pandas
        import polars

        with self.assertRaisesRegex(TypeError, r"^collect\(\)"):
            _tables.table_of(polars.DataFrame({"x": [1]}).lazy())
        for frame in (pandas.DataFrame([[1, 2]]), pandas.DataFrame([[1, 2]], columns=["a", "a"])):
            with self.assertRaisesRegex(ValueError, "^name each column"):
                _tables.table_of(frame)


class Predicting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        client = kit.client()
        client.datasets.register("people-of-tables", by_hand(people(seed=2)), public=True, columns=COLUMNS)
        cls.model = client.train("people-of-tables", algorithm="sgd", learning_rate=1, epochs=20).wait().model
        cls.rows = [[20, "farm"], [77, "shop, at sea"], [None, "3"], [118, None]]
        cls.named = [{"work": work, "age": age} for age, work in cls.rows]

    def test_rows_with_names_are_rows(self):
        found = self.model.predict_proba(self.rows)
        self.assertEqual(self.model.predict_proba(self.named), found)
        self.assertEqual(self.model.predict_proba(self.named[1]), found[1:2])
        self.assertEqual(self.model.predict_proba([{**row, "rich": "no", "note": 7} for row in self.named]), found)
        self.assertEqual(self.model.predict_proba([self.named[0], self.rows[1]]), found[:2])
        self.assertEqual(self.model.predict_proba({"age": float("nan"), "work": "3"}), found[2:3])

    def test_faults_of_rows_with_names_are_named(self):
        for row, pointer in (({"age": 20}, "/inputs/1/work"), ({"age": 20, "work": "farm", "wrk": 1}, "/inputs/1/wrk"),
                             ({"age": 20, "work": "moon"}, "/inputs/1/work")):
            with self.subTest(row), self.assertRaises(epsilond.InvalidArgument) as caught:
                self.model.predict([self.named[0], row])
            self.assertEqual(caught.exception.pointer, pointer)
        with self.assertRaisesRegex(ValueError, "^give a list of records"):
            self.model.predict({"age": [20, 21], "work": ["farm", "3"]})

    @kit.lacks("numpy")
    def test_the_predictor_in_this_process_takes_the_same_rows(self):
        local, found = self.model.as_sklearn(), self.model.predict(self.rows)
        self.assertEqual(local.predict(self.named).tolist(), found)
        self.assertEqual(local.predict(self.named[1]).tolist(), found[1:2])
        with self.assertRaisesRegex(ValueError, r"^add \['work'\] to row 1"):
            local.predict([self.named[0], {"age": 1}])

    @kit.lacks("numpy", "pandas", "polars", "pyarrow")
    def test_each_table_is_predicted_like_its_rows(self):
        cells = people(25, seed=3)
        rows = list(map(list, zip(cells["age"], cells["work"])))
        found, local = self.model.predict_proba(rows), self.model.as_sklearn()
        with tempfile.TemporaryDirectory() as folder:
            for name, table in tables(cells, folder).items():
                with self.subTest(name):
                    self.assertEqual(self.model.predict_proba(table), found)
                    self.assertLess(abs(local.predict_proba(table) - found).max(), 1e-5)

    @kit.lacks("numpy", "pandas")
    def test_numbers_in_a_column_of_words_are_words(self):
        import pandas

        frame = pandas.DataFrame({"age": [True, False], "work": [3.0, None]})
        rows = [[1, "3"], [0, None]]
        self.assertEqual(self.model.predict_proba(frame), self.model.predict_proba(rows))
        self.assertEqual(self.model.as_sklearn().predict(frame).tolist(), self.model.predict(rows))


if __name__ == "__main__":
    unittest.main()
