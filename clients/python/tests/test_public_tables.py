"""Public tables as they come, from the file to a model of known quality: the client suggests, a person confirms words
and types ranges, and the holdout measures the model.

Adult, California and a9a are read from SHARED (../shared unless given); the digits are in the repository;
scikit-learn ships the last two. A table that is not there is reported as skipped."""

import ast
import gzip
import os
import pathlib
import tempfile
import textwrap
import unittest

import epsilond

import kit
from kit import digits

DATA = pathlib.Path(os.environ.get("SHARED", kit.REPOSITORY / ".." / "shared"), "data")
ADULT = ("age work final_weight education school_years marital_status occupation relationship race sex gain loss hours "
         "country income")

# The six statements that a person types.
SIX = textwrap.dedent("""\
    client = epsilond.Client(service)
    suggestion = client.datasets.suggest("adult.csv", label="income")
    said = suggestion.confirm(ranges=RANGES, words=WORDS, missing=["?"], indicate=UNKNOWN, ignore=["final_weight"])
    client.datasets.register("adult", "adult.csv", epsilon=4, delta=1e-5, holdout=0.1, **said)
    job = client.train("adult", epsilon=1, evaluation=epsilond.holdout(epsilon=0.2)).wait()
    quality = job.quality["accuracy"]
    """)
SAID = {"RANGES": {"age": [0, 120], "school_years": [0, 20], "gain": [0, 100000], "loss": [0, 5000], "hours": [0, 100]},
        "WORDS": "work education marital_status occupation relationship race sex country income".split(),
        "UNKNOWN": ["work", "occupation", "country"]}


def shared(*names):
    """The content of a packed file of SHARED."""
    path = DATA.joinpath(*names)
    if not path.exists():
        raise unittest.SkipTest(f"{path} is not there")
    return gzip.decompress(path.read_bytes())


class Tables(unittest.TestCase):
    def holds(self, score, least):
        """The released score is at least this, and has an interval."""
        self.assertGreater(score["value"], least)
        self.assertLessEqual(score["low"], score["value"])
        self.assertGreaterEqual(score["high"], score["value"])
        self.assertLess(score["low"], score["high"])

    def quality(self, id, files, *, epsilon=1.0, measured=0.2, delta=1e-5, **declared):
        """Trains with nothing but the defaults, and returns what the holdout says."""
        client = kit.client()
        client.datasets.register(id, files, epsilon=4, delta=delta, holdout=0.2, **declared)
        return client.train(id, epsilon=epsilon, evaluation=epsilond.holdout(epsilon=measured)).wait().quality

    def test_adult_takes_six_statements(self):
        lines = shared("adult", "adult.data.gz").decode().split("\n")
        rows = [";".join(cell.strip() for cell in line.split(",")) for line in lines if line.strip()]
        self.assertTrue(any("?" in row for row in rows))
        names = {**SAID, "epsilond": epsilond, "service": kit.daemon().base}
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder, "adult.csv"))
            pathlib.Path(path).write_text("\n".join([ADULT.replace(" ", ";"), *rows, ""]))
            exec(SIX.replace('"adult.csv"', repr(path)), names)
        self.assertEqual(len(ast.parse(SIX).body), 6)
        self.holds(names["quality"], 0.8)

    def test_california_has_a_word_and_empty_cells(self):
        table = shared("california-housing", "housing.csv.gz")
        suggestion = kit.client().datasets.suggest(table, label="median_house_value")
        ranges = {"longitude": [-125, -114], "latitude": [32, 42], "housing_median_age": [0, 60], "total_rooms": [0, 10000],
                  "total_bedrooms": [0, 2000], "population": [0, 5000], "households": [0, 2000], "median_income": [0, 12],
                  "median_house_value": [0, 600000]}
        said = suggestion.confirm(ranges=ranges, words=["ocean_proximity"], indicate=["total_bedrooms"])
        self.assertEqual(said["task"], "regression")
        self.holds(self.quality("california", table, epsilon=2, **said)["r_squared"], 0.5)

    def test_a9a_is_lines_of_pairs(self):
        quality = self.quality("a9a", shared("a9a", "a9a.gz"), classes=2, features={"count": 123})
        self.holds(quality["accuracy"], 0.8)

    def test_the_digits_have_no_header(self):
        table = "".join(digits.lines(False)[:1200]).encode()
        suggestion = kit.client().datasets.suggest(table, label="column65")
        said = suggestion.confirm(ranges={name: [0, 16] for name in list(suggestion.columns)[:-1]}, words=["column65"])
        self.holds(self.quality("digits-held-out", table, epsilon=3, measured=1, delta=1e-4, **said)["accuracy"], 0.6)

    @kit.lacks("sklearn", "pandas")
    def test_a_frame_of_classes(self):
        from sklearn.datasets import load_breast_cancer
        frame = load_breast_cancer(as_frame=True).frame.filter(regex="^mean|target")
        frame["target"] = frame["target"].map({0: "malignant", 1: "benign"})
        suggestion = kit.client().datasets.suggest(frame, label="target")
        ranges = {"mean radius": [0, 40], "mean texture": [0, 50], "mean perimeter": [0, 250], "mean area": [0, 3000]}
        said = suggestion.confirm(ranges={**{name: [0, 0.5] for name in frame if name != "target"}, **ranges}, words=["target"])
        quality = self.quality("tumours", frame, epsilon=3, measured=1, delta=1e-3, **said)
        self.holds(quality["accuracy"], 0.6)

    @kit.lacks("sklearn", "pandas")
    def test_a_frame_of_numbers(self):
        from sklearn.datasets import load_diabetes
        frame = load_diabetes(as_frame=True, scaled=False).frame
        suggestion = kit.client().datasets.suggest(frame, label="target")
        ranges = {"age": [0, 120], "sex": [1, 2], "bmi": [10, 60], "bp": [40, 200], "s1": [50, 400], "s2": [0, 300], "s3": [0, 150],
                  "s4": [0, 12], "s5": [2, 8], "s6": [40, 200], "target": [0, 400]}
        quality = self.quality("progression", frame, epsilon=3, measured=1, delta=1e-3, **suggestion.confirm(ranges=ranges))
        self.assertIn("rmse", quality)


if __name__ == "__main__":
    unittest.main()
