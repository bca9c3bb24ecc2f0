#!/usr/bin/env python3
"""The quality of models: in every list with its interval, in the comparison, measured later, and as curves; and what a
model says about the rows of a file.

  quality.py CHROMIUM EPSILOND      AXE: the path of axe-core's axe.min.js, or empty"""

import os
import sys
import tempfile
import time

from chromium import Chromium
from daemon import Daemon
from dashboard import Walk, check, failures, read_axe

COLUMNS = [{"name": "age", "kind": "numeric", "range": [0, 120]}, {"name": "visits", "kind": "numeric", "range": [0, 50]}]
BINARY = {"format": "csv", "header": True, "task": "classification", "columns": [*COLUMNS, {"name": "stays", "kind": "label", "values": ["no", "yes"]}]}
LENGTH = {"format": "csv", "header": True, "task": "regression", "columns": [*COLUMNS, {"name": "days", "kind": "label", "range": [0, 40]}]}
BUDGET = {"epsilon": 8, "delta": 1e-5}
JOB = {"model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "batch_size": 200, "steps": 60, "optimizer": {"name": "sgd", "learning_rate": 2}, "privacy": {"noise_multiplier": 1.5}}


def table(first, count, label, of, youngest=18):
    rows = [(youngest + i * 7 % 70, i * 13 % 40) for i in range(first, first + count)]
    return "".join(f"{age},{visits},{value}\n" for age, visits, value in [("age", "visits", label), *((a, v, of(a, v)) for a, v in rows)]).encode()


def stays(first, count):
    return {"data": table(first, count, "stays", lambda age, visits: "yes" if age + visits > 70 else "no")}


def days(first, count):
    return {"data": table(first, count, "days", lambda age, visits: min(40, age // 4 + visits // 3), youngest=20)}


def prepare(daemon):
    """Registers three datasets and trains models of them; returns their jobs."""
    holdout = {"holdout": 0.25, "holdout_seed": 3}
    daemon.register("patients", {**BINARY, **holdout}, stays(0, 4000), BUDGET)
    daemon.register("volunteers", BINARY, stays(9000, 500), "public")
    daemon.register("nights", {**LENGTH, **holdout}, days(0, 4000), BUDGET)
    look = {"holdout": True, "epsilon": 0.5}
    asked = [{"dataset": "patients", "evaluation": look, "display_name": "looked at"}, {"dataset": "patients", "evaluation": "volunteers", "display_name": "on volunteers"},
             {"dataset": "patients", "display_name": "unmeasured"}, {"dataset": "nights", "evaluation": look, "display_name": "of nights"}]
    return [daemon.run_job({**JOB, **one})[0] for one in asked]


def percent(value):
    return f"{100 * value:.1f} %"


def text_of(browser, words):
    """Returns the text of the first row of a table that contains the words."""
    return browser.run(f"[...document.querySelectorAll('main tr')].map((row) => row.innerText.replace(/\\s+/g, ' ')).find((text) => text.includes({words!r})) ?? ''")


def lists(walk, daemon, browser, jobs):
    """Every list shows the score on the holdout with its interval, or else the one on public data."""
    score = jobs[0]["metrics"]["holdout"]
    shown = f"{percent(score['value'])} {percent(score['low'])} to {percent(score['high'])}, on the holdout"
    public = f"{percent(jobs[1]['metrics']['evaluation']['accuracy'])} on public data"
    for path, name in (("/ui/jobs", "quality-jobs"), ("/ui/models", "quality-models"), ("/ui/compare?dataset=patients", "quality-compare"),
                       (f"/ui/compare?jobs={jobs[0]['id']},{jobs[1]['id']}", "quality-curves")):
        browser.go(path)
        browser.await_that("[...document.querySelectorAll('main tr')].some((row) => row.innerText.includes('looked at'))", f"{path}: the model")
        check(shown in text_of(browser, "looked at"), f"{path}: {text_of(browser, 'looked at')!r} has {shown!r}")
        check(public in text_of(browser, "on volunteers"), f"{path}: {text_of(browser, 'on volunteers')!r} has {public!r}")
        walk.look_at(name)
    check("unmeasured" not in browser.run("document.querySelector('main').innerText"), "the comparison has no unmeasured model")


def sweeps(walk, daemon, browser):
    """The runs of a sweep have the score that each of them paid for."""
    job = {**JOB, "dataset": "patients", "evaluation": {"holdout": True, "epsilon": 0.3}, "privacy": {"noise_multiplier": 4}}
    sweep = daemon.post("/v1/sweeps", {"job": job, "grid": {"/optimizer/learning_rate": [1, 2]}})
    while sweep["state"] == "ACTIVE":
        time.sleep(0.3)
        sweep = daemon.get(f"/v1/sweeps/{sweep['id']}")
    browser.go(f"/ui/sweeps/{sweep['id']}")
    browser.await_text("Run 1")
    for number, run in enumerate(sweep["runs"], 1):
        score = run["holdout"]
        shown = f"{percent(score['value'])} {percent(score['low'])} to {percent(score['high'])}, on the holdout"
        check(shown in text_of(browser, f"Run {number}"), f"the sweep: {text_of(browser, f'Run {number}')!r} has {shown!r}")
    walk.look_at("quality-sweep")
    best = max((run["holdout"] for run in sweep["runs"]), key=lambda score: score["value"])
    check(daemon.get("/v1/sweeps")["sweeps"][0]["winner_metrics"]["holdout"] == best, f"the list has the score of the best run: {best}")
    browser.go("/ui/sweeps")
    browser.await_text("2 runs")
    shown = f"{percent(best['value'])} {percent(best['low'])} to {percent(best['high'])}, on the holdout"
    check(shown in text_of(browser, "2 runs"), f"the list of sweeps: {text_of(browser, '2 runs')!r} has {shown!r}")
    walk.look_at("quality-sweeps")


def evaluate(walk, daemon, browser, jobs):
    """A model is measured later, from the list of models: free on a public dataset, for a price on the holdout."""
    spent = lambda dataset: daemon.get(f"/v1/datasets/{dataset}/budget")["parts"][1]["epsilon_spent"]
    before, model = spent("patients"), jobs[2]["model"]
    browser.go("/ui/models")
    browser.await_that("[...document.querySelectorAll('main a')].some((link) => link.innerText == 'unmeasured')", "the model")
    browser.click_text("unmeasured")
    browser.await_that(f"location.pathname == '/ui/models/{model}'", "the page of the model")
    browser.await_text("Evaluate, for free")
    walk.look_at("evaluate-free")
    browser.click("#measure")
    browser.await_that("document.getElementById('scores')", "the scores")
    scores = daemon.get(f"/v1/evaluations?model={model}")["evaluations"]
    accuracy = daemon.get(f"/v1/evaluations/{scores[0]['id']}")["scores"]["accuracy"]
    check(percent(accuracy) in browser.run("document.getElementById('scores').innerText"), "the exact accuracy is shown")
    check(spent("patients") == before, "a public dataset costs nothing")
    browser.choose("[id='/evaluation']", " holdout")
    browser.type("[id='/evaluation/epsilon']", "100")
    browser.await_that("document.querySelector('[id=\"/evaluation/epsilon\"]').getAttribute('aria-invalid')", "the epsilon that is refused")
    browser.expect_faults("400 (Bad Request)")
    check(browser.run("document.getElementById('measure').disabled"), "without a price there is no look")
    browser.type("[id='/evaluation/epsilon']", "0.6")
    browser.await_text("It fits")
    browser.await_text("Spend ε 0.60 and look")
    check(spent("patients") == before, "the price is shown before anything is charged")
    browser.click("#measure")
    browser.await_that("document.getElementById('threshold')", "the curves")
    check(spent("patients") > before, "the look is charged")
    curves(walk, browser)
    walk.look_at("evaluate-look")
    once = spent("patients")
    browser.go(f"/ui/models/{model}")
    browser.await_that("[...document.querySelectorAll('main td button')].length == 2", "both results")
    browser.click_text("show it")
    browser.await_that("document.getElementById('threshold')", "the curves again")
    check(spent("patients") == once, "showing a result again is free")


def curves(walk, browser):
    """The confusion matrix, the curves, and a threshold to choose."""
    titles = browser.run("[...document.querySelectorAll('main h2')].map((title) => title.innerText)")
    for title in ("Confusion", "Choose a threshold", "Precision and recall", "Calibration"):
        check(title in titles, f"{title} is drawn: {titles}")
    page = browser.run("document.querySelector('main').innerText")
    for words in ("says “no”", "says “yes”", "The model says “yes” if", "of “yes” are found (recall)", "how often it is “yes”", "Precision of “yes”"):
        check(words.lower() in page.lower(), f"classes have their words: {words}")
    check("class 1" not in page.lower(), "no class has only its number")
    tiles = "[...document.querySelectorAll('#threshold .tile')].map((tile) => tile.innerText).join()"
    before = browser.run(tiles)
    browser.run("(() => { const range = document.getElementById('threshold-at'); range.value = 16; range.dispatchEvent(new Event('input')); })()")
    browser.await_that("document.querySelector('#threshold label b').innerText == '0.8'", "another threshold")
    check(browser.run(tiles) != before, "the figures follow the threshold")


def predict_file(walk, daemon, browser, folder, model):
    """A file is predicted on the page of its model: the answer is saved as a file, and faults are named by line."""
    saved = os.path.join(folder, "new people-predictions.csv")
    rows = [f"{18 + i % 60},{i % 40}" for i in range(5000)]

    def choose(name, lines):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(["age,visits", *lines]) + "\n")
        browser.attach("#rows-file", path)

    browser.go(f"/ui/models/{model}")
    browser.await_that("document.getElementById('rows-file')", "the control")
    check(browser.run("document.getElementById('predict-rows').disabled"), "without a file nothing is sent")
    choose("faulty.csv", [rows[0], "old,3", "41"])
    browser.click("#predict-rows")
    browser.await_that("document.querySelector('#predict-file [role=alert]')", "the faults")
    browser.expect_faults("400 (Bad Request)")
    said = browser.run("[...document.querySelectorAll('#predict-file [role=alert] li')].map((one) => one.innerText)")
    check(len(said) == 2 and said[0].startswith("Line 3, column 1:") and said[1].startswith("Line 4"), f"each fault has its line: {said}")
    walk.look_at("predict-file-faults")
    choose("new people.csv", rows)
    browser.click("#predict-rows")
    browser.await_that("document.querySelector('#predict-file a[download]')", "the answer")
    check(not browser.run("document.querySelector('#predict-file [role=alert]')"), "the faults of the last file are gone")
    walk.look_at("predict-file")
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
    browser.click("#predict-file a[download]")
    deadline = time.monotonic() + 60
    while not os.path.exists(saved) and time.monotonic() < deadline:
        time.sleep(0.1)
    with open(saved, encoding="ascii") as file:
        head, *lines = file.read().splitlines()
    check(head == "class,probability_no,probability_yes" and len(lines) == len(rows), f"one line for each row: {head}, {len(lines)}")
    inputs = [[float(cell) for cell in rows[i].split(",")] for i in (0, 17, 4999)]
    for i, one in zip((0, 17, 4999), daemon.post(f"/v1/models/{model}/predict", {"inputs": inputs})["outputs"]):
        check(lines[i].split(",")[0] == one["class"] and float(lines[i].split(",")[1]) == one["probabilities"][0], f"row {i} is {lines[i]!r}: {one}")


def regression(walk, browser, job):
    """A regression has its errors as bars, and its job the same curves."""
    browser.go(f"/ui/models/{job['model']}")
    browser.await_that("[...document.querySelectorAll('main h2')].some((title) => title.innerText == 'Errors')", "the errors")
    check("RMSE" in browser.run("document.querySelector('main').innerText"), "the rmse is shown")
    walk.look_at("evaluate-errors")
    browser.go(f"/ui/jobs/{job['id']}")
    browser.await_that("[...document.querySelectorAll('main h2')].some((title) => title.innerText == 'Errors')", "the errors of the job")


def main():
    chromium, epsilond = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk = Walk(daemon, browser, folder, None, read_axe())
        jobs = prepare(daemon)
        lists(walk, daemon, browser, jobs)
        sweeps(walk, daemon, browser)
        evaluate(walk, daemon, browser, jobs)
        predict_file(walk, daemon, browser, folder, jobs[0]["model"])
        regression(walk, browser, jobs[3])
        check(browser.faults == [], f"at the end: {browser.faults}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
