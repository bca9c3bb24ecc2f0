"""Jobs: submitted, followed, interrupted, cancelled; and estimates."""

import contextlib
import fcntl
import hashlib
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import urllib.request

import epsilond
from epsilond._events import events

import kit



def long_job(test):
    """A job of minutes, cancelled when the test ends."""
    job = kit.client().train("digits", epsilon=0.1, steps=5_000_000)
    test.addCleanup(lambda: job.refresh().ended or job.cancel())
    return job


class Waiting(unittest.TestCase):
    def test_a_job_is_trained_followed_and_has_a_model(self):
        client = kit.client()
        job = client.train("digits", "linear", epsilon=0.5, evaluation="digits-test", epochs=5)
        self.assertIs(job.wait(), job)
        self.assertEqual(job.state, "SUCCEEDED")
        self.assertLessEqual(job.epsilon_spent, 0.5)
        self.assertRegex(repr(job), r"^job_\w{26} on digits: SUCCEEDED, \d+ of \d+ steps, "
                         r"accuracy 0\.\d+, epsilon 0\.5$")
        self.assertEqual(job.model.certificate["job"], job.id)
        self.assertEqual(client.jobs[job.id].data, job.data)

    def test_an_average_and_weights_of_classes_are_asked_for(self):
        client = kit.client()
        job = client.train("digits", epsilon=0.1, epochs=1, averaging="tail",
                           class_weights={"9": 2}).wait()
        self.assertEqual(job.data["averaging"], {"kind": "tail", "share": 0.5})
        self.assertEqual(job.model.certificate["class_weights"], [1] * 9 + [2])
        with self.assertRaisesRegex(ValueError, "^name a class of the dataset: 'ten'"):
            client.train("digits", epsilon=0.1, class_weights={"ten": 2})
        job = client.train("digits", epsilon=0.1, epochs=1, averaging={"kind": "ema", "decay": 0.9})
        self.assertEqual(job.wait().model.certificate["averaging"], {"kind": "ema", "decay": 0.9})

    @kit.lacks("numpy")
    def test_means_and_deviations_are_bought_once(self):
        client = kit.client()
        kit.register_digits(client, "standardised", 1100, epsilon=8, delta=1e-5)
        asked = {"epsilon": 1, "epochs": 5, "standardise": {"epsilon": 0.5}}
        self.assertEqual(client.estimate("standardised", **asked).standardise["epsilon"], 0.5)
        self.assertIn("epsilon 0.5 more for means and deviations", repr(client.estimate("standardised", **asked)))
        first, second = (client.train("standardised", **asked).wait() for _ in range(2))
        self.assertEqual(first.data["standardise"]["epsilon"], 0.5)
        self.assertNotIn("means", repr(client.estimate("standardised", **asked)))
        self.assertNotIn("epsilon", second.data["standardise"])
        self.assertEqual(first.data["standardise"]["statistics"], second.data["standardise"]["statistics"])
        rows, _ = kit.digits_rows()
        self.assertEqual(list(first.model.as_sklearn().predict(rows)), first.model.predict(rows))

    def test_quality_is_measured_on_what_is_held_out(self):
        client = kit.client()
        kit.register_digits(client, "divided", 1200, epsilon=8, delta=1e-5, holdout=0.25)
        asked = {"epsilon": 2, "evaluation": epsilond.holdout(epsilon=2)}
        estimate = client.estimate("divided", **asked)
        self.assertEqual(estimate.measurement["records"], 300)
        job = client.train("divided", **asked).wait()
        self.assertEqual(job.quality["records"], 300)
        accuracy = job.quality["accuracy"]
        self.assertTrue(accuracy["low"] <= accuracy["value"] <= accuracy["high"])
        self.assertIn("accuracy", repr(job))
        self.assertIn("on the holdout", job._repr_html_())
        self.assertEqual(job.model.certificate["quality"], job.quality)
        budget = client.datasets["divided"].budget
        self.assertGreater(budget.holdout.share_spent, 0)
        self.assertNotEqual(budget.holdout.share_spent, budget.share_spent)
        self.assertIsNone(client.datasets["digits"].budget.holdout)
        self.assertIsNone(client.train("divided", epsilon=0.1, epochs=1).wait().quality)

    def test_public_weights_are_uploaded_and_begun_with(self):
        client = kit.client()
        base = client.train("digits-test", algorithm="sgd", epochs=1).wait().model
        with tempfile.TemporaryDirectory() as folder:
            base.save(os.path.join(folder, "base.safetensors"))
            file = client.upload_weights(os.path.join(folder, "base.safetensors"), note="a page")
        self.assertEqual((file["sha256"], file["note"]), (base.data["sha256"], "a page"))
        job = client.train("digits", {"preset": "linear", "weights": file["id"]}, epsilon=0.1, epochs=1)
        ancestors = job.wait().model.certificate["ancestors"]
        self.assertEqual([(one["id"], one["note"]) for one in ancestors], [(file["id"], "a page")])

    def test_the_files_of_a_tokenizer_are_uploaded(self):
        words = b"[UNK]\n[CLS]\n[SEP]\ngood\nbad\n"
        file = kit.client().upload_tokenizer(words, note="five words")
        self.assertEqual((file["kind"], file["size"], file["note"]), ("tokenizer", len(words), "five words"))
        self.assertEqual(file["sha256"], hashlib.sha256(words).hexdigest())

    def test_a_dataset_may_stand_for_its_name(self):
        client = kit.client()
        job = client.train(client.datasets["digits"], epsilon=0.1, epochs=1,
                           evaluation=client.datasets["digits-test"])
        self.assertEqual((job.data["dataset"], job.data["evaluation"]), ("digits", "digits-test"))
        job.wait()

    def test_a_job_is_named_found_renamed_logged_and_deleted(self):
        client = kit.client()
        job = client.train("digits", epsilon=0.1, epochs=1, display_name="Baseline",
                           tags={"team": "north"}).wait()
        self.assertEqual([found.id for found in client.jobs.where(tag="team:north")], [job.id])
        self.assertEqual([found.id for found in client.jobs.where(q="baseLINE")], [job.id])
        self.assertEqual(job.rename("Second", {"team": None, "run": "2"}).data["tags"], {"run": "2"})
        self.assertEqual(job.rename(tags=None).data["display_name"], "Second")
        self.assertEqual([line["state"] for line in job.logs() if line["event"] == "state"],
                         ["QUEUED", "RUNNING", "SUCCEEDED"])
        self.assertEqual(job.model.rename("Kept").data["display_name"], "Kept")
        self.assertEqual(client.datasets["digits"].rename(tags={"a": "b"}).data["tags"], {"a": "b"})
        spent = client.datasets["digits"].budget.data
        with self.assertRaises(epsilond.Problem) as caught:
            job.delete()
        self.assertEqual(caught.exception.code, "job_has_model")
        job.model.delete()
        job.delete()
        with self.assertRaises(epsilond.NotFound):
            job.refresh()
        self.assertEqual(client.datasets["digits"].budget.data, spent)

    def test_the_same_key_is_the_same_job(self):
        client = kit.client()
        told = {"epsilon": 0.1, "epochs": 1, "idempotency_key": "cell 7 of the notebook"}
        first = client.train("digits", **told).wait()
        self.assertEqual(client.train("digits", **told).id, first.id)
        with self.assertRaises(epsilond.InvalidArgument) as caught:
            client.train("digits", **{**told, "epsilon": 0.2})
        self.assertEqual(caught.exception.code, "idempotency_key_reused")

    def test_a_wait_that_takes_too_long_leaves_the_job(self):
        job = long_job(self)
        with self.assertRaisesRegex(TimeoutError, f"^call wait.*cancel.*{job.id} goes on"):
            job.wait(timeout=0.5)
        self.assertFalse(job.refresh().ended)

    def test_an_interrupted_wait_leaves_the_job_and_says_how_to_cancel_it(self):
        job = long_job(self)
        # A shell starts background processes with the signal ignored.
        program = ("import epsilond, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
                   f"epsilond.Client().jobs[{job.id!r}].wait()")
        with kit.Deaf(kit.daemon().base, lost=0) as between:
            waiting = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "EPSILOND_URL": between.url})
            while between.taken < 3:  # the job, the job again, and the request that waits
                time.sleep(0.01)
            waiting.send_signal(signal.SIGINT)
            _, told = waiting.communicate()
        self.assertRegex(told, rf"KeyboardInterrupt: call wait.*cancel\(\) to stop it.*{job.id} goes on without you")
        self.assertFalse(job.refresh().ended)

    def test_a_cancelled_job_says_what_it_cost(self):
        job = long_job(self)
        with self.assertRaisesRegex(ValueError, "^call wait.*no model yet"):
            job.model  # noqa: B018
        self.assertEqual(job.cancel().state, "CANCELLING")
        with self.assertRaisesRegex(epsilond.JobFailed, r"CANCELLED \(user_cancel\).*stays spent") as caught:
            job.wait()
        self.assertIs(caught.exception.job, job)
        with self.assertRaises(epsilond.JobFailed):
            job.model  # noqa: B018

    def test_a_job_that_has_ended_cannot_be_cancelled(self):
        job = kit.client().train("digits", epsilon=0.1, epochs=1).wait()
        with self.assertRaises(epsilond.Conflict) as caught:
            job.cancel()
        self.assertEqual(caught.exception.code, "job_terminal")

    def test_jobs_are_listed_by_dataset_and_state(self):
        client = kit.client()
        dataset = kit.register_digits(client, "listed", 800, epsilon=8, delta=1e-5)
        made = [client.train(dataset, epsilon=0.1, epochs=1).wait().id for _ in range(2)]
        self.assertEqual([job.id for job in client.jobs.where(dataset="listed")], made[::-1])
        self.assertEqual(list(client.jobs.where(dataset="listed", state="FAILED")), [])
        self.assertEqual([job.id for job in client.jobs.where(dataset="listed", order="asc")], made)
        self.assertIn(made[0], [job.id for job in client.jobs])


class Following(unittest.TestCase):
    """wait() follows the job's events, and polls if there are none."""

    def forward(self, request):
        """The daemon's answer, as a service without events would send it."""
        if request.path.endswith("/events"):
            self.refused += 1
            return 404, {"Content-Type": "text/plain"}, b"no such path"
        if "wait=" in request.path:
            self.polls += 1
        asked = urllib.request.Request(kit.daemon().base + request.path, data=request.content or None,
                                       method=request.command, headers={
            name: value for name, value in request.headers.items() if name != "Host"})
        with urllib.request.urlopen(asked) as answer:
            return answer.status, {"Content-Type": answer.headers["Content-Type"]}, answer.read()

    def test_a_wait_is_one_stream(self):
        with kit.Deaf(kit.daemon().base, lost=0) as between:
            job = epsilond.Client(between.url).train("digits", epsilon=0.1, steps=3000).wait()
            self.assertEqual(job.state, "SUCCEEDED")
            self.assertEqual(job.data, kit.client().jobs[job.id].data)
            self.assertEqual(between.taken, 4)  # submitted; fetched; followed; fetched at its end

    def test_a_service_without_events_is_polled(self):
        self.refused = self.polls = 0
        with kit.Fake(self.forward) as older:
            job = epsilond.Client(older.url).train("digits", epsilon=0.1, epochs=1).wait()
        self.assertEqual((job.state, self.refused), ("SUCCEEDED", 1))
        self.assertGreaterEqual(self.polls, 1)

    def test_what_is_read_of_a_stream(self):
        lines = (b"retry: 3000\n\n", b"event: state\n", b'data: {"id":1}\n', b"id: a-1\n", b"\n", b":\n", b"\n",
                 b"event: end\r\n", b"data:[1,\n", b"data: 2]\n", b"\n", b"event: cut off\n")
        self.assertEqual(list(events(line for piece in lines for line in piece.splitlines(True))),
                         [("state", {"id": 1}), None, ("end", [1, 2])])


class Watching(unittest.TestCase):
    def watch(self, *arguments):
        """The terminal output while wait() waits for a job."""
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
        program = ("import sys\nfor name in sys.argv[1:]: sys.modules[name] = None\n"
                   "import epsilond\nc = epsilond.Client()\n"
                   "c.train('digits', epsilon=0.3, steps=500, evaluation='digits-test').wait()\n")
        watcher = subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=far, stdout=far,
                                   env={**os.environ, "EPSILOND_URL": kit.daemon().base})
        os.close(far)
        seen = b""
        try:
            while piece := os.read(near, 1 << 16):
                seen += piece
        except OSError:
            pass  # this is how a terminal signals its end
        os.close(near)
        self.assertEqual(watcher.wait(), 0, seen)
        return seen.decode()

    def test_a_terminal_without_tqdm_has_one_line(self):
        seen = self.watch("tqdm", "tqdm.auto")
        self.assertRegex(seen, r"\r100 % \| 500/500 \| .*accuracy 0\.\d+, epsilon 0\.3")
        self.assertEqual(seen.count("\n"), 1)

    @kit.lacks("tqdm")
    def test_tqdm_draws_a_bar(self):
        self.assertRegex(self.watch(), r"100 %\|\S+\| 500/500 \[.*accuracy=0\.\d+, epsilon=0\.3\]")

    @kit.lacks("nbclient", "ipykernel")
    def test_a_notebook_has_one_bar(self):
        import nbclient
        import nbformat

        cell = ("import epsilond\nepsilond.Client().train('digits', epsilon=0.3, steps=500, "
                "evaluation='digits-test').wait()\nNone")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
        nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute(
            env={**os.environ, "EPSILOND_URL": kit.daemon().base})
        (output,) = notebook.cells[0].outputs  # each update replaced the last one
        self.assertRegex(output["data"]["text/html"], r'<progress value="500" max="500">.*100 %, 500/500, accuracy 0')

    def test_a_pipe_gets_nothing(self):
        program = "import epsilond; epsilond.Client().train('digits', epsilon=0.1, epochs=1, " \
                  "evaluation='digits-test').wait()"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True,
                              env={**os.environ, "EPSILOND_URL": kit.daemon().base})
        self.assertEqual((done.stdout, done.stderr), (b"", b""))


class Estimating(unittest.TestCase):
    def test_an_estimate_says_what_a_job_would_cost_and_how_many_fit(self):
        client = kit.client()
        dataset = kit.register_digits(client, "estimated", 900, epsilon=3, delta=1e-5)
        estimate = client.estimate(dataset, "linear", epsilon=1, epochs=2)
        self.assertRegex(repr(estimate), r"^fits: epsilon 1 at delta 1e-05, \d+ % of the budget; \d+ steps of about 256 records, "
                         r"noise multiplier [\d.]+; jobs like this that fit: \d+$")
        count = 0
        while client.estimate(dataset, "linear", epsilon=1, epochs=2).fits == "yes":
            client.train(dataset, "linear", epsilon=1, epochs=2).wait()
            count += 1
        self.assertEqual(estimate.jobs_like_this, count)
        self.assertEqual(client.estimate(dataset, epsilon=1, epochs=2).jobs_like_this, 0)

    def test_several_jobs_have_a_price_together(self):
        tuning = kit.client().estimate("digits", epsilon=0.5, runs=4).tuning
        self.assertEqual(tuning["runs"], 4)
        self.assertTrue(0.5 < tuning["epsilon_composed"] < 2)

    def test_the_service_says_how_it_is(self):
        status = kit.client().status()
        self.assertTrue(status["ready"])
        self.assertLessEqual({"QUEUED", "RUNNING"}, set(status["jobs"]))

    def test_what_is_not_private_costs_nothing(self):
        estimate = kit.client().estimate("digits-test", algorithm="sgd", epochs=2)
        self.assertRegex(repr(estimate), "^costs nothing: ")
        self.assertIsNone(estimate.jobs_like_this)

    def test_algorithms_and_versions_are_told(self):
        self.assertIn("dpsgd", [algorithm["name"] for algorithm in kit.client().algorithms()])
        self.assertEqual(kit.client().version()["api"], "v1")

    def test_numbers_of_numpy_are_numbers(self):
        class Scalar:  # like the integers of numpy
            def tolist(self):
                return 3

        self.assertEqual(kit.client().estimate("digits", epsilon=0.5, steps=Scalar()).steps, 3)


class Sweeping(unittest.TestCase):
    """The price of several jobs must equal their charge in the end."""

    def sweep(self, *arguments, **told):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            jobs = kit.client().sweep(*arguments, **told)
        return jobs, printed.getvalue()

    def test_a_sweep_says_its_price_and_waits_for_a_yes(self):
        dataset = kit.register_digits(kit.client(), "swept", 1000, epsilon=4, delta=1e-5)
        told = {"epsilons": [0.5, 1], "epochs": 2}
        jobs, printed = self.sweep(dataset, **told)
        self.assertEqual(jobs, [])
        self.assertRegex(printed, r"(?s)epsilon 0\.5 +\d+ % of the budget\nepsilon 1 +\d+ % .*"
                         r"together +\d+ %; 0 % used, 0 % held .*they all fit\n.*confirm=True")
        self.assertEqual(list(kit.client().jobs.where(dataset="swept")), [])
        jobs, _ = self.sweep(dataset, **told, confirm=True, idempotency_key="sweep")
        self.assertEqual([job.data["privacy"]["epsilon"] for job in jobs], [0.5, 1])
        again, _ = self.sweep(dataset, **told, confirm=True, idempotency_key="sweep")
        self.assertEqual([job.id for job in again], [job.id for job in jobs])
        for job in jobs:
            job.wait()
        price = int(re.search(r"together +(\d+) %", printed)[1])
        self.assertAlmostEqual(100 * dataset.budget.share_spent, price, delta=1)

    def test_a_search_is_priced_whole_and_names_the_best_run(self):
        told = {"grid": {"/optimizer/learning_rate": [0.0001, 2]}, "epsilon": 0.2, "epochs": 2,
                "optimizer": "sgd", "evaluation": "digits-test"}
        client = kit.client()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertIsNone(client.search("digits", **told))
        self.assertIn("2 runs would cost epsilon 0.", printed.getvalue())
        sweep = client.search("digits", **told, confirm=True, idempotency_key="search")
        again = client.search("digits", **told, confirm=True, idempotency_key="search")
        self.assertEqual(again.id, sweep.id)
        sweep.wait()
        self.assertEqual(sweep.winner.id, sweep.runs[1]["job"])
        self.assertEqual(sweep.model.id, sweep.runs[1]["model"])
        self.assertAlmostEqual(sweep.epsilon_spent, sweep.epsilon, places=9)
        self.assertIn("<- best", repr(sweep))
        self.assertEqual(next(client.past_sweeps("digits")).id, sweep.id)
        self.assertGreater(sweep.epsilon, 0.2)
        self.assertEqual(sweep.cancel().data["states"]["SUCCEEDED"], 2)
        with self.assertRaises(epsilond.Conflict):
            sweep.delete()

    def test_a_sweep_that_does_not_fit_whole_is_not_begun(self):
        dataset = kit.register_digits(kit.client(), "too-much", 1100, epsilon=2, delta=1e-5)
        with self.assertRaisesRegex(ValueError, "none was submitted"):
            self.sweep(dataset, epsilons=[0.5, 1, 1.5, 1.7], epochs=2, confirm=True)
        self.assertEqual(list(kit.client().jobs.where(dataset="too-much")), [])
        self.assertRegex(self.sweep(dataset, epsilons=[1, 1.9], epochs=2)[1], "they do not all fit")
        self.assertEqual(dataset.budget.share_left, 1)

    def test_a_sweep_on_public_data_costs_nothing(self):
        jobs, printed = self.sweep("digits-test", epsilons=[1, 2], epochs=1, confirm=True)
        self.assertEqual(printed, "costs nothing: the data is public\n")
        self.assertEqual([job.wait().state for job in jobs], ["SUCCEEDED"] * 2)

    def test_a_sweep_of_nothing_is_a_mistake(self):
        with self.assertRaisesRegex(ValueError, "at least one"):
            self.sweep("digits", epsilons=[])


if __name__ == "__main__":
    unittest.main()
