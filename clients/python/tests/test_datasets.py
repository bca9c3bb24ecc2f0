"""Datasets: registration of a file in one call, and errors during it; budgets in words."""

import dataclasses
import os
import pathlib
import tempfile
import unittest

import epsilond

import kit

COLUMNS = [{"name": "age", "kind": "numeric", "range": [0, 120]},
           {"name": "answer", "kind": "label", "values": ["yes", "no"]}]
TABLE = {"format": "csv", "columns": COLUMNS}
ROWS = b"".join(b"%d,%s\n" % (age, b"yes" if age % 3 else b"no") for age in range(100))


class Registering(unittest.TestCase):
    def test_a_file_is_ready_after_one_call(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "people.csv")
            path.write_bytes(ROWS)
            for id, file in (("by-path", path), ("by-name", os.fspath(path))):
                with self.subTest(id):
                    dataset = kit.client().datasets.register(id, file, public=True, **TABLE)
                    self.assertEqual((dataset.state, dataset.records), ("READY", 100))
                    self.assertTrue(dataset.is_public)
                    self.assertIsNone(dataset.budget)

    def test_a_query_is_run_by_the_service(self):
        query = epsilond.Query("SELECT s3cret", host="nowhere.invalid", database="a", user="b", password="tok3n")
        self.assertNotRegex(repr(query), "tok3n|s3cret")
        columns = [COLUMNS[0], {**COLUMNS[1], "default": "no"}]
        with self.assertRaisesRegex(epsilond.ImportFailed, "cannot be reached"):
            kit.client().datasets.register("queried", query, public=True, columns=columns)
        with self.assertRaisesRegex(epsilond.InvalidArgument, "/postgresql/sslmode"):
            kit.client().datasets.register("queried", dataclasses.replace(query, sslmode="disable"), public=True,
                                           columns=columns)
        with self.assertRaisesRegex(TypeError, "give columns"):
            kit.client().datasets.register("queried", query, public=True)

    def test_a_weak_promise_is_confirmed_by_name(self):
        client = kit.client()
        epsilon, delta = "epsilon_above_10", "delta_above_1_over_n"

        def register(acknowledge, **promise):
            return client.datasets.register("weak", ROWS + b"7,yes\n", format="csv", columns=COLUMNS,
                                            acknowledge=acknowledge, **promise)

        for given, named in ((None, f'acknowledge=["{epsilon}"]'), ([delta], f'acknowledge=["{epsilon}"]'),
                             ([epsilon], f'acknowledge=["{delta}"]'), ([epsilon, "all"], "/acknowledge/1")):
            with self.subTest(given), self.assertRaises(epsilond.InvalidArgument) as caught:
                register(given, epsilon=12, delta=0.02)
            self.assertIn(named, str(caught.exception))
        self.assertEqual(register([epsilon, delta], epsilon=12, delta=0.02).state, "READY")
        for given in ([epsilon], [delta]):
            with self.subTest(given), self.assertRaises(epsilond.InvalidArgument) as caught:
                client.datasets.register("strong", ROWS + b"7,no\n", format="csv", columns=COLUMNS, acknowledge=given,
                                         epsilon=1, delta=1e-5)
            self.assertIn("nothing asked for", str(caught.exception))

    def test_work_elsewhere_confirms_delta(self):
        client = kit.client()
        with self.assertRaises(epsilond.EpsilondError):
            client.datasets.register("afar", b"no such rows", format="csv", columns=COLUMNS, epsilon=4, delta=0.02)
        work = {"kind": "gaussian", "noise_multiplier": 3000, "steps": 5, "neighbour": "zero_out"}
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            client.charge_estimate("afar", work, records=100)
        self.assertIn('acknowledge=["delta_above_1_over_n"]', str(caught.exception))
        client.charge_estimate("afar", work, records=50)
        client.charge("afar", work, engine="jax", records=100, acknowledge=["delta_above_1_over_n"]).settle()

    def test_persons_are_protected_with_all_their_rows(self):
        client = kit.client()
        rows = b"".join(b"p%d,%d,%s\n" % (row % 30, row * 7 % 101, b"yes" if row % 3 else b"no") for row in range(100))
        columns = [{"name": "who", "kind": "privacy_id"}, *COLUMNS]
        people = client.datasets.register("persons", rows, epsilon=4, delta=1e-5, format="csv", columns=columns)
        self.assertEqual((people.unit, people.records, people.data["size"]), ("person", 30, None))
        self.assertIn("30 persons", repr(people))
        job = client.train(people, noise_multiplier=8, batch_size=10, steps=5, rows_per_person=2).wait()
        self.assertEqual(job.data["rows_per_person"], 2)
        self.assertEqual(job.model.certificate["guarantee"]["unit"], "person")
        with self.assertRaises(epsilond.ImportFailed) as caught:
            client.datasets.register("nobodys", rows + b",7,yes\n", epsilon=4, delta=1e-5, format="csv",
                                     columns=columns)
        self.assertIn("whose it is", str(caught.exception))

    def test_ids_of_persons_come_in_a_file_where_there_are_no_columns(self):
        client = kit.client()
        count = 40
        files = {"features": bytes((0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 4, 0, 0, 0, 4)) + bytes(16 * count),
                 "labels": bytes((0, 0, 8, 1, 0, 0, 0, count)) + bytes(row % 2 for row in range(count)),
                 "privacy_id": b"".join(b"p%d\n" % (row % 15) for row in range(count))}
        photos = client.datasets.register("photos", files, epsilon=4, delta=1e-5, format="idx", classes=2,
                                          features={"shape": [4, 4], "scale": 255}, privacy_id=True)
        self.assertEqual((photos.unit, photos.records, photos.data["size"]), ("person", 15, None))
        views = {"views": 2, "flip": True, "shift": 1}
        job = client.train(photos, noise_multiplier=8, batch_size=5, steps=3, rows_per_person=4,
                           augmentation=views).wait()
        self.assertEqual(job.model.certificate["augmentation"], views)
        with self.assertRaises(epsilond.ImportFailed) as caught:
            client.datasets.register("cut", {**files, "privacy_id": b"p1\n"}, epsilon=4, delta=1e-5, format="idx",
                                     classes=2, features={"shape": [4, 4], "scale": 255}, privacy_id=True)
        self.assertEqual(caught.exception.file, "privacy_id")

    def test_how_records_are_protected_has_no_default(self):
        datasets = kit.client().datasets
        for said in ({}, {"epsilon": 1}, {"delta": 1e-5}, {"epsilon": 1, "delta": 1e-5, "public": True},
                     {"public": True, "relation": "replace_one"}):
            with self.subTest(said), self.assertRaisesRegex(TypeError, "no default"):
                datasets.register("undecided", ROWS, **said, **TABLE)
        self.assertNotIn("undecided", datasets)

    def test_a_file_that_is_not_there_registers_nothing(self):
        datasets = kit.client().datasets
        with self.assertRaises(FileNotFoundError):
            datasets.register("no-file", "/no/such/file.csv", public=True, **TABLE)
        self.assertNotIn("no-file", datasets)

    def test_all_faults_are_in_the_exception_and_the_file_is_not_sent_again(self):
        datasets = kit.client().datasets
        columns = [{"name": "age", "kind": "numeric", "range": [0, 120]},
                   {"name": "work", "kind": "categorical", "values": ["clerk"]},
                   {"name": "ill", "kind": "label", "values": ["no", "yes"]}]
        rows = b"".join(b"%d,clerk,%s\n" % (row % 90, b"yes" if row % 2 else b"no") for row in range(60))
        declared = {"epsilon": 1, "delta": 1e-5, "format": "csv", "header": False}
        with self.assertRaises(epsilond.ImportFailed) as caught:
            datasets.register("reported", rows + b"7,nurse,no\n,smith,no\n8,nurse,yes\n", columns=columns, **declared)
        failed = caught.exception
        self.assertEqual(failed.words, {"work": ["nurse", "smith"]})
        self.assertEqual(failed.report["faults"], 4)
        self.assertEqual(failed.report["columns"][0]["cells"][0]["line"], 62)
        self.assertIn("1 in age, 3 in work", str(failed))
        self.assertNotIn("nurse", str(failed))  # messages are logged
        columns[0]["default"] = 40
        columns[1]["values"] += failed.words["work"]
        self.assertEqual(datasets.register("reported", None, columns=columns, **declared).records, 63)
        with self.assertRaisesRegex(TypeError, "format"):
            datasets.register("reported", None, columns=columns, epsilon=1, delta=1e-5)

    def test_a_bad_cell_is_named_and_can_be_corrected(self):
        datasets = kit.client().datasets
        with self.assertRaises(epsilond.ImportFailed) as caught:
            datasets.register("corrected", ROWS + b"old,yes\n", epsilon=1, delta=1e-5, **TABLE)
        self.assertEqual((caught.exception.file, caught.exception.line, caught.exception.column),
                         ("data", 101, 1))
        self.assertIn("line 101", str(caught.exception))
        with self.assertRaises(epsilond.AlreadyExists) as caught:  # a budget was already granted to these people
            datasets.register("corrected", ROWS, public=True, **TABLE)
        self.assertEqual(caught.exception.pointer, "/privacy")
        corrected = datasets.register("corrected", ROWS + b"99,yes\n", epsilon=2, delta=1e-5, **TABLE)
        self.assertEqual(corrected.records, 101)
        self.assertEqual(corrected.budget.data["epsilon"], 2)  # nothing was drawn from the first promise
        with self.assertRaises(epsilond.AlreadyExists):
            datasets.register("corrected", ROWS + b"99,yes\n", epsilon=1, delta=1e-5, **TABLE)

    def test_a_name_that_is_taken_is_refused(self):
        with self.assertRaises(epsilond.AlreadyExists):
            kit.client().datasets.register("digits-test", ROWS, public=True, **TABLE)

    def test_formats_of_two_files_say_so(self):
        shape = {"features": {"shape": [2], "scale": 1}, "classes": 2}
        with self.assertRaisesRegex(TypeError, "features.*labels"):
            kit.client().datasets.register("pair", b"", format="npy", public=True, **shape)

    def test_a_declaration_with_faults_lists_them(self):
        columns = [{"name": "age", "kind": "numeric", "range": [120, 0]}, COLUMNS[1]]
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            kit.client().datasets.register("faulty", ROWS, public=True, format="csv", columns=columns)
        self.assertEqual(caught.exception.pointer, "/columns/0/range")

    def test_datasets_are_listed_and_found(self):
        client = kit.client()
        self.assertIn("digits", [dataset.id for dataset in client.datasets])
        self.assertIn("digits", client.datasets)
        self.assertNotIn("nobody", client.datasets)
        self.assertNotIn(7, client.datasets)
        self.assertEqual(repr(client.datasets["digits-test"]),
                         "digits-test: READY, public, 359 records, classification")


class Budgets(unittest.TestCase):
    def test_a_new_budget_is_whole(self):
        dataset = kit.register_digits(kit.client(), "whole", epsilon=4, delta=1e-5)
        self.assertRegex(repr(dataset.budget), r"^0 % used, guarantee so far epsilon 0 of 4 "
                         r"\(delta 1e-05\), next job at most epsilon 3\.\d+$")

    def test_what_is_spent_and_what_is_held_are_told_apart(self):
        client = kit.client()
        dataset = kit.register_digits(client, "held", epsilon=4, delta=1e-5)
        client.train(dataset, epsilon=1, epochs=1).wait(progress=False)
        running = client.train(dataset, epsilon=2, steps=3_000_000)
        self.addCleanup(running.cancel)
        budget = dataset.budget
        self.assertRegex(repr(budget), r"^\d+ % used, \d+ % held by open jobs, guarantee so far "
                         r"epsilon 1(\.\d+)? of 4 \(delta 1e-05\), next job at most epsilon \d")
        self.assertAlmostEqual(budget.share_left, budget.data["fraction_remaining"])
        self.assertGreater(budget.share_held, budget.share_spent)

    def test_the_largest_epsilon_as_shown_does_fit(self):
        client = kit.client()
        dataset = kit.register_digits(client, "to-the-end", epsilon=1.5, delta=1e-5)
        client.train(dataset, epsilon=1, epochs=2).wait(progress=False)
        with self.assertRaises(epsilond.BudgetExhausted) as caught:
            client.train(dataset, epsilon=1.4, epochs=2)
        shown = float(str(caught.exception).split("at most epsilon ")[1].split(",")[0])
        self.assertLessEqual(shown, caught.exception.largest_epsilon)
        self.assertEqual(client.estimate(dataset, epsilon=shown, epochs=2).fits, "yes")
        client.train(dataset, epsilon=shown, epochs=2).wait(progress=False)
        self.assertLessEqual(dataset.budget.epsilon_spent, 1.5)

    def test_an_exhausted_budget_says_that_nothing_fits(self):
        client = kit.client()
        dataset = kit.register_digits(client, "gone", 600, epsilon=1, delta=1e-5)
        client.train(dataset, budget_fraction=1, epochs=1).wait(progress=False)
        with self.assertRaises(epsilond.BudgetExhausted) as caught:
            client.train(dataset, epsilon=0.5, epochs=1)
        self.assertLess(caught.exception.largest_epsilon, 0.01)
        self.assertEqual(caught.exception.most_steps, 0)
        self.assertRegex(repr(dataset.budget), "^100 % used, .* of 1 ")
        estimate = client.estimate(dataset, epsilon=0.5, epochs=1)
        self.assertEqual((estimate.fits, estimate.jobs_like_this), ("no", 0))
        self.assertRegex(repr(estimate), "^does not fit: epsilon 0.5 at delta 1e-05, ")

    def test_only_a_held_budget_is_a_reason_to_wait(self):
        client = kit.client()
        dataset = kit.register_digits(client, "busy", 700, epsilon=1, delta=1e-5)
        running = client.train(dataset, epsilon=0.9, steps=3_000_000)
        self.addCleanup(running.cancel)
        with self.assertRaisesRegex(epsilond.BudgetHeld, "retry when running jobs have ended"):
            client.train(dataset, epsilon=0.8)
        self.assertEqual(client.estimate(dataset, epsilon=0.8).fits, "held")
        self.assertRegex(repr(client.estimate(dataset, epsilon=0.8)), "^does not fit while other jobs")


if __name__ == "__main__":
    unittest.main()
