#!/usr/bin/env python3
"""Uses the dashboard in a real Chromium like a person, from a file to an exhausted budget.

  dashboard.py CHROMIUM EPSILOND [SHOTS]      AXE: the path of axe-core's axe.min.js, or empty

Each page must have no message on the console, no refusal of the content security policy, no request
to anything but the daemon, and no horizontal scrolling at 390 pixels, in light and dark."""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

import yaml

import forms
import login
from chromium import Chromium
from daemon import Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "../../deploy/digits/digits.csv.gz")
DIGITS_SCHEMA = {"format": "csv", "task": "classification", "header": False,
                 "columns": [{"name": f"cell{i}", "kind": "numeric", "range": [0, 16]} for i in range(64)]
                 + [{"name": "digit", "kind": "label", "values": [str(i) for i in range(10)]}]}
SLOW = {"input": {"shape": [8, 8, 1]}, "layers": [  # few parameters, so little noise hides them, and much work
    {"type": "conv2d", "out": 16, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "kernel": 2},
    {"type": "flatten"}, {"type": "dense", "out": 10}]}
RECEIVER = os.path.join(HERE, "../e2e/receiver.py")
STATIC_MAX, CONTRACT_MAX, NODES_MAX = 64 << 10, 100000, 3000
PICTURES, DOCUMENTED, DOCUMENTED_HEIGHT = "build/browser", ("datasets-light", "running-dark", "exhausted-light", "adult-job-light"), 960
failures = []


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"  FAILED: {message}")


class Walk:
    def __init__(self, daemon, browser, folder, shots, axe):
        self.daemon, self.browser, self.folder = daemon, browser, folder
        self.shots, self.axe = shots, axe

    def look_at(self, name, again=False):
        """Checks the properties that every page must have on the current page, and takes pictures. again: the
        page was checked in light and dark before and now shows more, which is checked in light only."""
        browser = self.browser
        schemes = ("light",) if again else ("light", "dark")
        for scheme in schemes:
            browser.scheme(scheme)
            self.shoot(f"{name}-{scheme}")
        browser.scheme("light")
        browser.resize(390, 844)
        browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))")
        wide = browser.run("document.documentElement.scrollWidth")
        check(wide <= 390, f"{name}: {wide} pixels wide at 390")
        self.shoot(f"{name}-390")
        browser.resize(1320)
        size = browser.run("""[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
            .filter((e) => /^\\/(ui\\/|docs$)(?!.*openapi)/.test(new URL(e.name).pathname)).reduce((sum, e) => sum + e.encodedBodySize, 0)""")
        check(0 < size <= STATIC_MAX, f"{name}: {size} bytes of files")
        told = browser.run("""performance.getEntriesByType('resource')
            .filter((e) => /\\/ui\\/.*\\/openapi.yaml$/.test(e.name)).reduce((sum, e) => sum + e.encodedBodySize, 0)""")
        check(told <= CONTRACT_MAX, f"{name}: {told} bytes of the contract, which is what /docs shows")
        browser.run("performance.clearResourceTimings()")  # so that a page reached by a link is counted separately
        nodes = browser.run("document.querySelectorAll('*').length")
        check(nodes <= NODES_MAX, f"{name}: {nodes} elements")
        check(browser.run("document.querySelectorAll('main h1').length") == 1, f"{name}: one heading")
        order = browser.run("""[...document.querySelectorAll('main h1, main h2, main h3')].map((e) => +e.tagName[1])""")
        check(all(b <= a + 1 for a, b in zip(order, order[1:])), f"{name}: headings {order}")
        nameless = browser.run("""[...document.querySelectorAll('a, button, input, select, svg[role=img]')].filter((e) =>
            !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title || e.placeholder)).map((e) => e.outerHTML)""")
        check(nameless == [], f"{name}: nothing to be called by: {nameless}")
        styled = browser.run("[...document.querySelectorAll('main [style]')].filter((e) => !e.closest('.plot')).length")
        check(styled == 0, f"{name}: {styled} inline styles")
        ids = browser.run("[...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) != i)")
        check(ids == [], f"{name}: ids that stand twice: {ids}")
        browser.scheme("light", forced="active")
        plain = browser.run("""[...document.querySelectorAll('main .gauge, main .badge, main .notice, [aria-pressed=true], nav [aria-current]')]
            .filter((e) => e.checkVisibility() && ['borderStyle', 'outlineStyle'].every((edge) => getComputedStyle(e)[edge] == 'none')).map((e) => e.outerHTML.slice(0, 80))""")
        check(plain == [], f"{name}: told apart by a colour that is not there: {plain}")
        browser.scheme("light")
        self.ask_axe(name, schemes)
        for fault in browser.faults:
            check(False, f"{name}: {fault}")
        browser.faults.clear()
        print(f"  {name}: {size} bytes of files, {nodes} elements")

    def ask_axe(self, name, schemes):
        """Returns the violations that axe-core finds, of WCAG 2.2 AA and best practice."""
        if not self.axe:
            return
        if not self.browser.run("typeof axe == 'object'"):
            self.browser.run(self.axe + ";0")
        for scheme in schemes:
            self.browser.scheme(scheme)
            found = self.browser.run("""axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',
                'best-practice']}).then((all) => all.violations.flatMap((one) => one.nodes.map((node) => one.id + ' ' + node.html.slice(0, 160))))""")
            for finding in found:
                check(False, f"{name}, {scheme}: axe: {finding}")
        self.browser.scheme("light")

    def shoot(self, name):
        """Writes every picture into a folder, and those of the documentation into SHOTS too."""
        os.makedirs(PICTURES, exist_ok=True)
        self.browser.shoot(os.path.join(PICTURES, f"{name}.png"))
        if self.shots and name in DOCUMENTED:
            self.browser.shoot(os.path.join(self.shots, f"dashboard-{name}.png"), DOCUMENTED_HEIGHT)

    # --- the pages ---

    def register(self):
        browser = self.browser
        path = os.path.join(self.folder, "shops.csv")
        with open(path, "w", newline="", encoding="ascii") as file:
            writer = csv.writer(file)
            writer.writerow(["age", "visits", "city", "buys"])
            for i in range(3000):
                age = 18 + i * 7 % 70
                writer.writerow([age, i * 13 % 40, ["Bonn", "Kiel", "Ulm"][i % 3], "yes" if age + i * 13 % 40 > 70 else "no"])
        browser.go("/ui/register")
        browser.attach("input[type=file]", path)
        browser.await_text("shops.csv")
        check(browser.run("document.getElementById('/id').value") == "shops", "the name is taken from the file's")
        check(browser.run("[...document.querySelectorAll('.columns select')].map((e) => e.value).join()")
              == "numeric,numeric,categorical,label", "the kinds are guessed")
        check(browser.run("[...document.querySelectorAll('.columns input:not([type=checkbox])')].every((e) => e.value === '')"),
              "ranges and values begin empty")
        check(browser.run("!document.querySelector('input[name=privacy]:checked')"), "privacy has no default")
        self.look_at("register")
        for column, low, high in ((0, "0", "120"), (1, "0", "50")):
            browser.type(f"[id='/columns/{column}/low']", low)
            browser.type(f"[id='/columns/{column}/high']", high)
        browser.type("[id='/columns/2/values']", "Bonn")
        browser.click("input[value=private]")
        browser.click("input[name=holdout][value=none]")
        browser.click("#state")
        browser.click("#register")
        browser.await_that("document.querySelector('.wrong')", "the fault of a label without values")
        browser.type("[id='/columns/3/values']", "no")
        browser.click("#register")
        browser.await_text("Enter at least 2.")
        browser.expect_faults("400 (Bad Request)")
        browser.type("[id='/columns/3/values']", "no, yes")
        browser.click("#register")
        browser.await_text("was not imported")
        browser.expect_faults("422 (Unprocessable")
        browser.await_text("confirm that these words may be public")
        check(browser.run("document.querySelector('.faults').textContent").count("line") == 10, "cells are shown next to their column")
        self.look_at("report")
        browser.click("#add-words")
        browser.await_that("location.pathname == '/ui/datasets/shops'", "the page of the new dataset")
        browser.await_text("100.0 % left")
        dataset = self.daemon.get("/v1/datasets/shops")
        check(dataset["columns"][2]["values"] == ["Bonn", "Kiel", "Ulm"], "the words that were confirmed are added")
        asked = browser.run("performance.getEntriesByType('resource').map(({name}) => name).filter((name) => name.includes('/v1/')).join()")
        check(":import" in asked and "/files/" not in asked, "the file is imported again without being sent")
        check(dataset["columns"][0]["range"] == [0, 120] and dataset["records"] == 3000, "what was declared is registered")

    def fetch(self):
        """The daemon fetches a file from a URL: at first it does not exist, then it does."""
        browser = self.browser
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, RECEIVER], stdin=pipe, stdout=pipe, text=True) as receiver:
            place = f"http://127.0.0.1:{receiver.stdout.readline().strip()}/files/digits"
            browser.go("/ui/register")
            browser.choose("[id='/format']", "libsvm")
            browser.type("[id='/id']", "fetched")
            browser.type("[id='/classes']", "2")
            browser.type("[id='/features/count']", "2")
            browser.type("[id='/features/range/0']", "0")
            browser.type("[id='/features/range/1']", "1")
            browser.click("details summary")
            browser.type("#url-data", place)
            browser.click("input[value=public]")
            browser.click("#state")
            browser.click("#register")
            browser.await_text("The file was not fetched: refused (404)")
            urllib.request.urlopen(urllib.request.Request(place, method="PUT", data=b"1 1:0.5\n0 2:1\n")).close()
            browser.click("#register")
            browser.await_that("location.pathname == '/ui/datasets/fetched'", "the page of the fetched dataset")
            receiver.stdin.close()
        check(self.daemon.get("/v1/datasets/fetched")["records"] == 2, "what was fetched is imported")

    def train(self):
        browser = self.browser
        browser.go("/ui/train?dataset=digits")
        browser.await_text("It fits.")
        check(browser.run("document.getElementById('/evaluation').value") == "digits-public", "a public twin is offered")
        browser.type("[id='/privacy/epsilon']", "0.8")
        browser.await_that("document.getElementById('submit').innerText.includes('0.80') && !document.getElementById('submit').disabled")
        browser.type("[id='/batch_size']", "0")
        browser.await_that("document.getElementById('/batch_size').getAttribute('aria-invalid')", "the fault at its field")
        browser.expect_faults("400 (Bad Request)")
        browser.type("[id='/batch_size']", "")
        browser.await_text("It fits.")
        browser.choose("[id='/algorithm/name']", "dcsgd_e")
        browser.await_that("document.getElementById('/algorithm/bins') || document.querySelectorAll('details .field').length > 1", "the parameters of dcsgd_e")
        browser.await_text("It fits.")
        self.look_at("train")
        browser.click("#submit")
        browser.await_that("location.pathname.startsWith('/ui/jobs/job_')", "the job's page")
        browser.await_text("Succeeded")
        browser.await_text("Certificate")
        browser.await_that("document.querySelector('ui-chart canvas')", "a chart")
        browser.run("document.querySelector('.plot').focus()")
        browser.press("ArrowRight", 39)
        browser.await_that("/^step [0-9,]+: accuracy [0-9.]+ %$/.test(document.querySelector('.spoken').innerText)", "the chart speaks")
        self.look_at("job")

    def statistics(self):
        browser = self.browser
        browser.go("/ui/datasets/shops")
        browser.click_text("Statistics")
        browser.await_that("location.pathname == '/ui/statistics'", "the page of statistics")
        browser.await_text("Nothing yet")
        browser.click("#add")
        browser.await_text("It fits.")
        browser.choose("#kind", "mean")
        browser.click("#add")
        browser.await_that("document.querySelectorAll('.entries li').length == 2", "two statistics")
        browser.await_text("It fits.")
        browser.choose("#column", "age")
        browser.choose("#kind", "quantiles")
        browser.type("#shares", "0.1 0.9")
        browser.click("#add")
        browser.await_that("document.querySelectorAll('.entries li').length == 3", "quantiles")
        browser.type("#epsilon", "0.05")
        browser.await_that("document.getElementById('spend').innerText.includes('0.05') && !document.getElementById('spend').disabled")
        browser.click("#spend")
        browser.await_text("answered")
        browser.await_that("document.querySelectorAll('.gauge').length >= 10", "a bar for each bin")
        browser.await_text("Mean of")
        browser.await_text("90 % lie below")
        self.look_at("statistics")
        asked = self.daemon.get("/v1/statistics?dataset=shops")["statistics"]
        check(len(asked) == 1 and asked[0]["state"] == "SUCCEEDED", "they were asked for once")

    def watch_and_cancel(self):
        browser = self.browser
        job = self.daemon.post("/v1/jobs", {
            "dataset": "digits", "evaluation": "digits-public", "model": SLOW, "algorithm": {"name": "dcsgd_e"},
            "optimizer": {"name": "sgd", "learning_rate": 0.15}, "batch_size": 1024, "epochs": 4000, "privacy": {"epsilon": 1.2}})
        browser.go(f"/ui/jobs/{job['id']}")
        browser.await_text("Running")
        browser.await_that("parseInt(document.title) >= 10", "progress in the title")
        browser.await_that("document.querySelectorAll('ui-chart canvas').length == 2", "accuracy and clip norm")
        self.look_at("running")
        browser.go("/ui/jobs")
        browser.await_text("Running")
        self.look_at("jobs")
        browser.go(f"/ui/jobs/{job['id']}")
        browser.click_text("Cancel")
        browser.await_text("stays spent")
        browser.click_text("Cancel it")
        browser.await_text("Cancelled")
        check(self.daemon.get(f"/v1/jobs/{job['id']}")["state"] == "CANCELLED", "the job is cancelled")

    def exhaust(self):
        browser = self.browser
        for epsilon in (0.6, 0.3, 0.9):
            self.daemon.run_job({"dataset": "digits", "evaluation": "digits-public", "model": {"preset": "linear"},
                                 "algorithm": {"name": "dpsgd"}, "privacy": {"epsilon": epsilon}})
        browser.go("/ui/datasets/digits")
        browser.await_text("What is public")
        browser.await_that("document.querySelectorAll('.entries li').length == 10", "the newest entries")
        browser.run("[...document.querySelectorAll('summary')].find((e) => e.innerText == 'Spending at each Rényi order').click()")
        browser.await_that("document.querySelectorAll('ui-chart canvas').length == 2", "the curves and the guarantee")
        self.look_at("dataset")
        browser.go("/ui/train?dataset=digits")
        browser.await_that("document.getElementById('verdict')", "a verdict")
        browser.type("[id='/privacy/epsilon']", "2")
        browser.await_text("It does not fit.")
        check(browser.run("document.getElementById('submit').disabled"), "what does not fit cannot be submitted")
        self.look_at("exhausted")
        browser.run("document.querySelector('#verdict button').click()")
        browser.await_text("It fits.")
        browser.click("#submit")
        browser.await_that("location.pathname.startsWith('/ui/jobs/job_')", "the last job's page")
        browser.await_text("Succeeded")

    def names(self):
        browser = self.browser
        job = self.daemon.get("/v1/jobs?dataset=digits&state=SUCCEEDED&page_size=1")["jobs"][0]
        browser.go(f"/ui/jobs/{job['id']}")
        browser.await_text("Rename")
        browser.click_text("Rename")
        browser.type("#caption-name", "Baseline of March")
        browser.type("#caption-tags", "no tag at all")
        browser.click_text("Save")
        browser.await_text("is no tag")
        browser.type("#caption-tags", "team:north")
        self.look_at("rename", again=True)
        self.daemon.patch(f"/v1/jobs/{job['id']}", {"tags": {"run": "7"}})
        browser.click_text("Save")
        browser.await_text("Another user has renamed it")
        browser.click_text("Leave it")
        browser.go(f"/ui/jobs/{job['id']}")
        browser.await_text("run: 7")
        browser.click_text("Rename")
        browser.type("#caption-name", "Baseline of March")
        browser.type("#caption-tags", "team:north")
        browser.click_text("Save")
        browser.await_that("document.querySelector('h1').innerText == 'Baseline of March'", "the new name")
        named = self.daemon.get(f"/v1/jobs/{job['id']}")
        check(named["display_name"] == "Baseline of March" and named["tags"] == {"team": "north"}, f"the job is called {named['tags']}")
        browser.run("document.querySelector('.head a.tag').click()")
        browser.await_that("location.search == '?tag=team%3Anorth' && document.querySelectorAll('tbody tr').length == 1", "the jobs with the tag")
        browser.go("/ui/jobs")
        browser.await_that("document.querySelectorAll('tbody tr').length > 3", "all jobs")
        browser.type("input[type=search]", "OF MARCH")
        browser.await_that("document.querySelectorAll('tbody tr').length == 1", "the job that was looked for")
        browser.go("/ui/datasets/digits")
        browser.await_text("Rename")
        browser.click_text("Rename")
        browser.type("#caption-name", "Handwritten digits")
        browser.click_text("Save")
        browser.await_that("document.querySelector('h1').innerText == 'Handwritten digits'", "the dataset's new name")
        browser.click_text("Delete content")
        browser.await_text("was spent stay")
        browser.click_text("Keep it")
        browser.await_that("!document.querySelector('[role=alertdialog]')", "the question is gone")
        check(self.daemon.get("/v1/datasets/digits")["state"] == "READY", "nothing is deleted before the answer")

    def delete(self):
        browser = self.browser
        jobs = self.daemon.get("/v1/jobs?dataset=digits&state=SUCCEEDED")["jobs"]
        spent = self.daemon.get("/v1/datasets/digits/budget")
        browser.go(f"/ui/jobs/{jobs[0]['id']}")
        browser.await_text("Delete model")
        browser.run("[...document.querySelectorAll('summary')].find((e) => e.innerText.startsWith('Events of this job')).click()")
        browser.await_text("steps authorised")
        check(browser.run("document.querySelector('.log li').innerText.includes('succeeded')"), "the log ends with the end")
        self.look_at("log", again=True)
        browser.click_text("Delete model")
        browser.await_text("stays spent, and its entries stay in the ledger")
        browser.click_text("Delete it")
        browser.await_text("its model was deleted")
        check(self.daemon.get(f"/v1/jobs/{jobs[0]['id']}")["model"] is None, "the model is deleted and its job is not")
        browser.go(f"/ui/jobs/{jobs[1]['id']}")
        browser.await_text("Delete model")
        browser.run("[...document.querySelectorAll('.actions button')].find((e) => e.innerText == 'Delete').click()")
        browser.await_text("Its model and its history are deleted for good")
        self.look_at("delete", again=True)
        browser.click_text("Delete it")
        browser.await_that("location.pathname == '/ui/jobs'", "the list of jobs")
        left = [job["id"] for job in self.daemon.get("/v1/jobs")["jobs"]]
        check(jobs[1]["id"] not in left and jobs[0]["id"] in left, "one job is deleted")
        check(self.daemon.get("/v1/datasets/digits/budget") == spent, "what was spent stays spent")

    def the_rest(self):
        browser = self.browser
        browser.go("/ui/compare?dataset=digits")
        browser.await_that("document.querySelectorAll('tbody tr').length >= 5", "models to compare")
        browser.click("tbody input[type=checkbox]")
        browser.await_text("Accuracy on public data")
        self.look_at("compare")
        browser.go("/")
        browser.await_that("location.pathname == '/ui/'", "the way from the root")
        browser.await_text("digits-public")
        first = browser.run("document.querySelector('tbody .name').innerText")
        check(first == "Handwritten digits", f"the dataset with least left comes first, not {first}")
        self.look_at("datasets")
        browser.press("Tab", 9)
        check(browser.run("document.activeElement.className") == "skip", "Tab leads to the skip link")
        browser.type("input[type=search]", "sho")
        browser.await_that("document.querySelectorAll('tbody tr').length == 1", "the dataset that was looked for")
        browser.type("input[type=search]", "")
        browser.await_that("document.querySelectorAll('tbody tr').length == 3", "all datasets again")
        browser.click_text("Jobs")
        browser.await_that("location.pathname == '/ui/jobs' && document.activeElement.id == 'main'", "focus on the new page")
        browser.run("history.back()")
        browser.await_that("location.pathname == '/ui/' && document.querySelector('h1')?.innerText == 'Datasets'", "the way back")
        browser.click(".theme")
        check(browser.run("document.documentElement.dataset.theme") == "dark", "the theme turns")
        browser.go("/ui/")
        check(browser.run("document.documentElement.dataset.theme") == "dark", "and stays")
        browser.run("localStorage.clear()")
        browser.go("/ui/datasets/nothing")
        browser.await_text("There is no dataset “nothing”")
        browser.expect_faults("404 (Not Found)")
        check(browser.faults == [], f"at the end: {browser.faults}")
        check(not [url for url in browser.requests if url.endswith(".map")], "no source map is asked for")

    def docs(self):
        """Finds every route of openapi.yaml on the API's page, by a word and by its address."""
        browser = self.browser
        with open(os.path.join(HERE, "../../openapi.yaml"), encoding="utf-8") as file:
            contract = yaml.load(file, yaml.CSafeLoader)
        browser.go("/docs")
        browser.await_that("document.querySelector('.operation')", "the routes")
        version = browser.run("document.querySelector('script[type=module]').src.split('/').at(-2)")
        seen = browser.run(f"""Promise.all([import('/ui/{version}/yaml.js'), fetch('/openapi.yaml').then((answer) => answer.text())])
            .then(([yaml, text]) => JSON.stringify(yaml.parse(text)))""")
        check(json.loads(seen) == json.loads(json.dumps(contract)), "the page reads the document as PyYAML does")
        for text in ("a: >-\n  one\n  two\n\n\n  three\n\nb:\n- >\n  four\n  five\n- |\n  six\n   seven\n- |-\n  eight\n", "a: >\n  one\n   two\n"):
            read = browser.run(f"import('/ui/{version}/yaml.js').then((yaml) => {{ try {{ return JSON.stringify(yaml.parse({json.dumps(text)})) }} catch (error) {{ return error.message }} }})")
            check(read == "line 4: an indented line in a text behind >" or json.loads(read) == yaml.safe_load(text), f"texts behind > and |: {read}")
        routes = [method for path in contract["paths"].values() for method in path if method in ("get", "put", "post", "patch", "delete")]
        check(browser.run("document.querySelectorAll('.operation').length") == len(routes), "every route is there")
        self.look_at("docs")
        browser.run("location.hash = 'job_create'")
        browser.await_that("document.getElementById('job_create').open && document.activeElement.closest('#job_create')", "the route of the address")
        browser.await_text("Idempotency-Key")
        browser.run("[...document.querySelectorAll('#job_create details.within')].forEach((part) => { part.open = true })")
        browser.await_that("document.querySelector('#job_create pre')?.innerText.includes('mnist')", "an example")
        browser.run("[...document.querySelectorAll('.operation')].forEach((part) => { part.open = part.id == 'job_create' || part.id == 'dataset_get' })")
        self.look_at("docs-open", again=True)
        browser.type("input[type=search]", "job_cancel")
        browser.await_that("[...document.querySelectorAll('.operation')].filter((part) => part.checkVisibility()).map((part) => part.id).join() == 'job_cancel'", "the route that was looked for")
        browser.type("input[type=search]", "")

    def audit(self):
        browser = self.browser
        browser.go("/ui/audit")
        browser.await_that("document.querySelectorAll('tbody tr').length >= 10", "the newest acts")
        self.look_at("audit")
        browser.choose("[aria-label='Act']", "job.cancel")
        browser.await_that("location.search == '?action=job.cancel' && document.querySelectorAll('tbody tr').length == 1", "the one cancellation")
        browser.choose("[aria-label='Act']", "")
        browser.choose("[aria-label='Result']", "error")
        browser.await_text("invalid argument")
        browser.choose("[aria-label='Result']", "")
        browser.await_that("document.querySelectorAll('tbody tr').length >= 10", "all acts again")
        browser.run("""(() => { const make = URL.createObjectURL.bind(URL);
            URL.createObjectURL = (blob) => (blob.text().then((text) => { window.saved = text }), make(blob)); })()""")
        browser.click_text("Export")
        browser.await_that("window.saved", "the lines")
        rows = [json.loads(line) for line in browser.run("window.saved").splitlines()]
        check([row["seq"] for row in rows] == list(range(1, len(rows) + 1)), "the export has every row, in order")
        check(rows == self.daemon.get("/v1/audit?page_size=1000")["acts"], "and they are the rows of the trail")

    def key(self, owner, role, project="default"):
        """Creates a key on the host. When there is a key, the daemon requires keys."""
        made = subprocess.run([self.daemon.binary, "key", "create", "--owner", owner, "--role", role, "--project", project,
                               "--data-dir", os.path.join(self.daemon.directory, "data")], check=True, capture_output=True, text=True)
        return {"Authorization": "Bearer " + made.stdout.split()[0]}

    def hidden(self):
        """A hidden tab must send no requests."""
        browser = self.browser
        browser.go("/ui/jobs")
        browser.await_that("document.querySelector('tbody')", "the jobs")
        browser.run("""Object.defineProperty(document, 'hidden', {get: () => true, configurable: true}),
            document.dispatchEvent(new Event('visibilitychange'))""")
        browser.run("new Promise((done) => setTimeout(done, 500))")
        browser.requests.clear()
        browser.run("new Promise((done) => setTimeout(done, 17000))")
        check(browser.requests == [], f"a hidden tab asks: {browser.requests}")
        browser.run("delete document.hidden, document.dispatchEvent(new Event('visibilitychange'))")
        browser.await_that("performance.getEntriesByType('resource').at(-1).startTime > performance.now() - 2000", "and asks again when it is shown")


def digits(daemon):
    with gzip.open(DIGITS, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    daemon.register("digits", DIGITS_SCHEMA, {"data": b"".join(line for i, line in enumerate(lines) if i % 5)}, {"epsilon": 2, "delta": 1e-5})
    daemon.register("digits-public", DIGITS_SCHEMA, {"data": b"".join(lines[::5])}, "public")


def read_axe():
    """Returns the text of axe-core, or None if it could not be fetched."""
    if not os.environ.get("AXE"):
        return None
    with open(os.environ["AXE"], encoding="utf-8") as file:
        return file.read()


def main():
    chromium, epsilond, *shots = sys.argv[1:]
    axe = read_axe()
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond, "--outbound-allow", "127.0.0.1") as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk = Walk(daemon, browser, folder, shots[0] if shots else None, axe)
        digits(daemon)
        for part in (walk.register, walk.train, walk.statistics, walk.watch_and_cancel, walk.exhaust, walk.names, walk.audit, walk.the_rest, walk.delete, walk.docs, walk.fetch, walk.hidden):
            part()
        forms.walk(walk, check, daemon, browser, folder)
        login.approve(walk, check, daemon, browser, DIGITS_SCHEMA)
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond, "--head-file", os.path.join(folder, "head")) as daemon:
        login.freeze(daemon, folder)
        with Chromium(chromium, daemon.base) as browser:
            browser.resize(1320)
            browser.scheme("light")
            login.walk(Walk(daemon, browser, folder, None, axe), check, daemon, browser)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
