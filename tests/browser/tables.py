#!/usr/bin/env python3
"""Public tables other than Adult, each from its file to a model of known quality: California's houses with a word and
empty cells, a9a as lines of pairs, digits without a header, and two tables of the package statsmodels, one with quoted
names and one of whole numbers and fractions.

  tables.py CHROMIUM EPSILOND      SHARED: the folder of real data; STATSMODELS: the path of its wheel, or empty"""

import gzip
import os
import sys
import tempfile
import zipfile

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

PIXELS = "\n".join(f"column{k} 0 16" for k in range(1, 65))
AFFAIRS = """rate_marriage 1 5
age 17 42
yrs_married 0 25
children 0 6
religious 1 4
educ 9 20
occupation 1 6
occupation_husb 1 6
affairs 0 10"""
VISITS = """mdvis 0 30
lncoins 0 5
idp 0 1
lpi 0 8
fmde 0 9
physlm 0 1
disea 0 60
hlthg 0 1
hlthf 0 1
hlthp 0 1"""


class Missing(Exception):
    """Why a table is not there."""


def digits():
    with gzip.open(os.path.join(os.path.dirname(__file__), "../../deploy/digits/digits.csv.gz")) as file:
        return file.read()


def packaged(name):
    wheel = os.environ.get("STATSMODELS")
    if not wheel:
        raise Missing("the wheel of statsmodels cannot be fetched")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"statsmodels/datasets/{name}/{name}.csv")


def shared(*names):
    folder = os.environ.get("SHARED", "../shared")
    if not os.path.isdir(folder):
        raise Missing(f"there is no folder SHARED={folder}")
    with gzip.open(os.path.join(folder, "data", *names)) as file:
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


def pixels(person):
    person.await_that("document.querySelector('[aria-label=\"Kind of column65\"]')", "65 columns, of a file without a header")
    person.click("button[aria-label='Use these words: column65']")
    person.type("[id='/ranges']", PIXELS)


def affairs(person):
    person.await_text("rate_marriage")
    person.choose("[id='/task']", "regression")
    person.type("[id='/ranges']", AFFAIRS)


def visits(person):
    person.await_text("lncoins")
    person.choose("[id='/task']", "regression")
    person.choose("[aria-label='Kind of mdvis']", "label")
    check(person.run("document.querySelector(\"[aria-label='Kind of hlthp']\").value") == "numeric", "only one column is predicted")
    person.type("[id='/ranges']", VISITS)


# name, ending of the file, content, format to choose, what a person fills in, the score and its range.
TABLES = (
    ("california", "csv", lambda: shared("california-housing", "housing.csv.gz"), None, houses, "rmse", 0, 80000),
    ("a9a", "svm", lambda: shared("a9a", "a9a.gz"), "libsvm", pairs, "accuracy", 0.8, 1),
    ("digits", "csv", digits, None, pixels, "accuracy", 0.5, 1),
    ("fair", "csv", lambda: packaged("fair"), None, affairs, "rmse", 0, 3),
    ("randhie", "csv", lambda: packaged("randhie"), None, visits, "rmse", 0, 6),
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
            except Missing as missing:
                print(f"check-browser: {name}: not run: {missing}")
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
