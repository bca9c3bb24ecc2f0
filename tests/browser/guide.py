#!/usr/bin/env python3
"""The pages guide a person: open fields are counted and marked, choices are explicit, every dead end has a way
back.

  guide.py CHROMIUM EPSILOND      AXE: the path of axe-core's axe.min.js, or empty"""

import csv
import os
import sys
import tempfile

from chromium import Chromium
from daemon import Daemon
from dashboard import Walk, check, failures, read_axe

COLUMNS = ("age", "visits", "weight", "ward", "stays")
WARDS = ("East", "West", "North, old house")
BUDGET = {"epsilon": 4, "delta": 1e-5}


def write_table(folder):
    """Writes a table in which a value contains a comma."""
    path = os.path.join(folder, "patients.csv")
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i in range(1200):
            age, visits = 18 + i * 7 % 70, i * 13 % 40
            writer.writerow([age, visits, 50 + i % 40, WARDS[i % 3], "yes" if age + visits > 70 else "no"])
    return path


def focus(browser):
    return browser.run("document.activeElement.id")


def said(browser, element):
    """Returns the error next to a field."""
    return browser.run(f"document.getElementById({element!r}).closest('.field, td').querySelector('.wrong')?.innerText ?? null")


def register(walk, daemon, browser, folder):
    """A person presses the button first, and is led from one open field to the next."""
    browser.go("/ui/register")
    browser.click("#register")
    browser.await_that("document.getElementById('open')", "what is missing")
    check(focus(browser) == "file-data", f"the first open field has the focus: {focus(browser)}")
    browser.attach("input[type=file]", write_table(folder))
    browser.await_text("3 columns still need a range; 2 columns still need their values")
    check("who may see the records" in browser.run("document.getElementById('open').innerText"), "the privacy choice is counted")
    browser.click("#register")
    check(focus(browser) == "/columns/0/low", f"the first open column has the focus: {focus(browser)}")
    check(said(browser, "/columns/0/low") == "Enter the smallest and the largest value that can occur.", f"in plain words: {said(browser, '/columns/0/low')}")
    walk.look_at("register-open")
    browser.type("[id='/columns/0/low']", "ten")
    browser.type("[id='/columns/0/high']", "120")
    check(said(browser, "/columns/0/low") == "“ten” is not a number.", f"a word: {said(browser, '/columns/0/low')}")
    browser.type("[id='/columns/0/low']", "200")
    check(said(browser, "/columns/0/low") == "The smallest value must be below the largest.", f"the wrong order: {said(browser, '/columns/0/low')}")
    browser.type("[id='/columns/0/low']", "0")
    browser.await_text("2 columns still need a range")
    for column, high in ((1, "50"), (2, "200")):
        browser.type(f"[id='/columns/{column}/low']", "0")
        browser.type(f"[id='/columns/{column}/high']", high)
    browser.type("[id='/columns/3/values']", "\n".join(WARDS))
    browser.type("[id='/columns/4/values']", "no")
    browser.click("input[value=private]")
    browser.click("#state")
    check(browser.run("document.querySelector('input[name=holdout]:checked').value + document.getElementById('/holdout').value") == "share0.1", "a tenth is proposed as the holdout")
    browser.await_text("none: the quality of models can never be measured")
    browser.click("#register")
    browser.await_that("document.querySelector('[id=\"/columns/4/values\"]').getAttribute('aria-invalid')", "one value is too few")
    browser.expect_faults("400 (Bad Request)")
    check(said(browser, "/columns/4/values") == "Enter at least 2.", f"the daemon's error in plain words: {said(browser, '/columns/4/values')}")
    check(focus(browser) == "/columns/4/values", f"the daemon's error has the focus: {focus(browser)}")
    browser.await_text("1 field needs a correction")
    browser.type("[id='/columns/4/values']", "no, yes")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/patients'", "the page of the new dataset")
    browser.await_text("Budget of the records held out")
    dataset = daemon.get("/v1/datasets/patients")
    check(dataset["holdout"] == 0.1, f"a tenth is held out: {dataset.get('holdout')}")
    check(dataset["columns"][3]["values"] == list(WARDS), f"a value may contain a comma: {dataset['columns'][3]['values']}")


def holdout(walk, daemon, browser):
    """The card of the quality on the holdout, and a budget that is nearly used up."""
    job, _ = daemon.run_job({"dataset": "patients", "evaluation": {"holdout": True, "epsilon": 0.5}, "model": {"preset": "linear"},
                             "algorithm": {"name": "dpsgd"}, "privacy": {"epsilon": 1}})
    browser.go(f"/ui/jobs/{job['id']}")
    browser.await_text("Quality on the holdout")
    inset = browser.run("""(() => { const title = [...document.querySelectorAll('h2')].find((e) => e.innerText == 'Quality on the holdout');
        const range = document.createRange(); range.selectNodeContents(title);
        return range.getBoundingClientRect().left - title.closest('.card').getBoundingClientRect().left; })()""")
    check(inset >= 10, f"the text of the holdout's card is {inset} pixels from its edge")
    browser.run("[...document.querySelectorAll('summary')].find((e) => e.innerText.startsWith('Ask the model')).click()")
    browser.type("#records", '70,30,60,"North, old house"\n20, 2, 60, "North, old house"')
    browser.click_text("Predict")
    browser.await_that("document.querySelectorAll('[aria-label=Predictions] tbody tr').length == 2", "cells in quotes may contain commas")
    budget = daemon.get("/v1/datasets/patients/budget")
    train = budget["parts"][0]
    check(1 <= train["epsilon_spent"] < 1.005, f"one job of epsilon 1: {train['epsilon_spent']}")
    browser.go("/ui/datasets/patients")
    browser.await_text("guarantee of everything released so far: ε 1.00")
    check(browser.run("[...document.querySelectorAll('summary')].some((e) => e.innerText == 'Spending at each Rényi order' && !e.parentElement.open)"), "the orders are folded away")
    browser.run("document.querySelectorAll('main details').forEach((one) => { one.open = true })")
    browser.await_text("is one that reads all records in each step")
    browser.go("/ui/train?dataset=patients")
    browser.await_text("fits with these settings; ")
    daemon.run_job({"dataset": "patients", "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "privacy": {"budget_fraction": 0.9}})
    browser.go("/ui/datasets")
    browser.await_text("nearly used up")
    check(browser.run("document.querySelectorAll('.gauge rect.scarce').length") == 1, "from 80 % on the bar has another colour")
    walk.look_at("datasets-scarce", again=True)
    browser.go("/ui/datasets/patients")
    browser.await_text("nearly used up")
    walk.look_at("dataset-scarce", again=True)


def main():
    chromium, epsilond = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk = Walk(daemon, browser, folder, None, read_axe())
        register(walk, daemon, browser, folder)
        holdout(walk, daemon, browser)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
