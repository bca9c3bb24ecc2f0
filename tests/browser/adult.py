#!/usr/bin/env python3
"""Adult, as people have it: semicolons, a header, `?` in missing cells. Goes from the file to a model of known quality
in few actions of a person. An action is a click, a choice, a file, or a text that is typed into a field.

  adult.py CHROMIUM EPSILOND [SHOTS]      SHARED: the folder of real data; SHOTS: the folder of docs' pictures
                                          AXE: the path of axe-core's axe.min.js, or empty"""

import csv
import gzip
import os
import sys
import tempfile

from chromium import Chromium
from daemon import Daemon
from dashboard import Walk, check, failures, read_axe

COLUMNS = ("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race", "sex",
           "capital_gain", "capital_loss", "hours_per_week", "native_country", "income")
RANGES = "age 0 100\nfnlwgt 0 1000000\neducation_num 1 16\ncapital_gain 0 100000\ncapital_loss 0 5000\nhours_per_week 0 100"
ACTIONS_MAX, ACCURACY_MIN = 12, 0.80
ACTIONS = ("attach", "choose", "click", "click_text", "press", "type")


class Person:
    """A browser that counts what a person does in it."""

    def __init__(self, browser):
        self.browser, self.actions = browser, []

    def __getattr__(self, name):
        act = getattr(self.browser, name)
        if name not in ACTIONS:
            return act

        def counted(*words):
            self.actions.append((name, *words))
            return act(*words)
        return counted


def write_table(source, folder):
    """Writes the table as a CSV file and returns its path and its number of rows."""
    path = os.path.join(folder, "adult.csv")
    with gzip.open(source, "rt", encoding="ascii") as lines, open(path, "w", newline="", encoding="ascii") as file:
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
        writer = csv.writer(file, delimiter=";")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return path, len(rows)


def register(walk, person, path):
    person.attach("input[type=file]", path)
    person.await_text("some cells are “?”")
    check(person.run("document.getElementById('/delimiter').value") == ";", "semicolons are recognised")
    person.click("#markers")
    check(person.run("[...document.querySelectorAll('.columns input:not([type=checkbox]), .columns textarea')].every((e) => e.value === '')"), "nothing of the file is adopted")
    person.await_text("Bachelors")
    person.await_text("Puerto-Rico")
    check(not person.run("document.getElementById('left-out')"), "no column of words is left out")
    walk.look_at("adult-suggestions")
    person.click("#all-words")
    check(person.run("[...document.querySelectorAll('.columns [inputmode=decimal]')].every((e) => e.value === '')"), "ranges are never taken from the file")
    person.type("[id='/ranges']", RANGES)
    person.click("#all-gaps")
    person.click("input[value=private]")
    check(person.run("document.getElementById('/privacy/epsilon').value + document.getElementById('/holdout').value") == "20.1", "epsilon 2 and a holdout of a tenth are proposed")
    person.click("#state")
    walk.look_at("adult-declared", again=True)
    check(person.run("document.getElementById('register').innerText") == "Promise ε 2.00 and upload", "the button names the promise")
    person.click("#register")
    person.await_that("location.pathname == '/ui/datasets/adult'", "the page of the new dataset")
    person.await_text("Budget of the records held out")
    walk.look_at("adult-dataset")


def train(walk, person):
    person.click_text("Train on it")
    person.await_text("It fits.")
    check(person.run("['/evaluation', '/privacy/epsilon'].map((id) => document.getElementById(id).value).join()") == "-holdout,1", "epsilon 1 and the holdout are proposed")
    person.type("[id='/evaluation/epsilon']", "1")  # noise of a few records among 3,256
    person.await_that("document.getElementById('submit').disabled")
    person.await_text("It fits.")
    walk.look_at("adult-train")
    person.click("#submit")
    person.await_that("location.pathname.startsWith('/ui/jobs/job_')", "the job's page")
    person.await_text("Succeeded")
    person.await_that("[...document.querySelectorAll('main h2')].some((e) => e.innerText == 'Quality on the holdout')", "the quality")
    walk.look_at("adult-job")


def known_quality(daemon, person, rows):
    """The page shows the accuracy with its interval, and the daemon has what was declared."""
    dataset = daemon.get("/v1/datasets/adult")
    check(dataset["holdout"] == 0.1 and dataset["delimiter"] == ";", f"what was declared: {dataset}")
    check(dataset["columns"][0]["range"] == [0, 100] and dataset["columns"][12]["range"] == [0, 100], "the pasted ranges are declared")
    check(dataset["columns"][1]["if_missing"] == "category" and "?" not in dataset["columns"][1]["values"], "a missing cell is a category")
    country = dataset["columns"][COLUMNS.index("native_country")]
    check(len(country["values"]) > 20 and "United-States" in country["values"] and country["other"] and country["if_missing"] == "category",
          f"a column of many words has those of the beginning, and other: {country}")
    shown = person.run("[...document.querySelectorAll('main tr')].map((row) => row.innerText.replace(/\\s+/g, ' ')).find((text) => text.startsWith('Accuracy'))")
    score = daemon.get("/v1/jobs/" + person.run("location.pathname.split('/').pop()"))["metrics"]["holdout"]
    check(score["value"] >= ACCURACY_MIN, f"accuracy on the holdout: {score}")
    words = f"Accuracy {100 * score['value']:.1f} % {100 * score['low']:.1f} % to {100 * score['high']:.1f} %"
    check(words in shown, f"the page shows {words!r}: {shown!r}")
    check(len(person.actions) <= ACTIONS_MAX, f"{len(person.actions)} actions: {person.actions}")
    print(f"  adult: {rows} rows, {len(person.actions)} actions from the file to a model; {words}")


def mistakes(person, path):
    """A pasted line that names no column with a range is reported, and changes no column."""
    person.go("/ui/register")
    person.attach("input[type=file]", path)
    person.type("[id='/ranges']", "age 0 to 120\nsex 0 1\nheight 0 3\nfnlwgt many")
    person.await_text("No column with a range is named in: sex 0 1; height 0 3; fnlwgt many.")
    check(person.run("['0/low', '0/high', '2/low', '2/high'].map((id) => document.getElementById(`/columns/${id}`).value).join()") == "0,120,,", "only the line that was read is filled in")


def main():
    chromium, epsilond, *shots = sys.argv[1:]
    source = os.path.join(os.environ.get("SHARED", "../shared"), "data/adult/adult.data.gz")
    if not os.path.exists(source):
        print("check-browser: adult: not run (SHARED has no adult.data.gz)")
        return 0
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk, person = Walk(daemon, browser, folder, shots[0] if shots else None, read_axe()), Person(browser)
        path, rows = write_table(source, folder)
        browser.go("/ui/register")
        register(walk, person, path)
        train(walk, person)
        known_quality(daemon, person, rows)
        mistakes(browser, path)
        check(browser.faults == [], f"at the end: {browser.faults}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
