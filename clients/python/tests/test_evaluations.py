"""Evaluations of a published model after its training: free on public records, a charge for each look."""

import unittest

import epsilond

import kit


class Evaluated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = kit.client()
        kit.register_digits(cls.client, "digits-later", epsilon=8, delta=1e-5, holdout=0.25)
        cls.model = cls.client.train("digits-later", epsilon=2, epochs=2).wait().model

    def spent(self):
        return self.client.datasets["digits-later"].budget.holdout.share_spent

    def test_a_public_dataset_is_free_and_agrees_with_the_predictions(self):
        before = self.spent()
        evaluated = self.model.evaluate("digits-test").wait()
        rows, classes = kit.digits_rows()
        right = sum(a == b for a, b in zip(self.model.predict(rows), classes))
        self.assertAlmostEqual(evaluated.scores["accuracy"], right / len(rows), places=9)
        self.assertIsNone(evaluated.guarantee)
        self.assertEqual(self.model.estimate("digits-test"), {"dataset": "digits-test", "measurement": None})
        self.assertIsNone(evaluated.quality)
        self.assertEqual(self.spent(), before)
        self.assertIn("free", repr(evaluated))

    def test_each_look_is_charged_and_shown_again_for_nothing(self):
        before = self.spent()
        price = self.model.estimate(epsilond.holdout(epsilon=1))["measurement"]
        self.assertEqual(self.spent(), before)
        look = self.model.evaluate(epsilond.holdout(epsilon=1), idempotency_key="cell 5").wait()
        once = self.spent()
        self.assertEqual(price["noise_multiplier"], look.guarantee["noise_multiplier"])
        self.assertAlmostEqual(once - before, price["share"]["asked"], places=6)
        self.assertGreater(once, before)
        self.assertIsNone(look.scores)
        low, high = (look.quality["accuracy"][end] for end in ("low", "high"))
        self.assertTrue(0 <= low < high <= 1)
        again = self.model.evaluate(epsilond.holdout(epsilon=1), idempotency_key="cell 5")
        self.assertEqual(again.id, look.id)
        self.assertEqual(again.refresh().quality, look.quality)
        self.assertEqual(self.spent(), once)
        self.assertIn(look.id, [one.id for one in self.model.evaluations()])
        self.assertIn("epsilon 1 of its holdout", repr(look))
        self.assertIn("accuracy: ", repr(look))
        newer = self.model.evaluate(epsilond.holdout(epsilon=1)).wait()
        self.assertGreater(self.spent(), once)
        for table in (self.client.models, self.client.jobs):
            row, = [one for one in table.to_dicts() if self.model.id in (one["id"], one.get("model"))]
            self.assertEqual([row["accuracy"], row["accuracy_low"], row["accuracy_high"], row["auc"]],
                             [*(newer.quality["accuracy"][end] for end in ("value", "low", "high")), None])

    @kit.lacks("matplotlib")
    def test_what_a_look_released_is_drawn(self):
        look = self.model.evaluate(epsilond.holdout(epsilon=1)).wait()
        cuts = sorted((cut["recall"]["value"], cut["precision"]["value"]) for cut in look.quality["thresholds"]
                      if cut["recall"] and cut["precision"])
        line = look.plot().lines[0]
        self.assertEqual([tuple(point) for point in line.get_xydata()], cuts)
        counts = [text.get_text() for text in look.plot("confusion").texts]
        self.assertEqual(counts, [f"{count:.0f}" for row in look.quality["confusion"] for count in row])
        bins = [one for one in look.quality["calibration"] if one["share"]]
        points, _, _ = look.plot("calibration").containers[0]
        self.assertEqual(list(points.get_ydata()), [one["share"]["value"] for one in bins])
        with self.assertRaisesRegex(epsilond.Unsupported, "^draw one of thresholds, calibration, confusion"):
            look.plot("residuals")
        with self.assertRaisesRegex(epsilond.Unsupported, "^evaluate on a holdout"):
            self.model.evaluate("digits-test").wait().plot()

    @kit.lacks("matplotlib")
    def test_a_confusion_matrix_has_the_words_of_the_classes(self):
        columns = [{"name": "age", "kind": "numeric", "range": [0, 100]},
                   {"name": "ill", "kind": "label", "values": ["no", "yes"]}]
        rows = "".join(f"{age},{'yes' if age > 50 else 'no'}\n" for age in range(100))
        self.client.datasets.register("of-words", rows.encode() * 10, format="csv", task="classification",
                                      columns=columns, epsilon=8, delta=1e-5, holdout=0.25)
        model = self.client.train("of-words", epsilon=2, epochs=2).wait().model
        drawn = model.evaluate(epsilond.holdout(epsilon=1)).wait().plot("confusion")
        for axis in (drawn.xaxis, drawn.yaxis):
            self.assertEqual([label.get_text() for label in axis.get_ticklabels()], ["no", "yes"])

    @kit.lacks("matplotlib")
    def test_the_errors_of_a_regression_are_drawn(self):
        bins = [{"from": at - 1.0, "to": at + 0.0, "count": 3.0 * at} for at in range(4)]
        from epsilond._plots import draw_measurement

        bars = draw_measurement({"residuals": bins, "thresholds": [], "calibration": [], "confusion": []}, "errors").patches
        self.assertEqual([(bar.get_x(), bar.get_width(), bar.get_height()) for bar in bars],
                         [(one["from"], 1, one["count"]) for one in bins])

    def test_what_cannot_be_evaluated_is_refused_at_its_place(self):
        with self.assertRaises(epsilond.InvalidArgument) as refused:
            self.model.evaluate(epsilond.holdout(epsilon=1), dataset="digits")
        self.assertEqual(refused.exception.pointer, "/evaluation/holdout")
        with self.assertRaises(epsilond.NotFound):
            self.model.evaluate("nowhere")
        with self.assertRaises(epsilond.BudgetExhausted):
            self.model.evaluate(epsilond.holdout(epsilon=20), dataset=self.client.datasets["digits-later"])

    def test_a_job_without_an_evaluation_warns(self):
        with self.assertWarnsRegex(UserWarning, "names no evaluation"):
            self.client.train("digits-later", epsilon=0.1, epochs=1).wait()
        self.assertEqual(self.client.estimate("digits-later", epsilon=0.1).warnings[0]["code"], "no_evaluation")
        told = self.client.estimate("digits-later", epsilon=0.1, evaluation="digits-test")
        self.assertIsNone(told.warnings)

    def test_a_failure_is_raised_when_it_is_waited_for(self):
        evaluated = self.model.evaluate("digits-test").wait()
        failed = epsilond.Evaluation(self.client, {**evaluated.data, "state": "FAILED",
                                                   "state_reason": "worker_lost", "scores": None})
        with self.assertRaises(epsilond.EvaluationFailed) as raised:
            failed.wait()
        self.assertIs(raised.exception.evaluation, failed)


if __name__ == "__main__":
    unittest.main()
