#!/usr/bin/env python3
"""The pages guide a person: open fields are counted and marked, choices are explicit, every dead end has a way
back.

  guide.py CHROMIUM EPSILOND      AXE: the path of axe-core's axe.min.js, or empty"""

import csv
import json
import os
import sys
import tempfile
import time

import kinds
import sentences
from chromium import Chromium
from daemon import Daemon, Refused
from dashboard import Walk, check, failures, read_axe

COLUMNS = ("age", "visits", "weight", "ward", "stays")
WARDS = ("East", "West", "North, old house")
BUDGET = {"epsilon": 4, "delta": 1e-5}


def write_table(folder, visits_max=40):
    """Writes a table in which a value contains a comma."""
    path = os.path.join(folder, "patients.csv")
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i in range(1200):
            age, visits = 18 + i * 7 % 70, i * 13 % visits_max
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


def jobs(daemon):
    """Makes jobs that only their cost and number tell apart, and a public twin to measure them on."""
    rows = "".join(f"{18 + i * 7 % 70},{i * 13 % 40},{50 + i % 40},{i % 2}\n" for i in range(500))
    schema = {"format": "csv", "task": "classification", "header": False, "columns": [
        *({"name": name, "kind": "numeric", "range": [0, 200]} for name in COLUMNS[:3]), {"name": "stays", "kind": "label", "values": ["0", "1"]}]}
    daemon.register("beds", schema, {"data": rows.encode()}, {"epsilon": 8, "delta": 1e-5})
    daemon.register("beds-public", schema, {"data": rows[:4000].rsplit("\n", 1)[0].encode()}, "public")
    made = []
    for epsilon, name in ((1, None), (1, None), (0.5, "Length of stay")):
        job, _ = daemon.run_job({"dataset": "beds", "evaluation": "beds-public", "model": {"preset": "linear"}, "algorithm": {"name": "dcsgd_e"},
                                 "privacy": {"epsilon": epsilon}, **({"display_name": name} if name else {})})
        made.append(job)
    return made


def names_of(browser):
    return browser.run("[...document.querySelectorAll('tbody .name')].map((e) => e.innerText)")


def lists(walk, daemon, browser, made):
    """Rows of a list differ in their names, can be sorted and chosen, and open when they are clicked."""
    browser.go("/ui/jobs?dataset=beds")
    browser.await_that("document.querySelectorAll('tbody tr').length == 3", "the jobs")
    entries = [job["privacy"]["ledger_seq"] for job in made]
    check(names_of(browser) == ["Length of stay", f"linear, ε 1, no. {entries[1]}", f"linear, ε 1, no. {entries[0]}"], f"names tell jobs apart: {names_of(browser)}")
    sort = "[...document.querySelectorAll('th button')].find((e) => e.innerText.startsWith('ε spent'))"
    browser.run(f"{sort}.click()")
    check(browser.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "descending" and names_of(browser)[2] == "Length of stay", "the largest price first")
    browser.run(f"{sort}.click()")
    check(browser.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "ascending" and names_of(browser)[0] == "Length of stay", "and the smallest first")
    browser.click("tbody tr:nth-child(1) input[type=checkbox]")
    browser.click("tbody tr:nth-child(2) input[type=checkbox]")
    browser.await_text("2 of at most 5 chosen")
    walk.look_at("jobs-chosen")
    browser.click_text("Compare their curves")
    browser.await_text("Curves of 2 runs")
    browser.await_that("document.querySelectorAll('ui-chart canvas').length >= 1", "a chart")
    check(browser.run("[...document.querySelector('ui-chart .legend').children].length") == 2, "one chart has the curves of both")
    browser.go(browser.run("location.pathname + location.search"))
    browser.await_text("Curves of 2 runs")
    walk.look_at("curves")
    browser.go("/ui/jobs?dataset=beds")
    browser.await_that("document.querySelectorAll('tbody tr').length == 3", "the jobs")
    browser.run("document.querySelector('tbody tr td:last-child').click()")
    browser.await_that(f"location.pathname == '/ui/jobs/{made[2]['id']}'", "the job whose row was clicked")
    browser.click_text("Sweeps")
    browser.await_that("location.pathname == '/ui/sweeps'", "sweeps have their place in the navigation")


def models(walk, daemon, browser):
    """The versions of a name, their stage, certificate and quality."""
    for model in daemon.get("/v1/models?dataset=beds")["models"][:2]:
        daemon.patch(f"/v1/models/{model['id']}", {"display_name": "Bed planning"})
    browser.click_text("Models")
    browser.await_that("location.pathname == '/ui/models'", "models have their place in the navigation")
    browser.go("/ui/models")
    browser.await_that("document.querySelectorAll('tbody tr').length >= 4", "the models")
    said = browser.run("[...document.querySelectorAll('tbody tr')].filter((e) => e.innerText.includes('Bed planning')).map((e) => e.innerText)")
    check(len(said) == 2 and "version 2" in said[0] and "version 1" in said[1], f"versions of one name: {said}")
    check("ledger entry" in said[0] and "%" in said[0] and "ε 0.50" in said[0], f"certificate and quality: {said[0]}")
    browser.choose("tbody tr:nth-child(1) select", "production")
    browser.await_that("document.querySelector('tbody tr:nth-child(1) select').value == 'production'", "the stage")
    check(browser.run("document.querySelectorAll('tbody tr').length") >= 4, "all models stay")
    walk.look_at("models")
    check(daemon.get("/v1/models")["models"][0]["tags"] == {"stage": "production"}, "the stage is a tag of the model")


def audit(walk, daemon, browser, made):
    """A row names the dataset that it is about, and a failure is shown as one."""
    for path in (f"/v1/models/{made[0]['model']}", f"/v1/jobs/{made[0]['id']}"):
        daemon.call("DELETE", path)
    try:
        daemon.post("/v1/jobs", {"dataset": "beds", "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "privacy": {"epsilon": 12}})
    except Refused:
        pass
    rows = "[...document.querySelectorAll('tbody tr')].map((e) => e.innerText.split(/\\s+/).join(' '))"
    for attempt in range(60):  # a refusal is written at a tick
        browser.go("/ui/audit")
        browser.await_that("document.querySelectorAll('tbody tr').length >= 10", "the newest acts")
        said = browser.run(rows)
        failed = [row for row in said if row.startswith("Submit a job") and "✕ Failed budget exhausted" in row]
        if failed:
            break
        time.sleep(1)
    check(len(failed) == 1 and "beds" in failed[0], f"the refused job: {failed or said[:3]}")
    for word in ("Delete a model", "Delete a job"):
        check(any(row.startswith(word) and "beds" in row and "✓ Done" in row for row in said), f"{word} names its dataset: {said[:4]}")
    check(browser.run("document.querySelectorAll('tbody .badge.bad').length") >= 1, "a failure has the colour of failures")


def ways_back(browser):
    """An address that leads nowhere has a page with a way back."""
    for path, title, link, to in (("/ui/nothing", "There is no such page", "Back to the datasets", "/ui/"), ("/ui/jobs/job_none", "There is no job “job_none”", "Back to all jobs", "/ui/jobs"),
                                  ("/ui/datasets/none", "There is no dataset “none”", "Back to all datasets", "/ui/datasets"),
                                  ("/ui/sweeps/none", "There is no sweep “none”", "Back to all sweeps", "/ui/sweeps")):
        browser.go(path)
        browser.await_that("document.querySelector('main h1')", path)
        check(browser.run("document.querySelector('main h1').innerText") == title, f"{path} says {browser.run('document.querySelector(String.raw`main h1`).innerText')}")
        browser.click_text(link)
        browser.await_that(f"location.pathname == '{to}'", f"the way back from {path}")
        browser.expect_faults("404 (Not Found)")


def price(walk, browser):
    """At 390 pixels the price stays in sight, wherever the form is scrolled to."""
    browser.resize(390, 844)
    browser.go("/ui/train?dataset=beds")
    browser.await_text("It fits.")
    for place in (0, 0.5, 1):
        browser.run(f"scrollTo(0, {place} * (document.body.scrollHeight - innerHeight))")
        box = browser.run("""(() => { const [price, button] = ['.cost .price', '#submit'].map((e) => document.querySelector(e).getBoundingClientRect());
            return [price.top, button.bottom]; })()""")
        check(0 <= box[0] and box[1] <= 844, f"the price and its button are in sight at {place}: {box}")
    covered = browser.run("document.querySelector('.cost').getBoundingClientRect().height")
    check(covered <= 844 * 0.4, f"the price covers {covered} of 844 pixels")
    browser.resize(1320)
    walk.look_at("train-390")


def tiles(daemon, browser):
    """The tiles have the daemon's counts, also if there are more datasets than one page shows."""
    for i in range(60):
        daemon.post("/v1/datasets", {"id": f"other-{i:02}", "format": "libsvm", "task": "classification", "classes": 2, "features": {"count": 2, "range": [0, 1]}, "privacy": BUDGET})
    browser.go("/ui/datasets")
    browser.await_that("document.querySelectorAll('.tile').length == 4", "the tiles")
    said = browser.run("[...document.querySelectorAll('.tile')].map((e) => e.innerText.split(/\\s+/).join(' '))")
    check(said == ["62 protected datasets", "1 with less than a tenth left", "0 jobs queued or running", "1 public, for measuring quality"], f"the tiles: {said}")
    browser.run("[...document.querySelectorAll('th button')].find((e) => e.innerText.startsWith('Dataset')).click()")
    check(names_of(browser) == sorted(names_of(browser)) and len(names_of(browser)) == 50, f"datasets are sorted by name: {names_of(browser)[:3]}")
    counts = daemon.get("/v1/status")["datasets"]
    check(counts == {"private": 62, "public": 1, "waiting": 0}, f"the counts of the daemon: {counts}")


def fill_in(browser, path, name):
    """Declares the table in the form, without sending it."""
    browser.go("/ui/register")
    browser.attach("input[type=file]", path)
    browser.await_text("patients.csv")
    browser.type("[id='/id']", name)
    for column, high in ((0, "120"), (1, "50"), (2, "200")):
        browser.type(f"[id='/columns/{column}/low']", "0")
        browser.type(f"[id='/columns/{column}/high']", high)
    browser.type("[id='/columns/3/values']", "\n".join(WARDS))
    browser.type("[id='/columns/4/values']", "no, yes")
    browser.click("input[value=private]")
    browser.click("#state")


def ticked(browser, name):
    return browser.run(f"document.querySelector('input[name={name}]')?.checked ?? null")


def weak_promise(walk, daemon, browser, folder):
    """A weak promise takes a tick next to each figure, which is never set beforehand."""
    fill_in(browser, write_table(folder, 45), "weak")
    check(ticked(browser, "epsilon_above_10") is None, "a strong promise is not asked about")
    browser.type("[id='/privacy/epsilon']", "12")
    browser.type("[id='/privacy/delta']", "0.01")
    browser.await_text("your confirmation of the weak promise")
    check(ticked(browser, "epsilon_above_10") is False, "the tick of epsilon is not set beforehand")
    browser.click("#register")
    check(focus(browser) == "/acknowledge", f"the tick has the focus: {focus(browser)}")
    walk.look_at("register-weak", again=True)
    browser.click("input[name=epsilon_above_10]")
    browser.type("[id='/privacy/epsilon']", "13")
    check(ticked(browser, "epsilon_above_10") is False, "another epsilon is confirmed again")
    browser.click("input[name=epsilon_above_10]")
    browser.click("#register")
    browser.await_that("document.querySelector('input[name=delta_above_1_over_n]')", "the tick of delta, which the import asks for")
    browser.expect_faults("400 (Bad Request)")
    check(ticked(browser, "delta_above_1_over_n") is False, "the tick of delta is not set beforehand")
    browser.click("input[name=delta_above_1_over_n]")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/weak'", "the page of the new dataset")
    rows = [one for one in daemon.get("/v1/audit?order=desc&page_size=50")["acts"] if one["object"] == "weak"]
    told = {one["action"]: one["detail"].get("acknowledge") for one in rows}
    check((told["dataset.create"], told["dataset.import"]) == (["epsilon_above_10"], ["delta_above_1_over_n"]), f"the audit trail: {told}")


def declare(browser, path, name, epsilon="2"):
    """Declares the table in the form, and sends it."""
    fill_in(browser, path, name)
    browser.type("[id='/privacy/epsilon']", epsilon)
    if float(epsilon) > 10:
        browser.click("input[name=epsilon_above_10]")
    browser.click("#register")
    browser.await_that(f"location.pathname == '/ui/datasets/{name}'", "the page of the dataset")
    browser.await_text("Waits for approval")


def decide(daemon, officer, name, verb):
    grant = next(one["id"] for one in daemon.call("GET", "/v1/grants?state=PENDING", headers=officer)["grants"] if one["dataset"] == name)
    daemon.call("POST", f"/v1/grants/{grant}:{verb}", json.dumps({"reason": "as discussed"}).encode(), {"Content-Type": "application/json", **officer})


def approvals(walk, daemon, browser, folder):
    """A request for approval says what, of whom and until when; it continues by itself once it is granted."""
    path = write_table(folder)
    browser.call("Page.navigate", url="about:blank")  # otherwise the current page would send requests without a key
    ana, bob = walk.key("ana", "data_owner"), walk.key("bob", "privacy_officer")
    browser.call("Network.setExtraHTTPHeaders", headers=ana)
    declare(browser, path, "asked")
    for words in ("ε 2.00 at δ 10⁻⁵", "a privacy officer other than ana", "in 14 days", "the import starts by itself"):
        check(words in browser.run("document.getElementById('grant').innerText"), f"the request says {words}")
    browser.go("/ui/datasets/asked")
    browser.await_text("Waits for approval")
    walk.look_at("grant-waits", again=True)
    check(daemon.call("GET", "/v1/status", headers=ana)["datasets"]["waiting"] == 1, "the status counts what waits")
    decide(daemon, bob, "asked", "approve")
    browser.await_that("document.querySelector('main .badge').innerText.includes('Ready')", "the import that starts by itself")
    check(daemon.call("GET", "/v1/datasets/asked", headers=ana)["records"] == 1200, "the records are imported")
    declare(browser, path, "refused")
    decide(daemon, bob, "refused", "reject")
    browser.await_text("rejected")
    browser.click_text("Declare and upload")
    browser.await_that("document.getElementById('/columns/1/high')?.value == '50'", "the ranges are kept")
    browser.attach("input[type=file]", path)
    browser.await_text("patients.csv")
    check(browser.run("document.getElementById('/columns/1/high').value + document.getElementById('/columns/3/values').value") == "50" + "\n".join(WARDS),
          "a file of the same columns keeps their ranges and values")
    declare(browser, path, "exception", "12")
    browser.call("Page.navigate", url="about:blank")
    browser.call("Network.setExtraHTTPHeaders", headers=bob)
    browser.go("/ui/approvals")
    browser.await_text("That is a weak promise")
    browser.type("main input[type=text]", "as discussed")
    accept = "document.querySelector('main .button.accent').disabled"
    check(ticked(browser, "epsilon_above_10") is False and browser.run(accept), "the second person has to confirm it too")
    browser.click("input[name=epsilon_above_10]")
    walk.look_at("approvals-weak", again=True)
    browser.click_text("Approve")
    browser.await_that("document.querySelector('tbody')?.innerText.includes('exception')", "what was approved")
    check(browser.faults == [], f"after the approvals: {browser.faults}")


def main():
    chromium, epsilond = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk = Walk(daemon, browser, folder, None, read_axe())
        register(walk, daemon, browser, folder)
        holdout(walk, daemon, browser)
        made = jobs(daemon)
        lists(walk, daemon, browser, made)
        models(walk, daemon, browser)
        audit(walk, daemon, browser, made)
        ways_back(browser)
        price(walk, browser)
        tiles(daemon, browser)
        weak_promise(walk, daemon, browser, folder)
        kinds.walk(walk, check, daemon, browser, folder)
        sentences.walk(walk, check, daemon, browser, folder)
        check(browser.faults == [], f"at the end: {browser.faults}")
        approvals(walk, daemon, browser, folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
