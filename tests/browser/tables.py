#!/usr/bin/env python3
"""Public tables other than Adult, each from its file to a model of known quality: California's houses with a word and
empty cells, and a9a as lines of pairs.

  tables.py CHROMIUM EPSILOND      SHARED: the folder of real data"""

import gzip
import os
import sys
import tempfile

from adult import Person
from chromium import Chromium
from daemon import Daemon
from dashboard import check, failures

HOUSES = """longitude -125 -114
latitude 32 42
housing_median_age 0 60
total_rooms 0 10000
total_bedrooms 0 2000
population 0 5000
households 0 2000
median_income 0 12
median_house_value 0 600000"""


def shared(*names):
    with gzip.open(os.path.join(os.environ.get("SHARED", "../shared"), "data", *names)) as file:
        return file.read()


def houses(person):
    person.await_text("ocean_proximity")
    person.choose("[id='/task']", "regression")
    person.choose("[aria-label='Kind of median_house_value']", "label")
    person.choose("[aria-label='Kind of ocean_proximity']", "categorical")
    person.click("button[aria-label='Use these words: ocean_proximity']")
    person.type("[id='/ranges']", HOUSES)
    person.click("[id='/columns/4/if_missing']")


def pairs(person):
    person.await_that("document.getElementById('/features/count')", "the fields of lines of pairs")
    person.type("[id='/features/count']", "123")
    person.type("[id='/classes']", "2")


# name, ending of the file, content, format to choose, what a person fills in, the score and its range.
TABLES = (
    ("california", "csv", lambda: shared("california-housing", "housing.csv.gz"), None, houses, "rmse", 0, 80000),
    ("a9a", "svm", lambda: shared("a9a", "a9a.gz"), "libsvm", pairs, "accuracy", 0.8, 1),
)


def register(person, name, path, form, fill):
    person.go("/ui/register")
    if form:
        person.choose("[id='/format']", form)
    person.attach("input[type=file]", path)
    fill(person)
    person.click("input[value=private]")
    person.type("[id='/privacy/delta']", "0.00001")
    person.click("#state")
    person.await_that("!document.getElementById('register').disabled", f"{name}: the form is complete")
    person.click("#register")
    person.await_that(f"location.pathname == '/ui/datasets/{name}'", f"the page of {name}")
    person.await_text("Budget of the records held out")


def train(person):
    person.click_text("Train on it")
    person.await_text("It fits.")
    person.type("[id='/evaluation/epsilon']", "1")
    person.await_that("document.getElementById('submit').disabled")
    person.await_text("It fits.")
    person.click("#submit")
    person.await_that("location.pathname.startsWith('/ui/jobs/job_')", "the job's page")
    person.await_text("Succeeded")
    person.await_that("[...document.querySelectorAll('main h2')].some((e) => e.innerText == 'Quality on the holdout')", "the quality")
    return person.run("location.pathname.split('/').pop()")


def main():
    chromium, epsilond = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        for name, ending, content, form, fill, score, least, most in TABLES:
            path = os.path.join(folder, f"{name}.{ending}")
            try:
                rows = content()
            except FileNotFoundError as missing:
                print(f"check-browser: {name}: not run ({missing.filename} is not there)")
                continue
            with open(path, "wb") as file:
                file.write(rows)
            person = Person(browser)
            register(person, name, path, form, fill)
            job = daemon.get(f"/v1/jobs/{train(person)}")
            found = job["metrics"]["holdout"]
            check(found["metric"] == score and least <= found["value"] <= most and found["low"] < found["high"], f"{name}: {found}")
            print(f"  {name}: {len(person.actions)} actions from the file to a model; {found}")
        check(browser.faults == [], f"at the end: {browser.faults}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
