"""Step functions of boosted histograms as a table: the steps of a record's cells add up to the service's prediction."""

import datetime
import math
import random
import unittest

import epsilond

import kit

COLUMNS = [
    {"name": "day", "kind": "date", "format": "%Y-%m-%d", "range": ["2000-01-01", "2003-12-31"],
     "parts": ["weekday", "quarter"]},
    {"name": "age", "kind": "numeric", "range": [18, 90], "if_missing": "indicator"},
    {"name": "note", "kind": "ignored"},
    {"name": "work", "kind": "categorical", "values": ["farm", "shop"], "other": True, "if_missing": "category"},
    {"name": "ill", "kind": "boolean"},
]
PAY = {"name": "pay", "kind": "label", "range": [0, 100]}
HIGH = {"name": "high", "kind": "label", "values": ["no", "yes"]}
PLACE = {"name": "place", "kind": "label", "values": ["north", "south", "west"]}
DAYS = [datetime.date(2000, 1, 1), datetime.date(2001, 6, 5), datetime.date(2003, 12, 30)]


def table(seed, label):
    """No two datasets have the same records."""
    draw = random.Random(seed)
    lines = []
    for _ in range(600):
        day = DAYS[0] + datetime.timedelta(days=draw.randrange(1460))
        age, work = draw.choice(["", draw.randint(18, 90)]), draw.choice(["farm", "shop", "sea", ""])
        answer = draw.choice(label["values"]) if "values" in label else (age or 40) / 2 + 20 * (work == "farm")
        lines.append(f"{day},{age},x,{work},{draw.choice(['yes', 'no'])},{answer}")
    return ("\n".join(lines) + "\n").encode()


def boosted(name, label, pairs=(), **more):
    client = kit.client()
    client.datasets.register(name, table(name, label), format="csv", header=False, epsilon=10, delta=1e-5,
                             task="regression" if "range" in label else "classification", columns=[*COLUMNS, label])
    model = {"preset": "histograms", "pairs": [list(pair) for pair in pairs]}
    return client.train(name, model, algorithm="boosted_histograms", epsilon=3, **more).wait().model


def cells_of(row):
    """The value of each column of the model, from a row of the dataset."""
    day, age, work, ill = row
    return {"day": day, "weekday of day": str(day.weekday() + 1), "quarter of day": str((day.month + 2) // 3),
            "age": 54 if age is None else age, "age is missing": float(age is None),
            "work": "(missing)" if work is None else work if work in ("farm", "shop") else "(other)", "ill": float(ill)}


def has(step, end, cells):
    column = step["column" + end]
    if column is None:
        return True
    value, low, high = cells[column], step["low" + end], step["high" + end]
    if low is None:
        return step["word" + end] == value
    return low <= value < high or value == high == {"age": 90}.get(column, 1)  # the last cell has its upper end


class Adding(unittest.TestCase):
    ROWS = [[DAYS[1], 33.3, "farm", True], [DAYS[2], None, "sea", False], [DAYS[1], 89, None, False],
            [DAYS[0], 18, "shop", True]]

    def score(self, shapes, row, output=None):
        cells = cells_of(row)
        steps = [step for step in shapes if step["class"] == output and has(step, "", cells) and has(step, "_2", cells)]
        single = [step["column"] for step in steps if step["column_2"] is None]
        self.assertEqual(len(single), len(set(single)), steps)
        self.assertEqual(set(single), {*cells, None})
        return math.fsum(step["adds"] for step in steps)

    def asked(self, rows):
        return [[str(day), *rest] for day, *rest in rows]

    def test_steps_add_up_to_a_number(self):
        model = boosted("shapes-pay", PAY, pairs=[("age", "work")])
        shapes = model.shapes().to_dicts()
        ages = [step for step in shapes if step["column"] == "age" and step["column_2"] is None]
        self.assertEqual((ages[0]["low"], ages[-1]["high"]), (18, 90))
        self.assertLess(len(ages), 64)  # cells of one bin are one step
        for row, value in zip(self.ROWS, model.predict(self.asked(self.ROWS))):
            with self.subTest(row):
                self.assertAlmostEqual(value, 50 * (1 + self.score(shapes, row)), delta=1e-3)

    def test_two_classes_have_the_score_of_the_second(self):
        model = boosted("shapes-high", HIGH)
        shapes = model.shapes().to_dicts()
        for row, (_, share) in zip(self.ROWS, model.predict_proba(self.asked(self.ROWS))):
            with self.subTest(row):
                self.assertAlmostEqual(math.log(share / (1 - share)), self.score(shapes, row, "yes"), delta=1e-4)

    def test_more_classes_have_a_score_each(self):
        model = boosted("shapes-place", PLACE)
        shapes = model.shapes().to_dicts()
        for row, shares in zip(self.ROWS, model.predict_proba(self.asked(self.ROWS))):
            scores = [self.score(shapes, row, place) for place in PLACE["values"]]
            with self.subTest(row):
                self.assertAlmostEqual(math.log(shares[2] / shares[0]), scores[2] - scores[0], delta=1e-4)

    def test_other_models_have_none(self):
        model = kit.client().train("digits", "linear", epsilon=0.2, epochs=1).wait().model
        with self.assertRaisesRegex(epsilond.Unsupported, "^give a model of the preset histograms"):
            model.shapes()


if __name__ == "__main__":
    unittest.main()
