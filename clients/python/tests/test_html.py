"""HTML for notebooks: no text of a service, a file or a name becomes markup."""

import copy
import html.parser
import json
import unittest

import epsilond
from epsilond import _figures, _html

import kit

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;\x1b[2J"
KNOWN = {"div", "p", "b", "table", "tr", "th", "td", "svg", "title", "defs", "pattern", "rect", "path"}


class Markup(html.parser.HTMLParser):
    """Collects every element and every attribute name in a text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.text, self.open = set(), set(), "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"{tag} was not open")

    def handle_data(self, data):
        self.text += data


def poisoned(value):
    """The answer with every text replaced by a hostile one; the names of its members stay."""
    if isinstance(value, dict):
        return {name: poisoned(member) for name, member in value.items()}
    if isinstance(value, list):
        return [poisoned(member) for member in value]
    return EVIL if isinstance(value, str) else value


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = kit.client()
        cls.job = cls.client.train("digits", epsilon=0.2, epochs=1, evaluation="digits-test").wait()
        cls.dataset = cls.client.datasets["digits"]

    def harmless(self, text):
        found = Markup(text)
        self.assertLessEqual(found.elements, KNOWN)
        self.assertFalse([name for name in found.attributes if name.startswith("on")])
        self.assertEqual(found.open, [])
        self.assertNotIn("\x1b", text)
        return found.text

    def test_what_is_shown_of_the_real_thing(self):
        self.assertIn("Budget of digits", self.harmless(self.dataset.budget._repr_html_()))
        self.assertIn("READY", self.harmless(self.dataset._repr_html_()))
        self.assertIn("public", self.harmless(self.client.datasets["digits-test"]._repr_html_()))
        shown = self.harmless(self.job._repr_html_())
        self.assertIn("SUCCEEDED", shown)
        self.assertIn("accuracy on digits-test", shown)

    def test_names_that_are_markup_stay_names(self):
        budget = poisoned(self.dataset.budget.data)
        self.assertIn("<script>", self.harmless(epsilond.Budget(budget)._repr_html_()))
        job = epsilond.Job(self.client, poisoned(self.job.data))
        self.assertIn("<script>", self.harmless(job._repr_html_()))
        self.assertTrue(repr(job).isprintable())

    def test_a_dataset_with_a_hostile_name_is_shown_as_it_is(self):
        data = {**self.dataset.data, "id": EVIL, "task": EVIL, "format": EVIL, "state": EVIL}
        budget = {**self.dataset.budget.data, "dataset": EVIL}
        answer = (200, {"Content-Type": "application/json"}, json.dumps(budget).encode())
        with kit.Fake(lambda request: answer) as fake:
            dataset = epsilond.Dataset(epsilond.Client(fake.url), data)
            self.assertIn("<img src=x", self.harmless(dataset._repr_html_()))
            self.assertNotIn("<", fake.requests[0].path)
        self.assertTrue(repr(dataset).isprintable())

    def test_attributes_are_escaped(self):
        text = _html.element("p", "x", title=EVIL)
        self.assertEqual(Markup(text).attributes, {"title"})

    def test_a_gauge_says_in_words_what_it_draws(self):
        budget = copy.deepcopy(self.dataset.budget.data)
        budget["share"].update(spent=0.16, held=0.25, left=0.59)
        budget.update(epsilon_spent=1.4449, epsilon_remaining=3.5699)
        shown = epsilond.Budget(budget)
        self.assertEqual(repr(shown), "16 % used, 25 % held by open jobs, guarantee so far epsilon 1.45 "
                         "of 8 (delta 1e-05), next job at most epsilon 3.56")
        self.assertIn('width="16.00%"', shown._repr_html_())
        self.assertIn('x="16.00%"', shown._repr_html_())

    def test_a_gauge_of_an_estimate_shows_what_is_asked(self):
        fits = self.client.estimate("digits", epsilon=1)._repr_html_()
        self.assertIn("fits: epsilon 1", self.harmless(fits))
        self.assertIn(_html.ASKED, fits)
        self.assertIn(_html.TOO_MUCH, self.client.estimate("digits", epsilon=20)._repr_html_())
        self.assertIn("costs nothing", self.client.estimate("digits-test", epsilon=1)._repr_html_())

    def test_a_frozen_budget_has_nothing_left(self):
        budget = copy.deepcopy(self.dataset.budget.data)
        budget.update(frozen=True, exposure={"epsilon_spent": 9.0, "epsilon_held": 0.0, "delta": 1e-5},
                      guarantee={"epsilon": 10.0, "delta": 2e-5})
        shown = epsilond.Budget(budget)
        self.assertEqual(shown.share_left, 0)
        self.assertEqual(repr(shown), "100 % used, guarantee so far epsilon 9 of 10 (delta 2e-05), "
                         "frozen: its owner must grant a new epoch")
        self.assertIn("at most epsilon 0", self.harmless(shown._repr_html_()))


class Figures(unittest.TestCase):
    def test_what_is_spent_is_rounded_up_and_what_is_left_down(self):
        for value, above, below in (
                (1.4449, "1.45", "1.44"), (0.71, "0.71", "0.71"), (4.0, "4", "4"), (0.0, "0", "0"),
                (12345.6, "12346", "12345"), (9.999, "10", "9.99"), (0.00012341, "0.000124", "0.000123"),
                (1.0000000000000002, "1.01", "1"), (100, "100", "100"), (None, "infinity", "infinity"),
                (1e-12, "0.000000000001", "0.000000000001")):
            with self.subTest(value):
                self.assertEqual((_figures.up(value), _figures.down(value)), (above, below))

    def test_shares_are_whole_percents_rounded_up(self):
        for share, shown in ((0, "0 %"), (0.07, "7 %"), (0.29, "29 %"), (1e-6, "1 %"), (0.995, "100 %"), (1, "100 %")):
            with self.subTest(share):
                self.assertEqual(_figures.percent(share), shown)


if __name__ == "__main__":
    unittest.main()
