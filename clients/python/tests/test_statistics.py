"""Statistics of columns: priced, requested, answered, shown."""

import unittest

import epsilond

import digits
import kit

ASKED = [{"kind": "histogram", "column": "digit"},
         {"kind": "table", "columns": [{"column": "digit"}, {"column": "cell10", "bins": [0, 8, 16]}]},
         {"kind": "mean", "column": "cell10"},
         {"kind": "quantiles", "column": "cell10", "probabilities": [0.5], "bins": 16}]


class Asked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = kit.client()
        kit.register_digits(cls.client, "digits-asked", epsilon=4, delta=1e-5)
        cls.asked = cls.client.statistics("digits-asked", ASKED, epsilon=1,
                                          idempotency_key="cell 3").wait()

    def test_they_are_answered_in_their_order_with_intervals(self):
        asked = self.asked
        self.assertEqual(asked.state, "SUCCEEDED")
        self.assertEqual([answer["kind"] for answer in asked], [one["kind"] for one in ASKED])
        self.assertEqual(len(asked), 4)
        low, high = asked[2]["interval"]
        self.assertTrue(low <= asked[2]["value"] <= high)
        counts = [bin["count"] for bin in asked[0]["bins"]]
        count = self.client.datasets["digits-asked"].records
        # Five standard deviations of a sum of ten.
        self.assertLess(abs(sum(counts) - count), 5 * 10 ** 0.5 * asked.guarantee["deviation"])

    def test_the_same_key_finds_them_and_spends_nothing_more(self):
        spent = self.client.datasets["digits-asked"].budget.data["epsilon_spent"]
        again = self.client.statistics("digits-asked", ASKED, epsilon=1, idempotency_key="cell 3")
        self.assertEqual(again.id, self.asked.id)
        self.assertEqual(again.refresh().wait().answers, self.asked.answers)
        self.assertEqual(self.client.datasets["digits-asked"].budget.data["epsilon_spent"], spent)

    def test_an_estimate_says_how_wide_and_costs_nothing(self):
        dataset = self.client.datasets["digits-asked"]
        estimate = self.client.statistics_estimate(dataset, ASKED, noise_multiplier=40)
        self.assertEqual(estimate["fits"], "yes")
        self.assertGreater(estimate["statistics"][0]["margin"], 40)

    def test_what_was_asked_is_listed(self):
        listed = list(self.client.past_statistics("digits-asked"))
        self.assertIn(self.asked.id, [one.id for one in listed])
        self.assertEqual(listed[-1].answers, [])
        self.assertEqual(listed[-1].refresh().answers, self.asked.answers)

    def test_what_cannot_be_asked_is_told_at_its_place(self):
        with self.assertRaises(epsilond.InvalidArgument) as refused:
            self.client.statistics("digits-asked", [{"kind": "mean", "column": "digit"}], epsilon=0.1)
        self.assertEqual(refused.exception.pointer, "/statistics/0/column")
        with self.assertRaises(epsilond.BudgetExhausted):
            self.client.statistics("digits-asked", ASKED, epsilon=29)

    def test_they_are_shown(self):
        shown = repr(self.asked)
        self.assertIn("mean of cell10: ", shown)
        self.assertIn("digit 3: ", shown)
        self.assertIn("3, 0 to 8: ", shown)
        self.assertIn("mean of cell10", self.asked._repr_html_())

    def test_a_failure_is_raised_when_it_is_waited_for(self):
        failed = epsilond.Statistics(self.client, {**self.asked.data, "state": "FAILED",
                                                   "state_reason": "worker_lost", "answers": None})
        with self.assertRaises(epsilond.StatisticsFailed) as raised:
            failed.wait()
        self.assertIs(raised.exception.statistics, failed)


class Words(unittest.TestCase):
    def test_frequent_texts_are_bought_and_nobodys_own(self):
        client = kit.client()
        rows = "".join(f"{site},{'ab'[i % 2]}\n" for i, site in enumerate(["north"] * 500 + ["Jane Roe"]))
        client.datasets.register(
            "sites-asked", rows.encode(), format="csv", task="classification", header=False,
            columns=[{"name": "site", "kind": "hashed", "buckets": 4, "text_bytes": 16},
                     {"name": "ill", "kind": "label", "values": ["a", "b"]}],
            epsilon=2, delta=1e-5, discovery_delta=2e-6)
        terms = {"epsilon": 0.5, "delta": 1e-6, "discovery_delta": 1e-6}
        estimate = client.words_estimate("sites-asked", "site", **terms)
        # A deviation of 8.06 (docs/accounting.md 1.15).
        self.assertAlmostEqual(estimate["threshold"], 39.3, delta=0.1)
        asked = client.words("sites-asked", "site", **terms).wait()
        self.assertEqual([one["word"] for one in asked[0]["words"]], ["north"])
        self.assertIn("north: ", repr(asked))
        self.assertEqual(asked.guarantee["discovery_delta"], estimate["discovery_delta"])
        with self.assertRaises(epsilond.InvalidArgument) as refused:
            client.words("sites-asked", "ill", **terms)
        self.assertEqual(refused.exception.pointer, "/statistics/0/column")


if __name__ == "__main__":
    unittest.main()
