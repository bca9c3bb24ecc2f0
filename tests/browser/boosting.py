#!/usr/bin/env python3
"""Boosted histograms: the form of a new job offers model and algorithm together, takes pairs of columns by name, and
the page of the model draws what each column adds, as the model's file says it.

  boosting.py CHROMIUM EPSILOND      AXE: the path of axe-core's axe.min.js, or empty"""

import json
import struct
import sys
import tempfile

from chromium import Chromium
from daemon import Daemon
from dashboard import Walk, check, failures, read_axe

STAYS = {"format": "csv", "header": True, "task": "classification", "columns": [
    {"name": "age", "kind": "numeric", "range": [0, 120]},
    {"name": "ward", "kind": "categorical", "values": ["north", "south"], "other": True},
    {"name": "admitted", "kind": "date", "format": "%Y-%m-%d", "range": ["2024-01-01", "2024-12-31"], "parts": ["quarter"]},
    {"name": "visits", "kind": "numeric", "range": [0, 50], "if_missing": "indicator"},
    {"name": "stays", "kind": "label", "values": ["no", "yes"]}]}


def rows(count):
    lines = ["age,ward,admitted,visits,stays"]
    for i in range(count):
        age, visits = 18 + i * 7 % 70, i * 13 % 40
        lines.append(f"{age},{('north', 'south', 'east')[i % 3]},2024-{1 + i % 12:02}-15,{visits if i % 9 else ''},{'yes' if 40 < age < 70 else 'no'}")
    return ("\n".join(lines) + "\n").encode()


def submit(walk, daemon, browser):
    """One half of the pair brings the other, and both leave together. Returns the job."""
    value = lambda pointer: browser.run(f"document.getElementById('{pointer}').value")
    browser.go("/ui/train?dataset=stays")
    browser.await_text("It fits")
    browser.choose("[id='/algorithm/name']", "boosted_histograms")
    check(value("/model/preset") == "histograms", "the algorithm brings its model")
    browser.choose("[id='/model/preset']", "linear")
    check(value("/algorithm/name") == "dpsgd", "another model brings another algorithm")
    browser.choose("[id='/model/preset']", "histograms")
    check(value("/algorithm/name") == "boosted_histograms", "the model brings its algorithm")
    browser.type("[id='/model/pairs']", "age + size")
    browser.await_that("document.getElementById('/model/pairs').getAttribute('aria-invalid')", "the pair that is refused")
    browser.expect_faults("400 (Bad Request)")
    browser.type("[id='/model/pairs']", "age + visits")
    browser.await_text("It fits")
    walk.look_at("boosting-form")
    browser.click("#submit")
    browser.await_that("location.pathname.startsWith('/ui/jobs/')", "the page of the job")
    path = browser.run("location.pathname").replace("/ui/", "/v1/")
    job = daemon.get(path)
    while job["state"] in ("QUEUED", "RUNNING"):
        job = daemon.get(f"{path}?wait=60")
    return job


def shapes(walk, daemon, browser, job):
    """Every column can be chosen, and its figures are those of the model's file."""
    raw = daemon.get(f"/v1/models/{job['model']}/content")
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    (table,) = [one for name, one in header.items() if name.endswith(".weight")]
    start, end = table["data_offsets"]
    values = struct.unpack(f"<{(end - start) // 4}f", raw[8 + size + start:8 + size + end])
    browser.go(f"/ui/models/{job['model']}")
    browser.await_that("document.querySelector('#shapes ui-chart')", "the first column")
    names = browser.run("[...document.querySelectorAll('#shape option')].map((one) => one.innerText)")
    check(names == ["age", "ward", "admitted", "quarter of admitted", "visits", "visits is missing"], f"the columns: {names}")
    walk.look_at("boosting-number")
    drawn = browser.run("document.querySelector('#shapes ui-chart').innerText")
    check("score of yes" in drawn, f"what is drawn: {drawn[:200]!r}")
    browser.choose("#shape", "1")
    browser.await_that("document.querySelectorAll('#shapes tbody tr').length == 4", "the words")
    said = browser.run("[...document.querySelectorAll('#shapes tbody tr')].map((row) => row.innerText.split('\\t').map((cell) => cell.trim()))")
    check([word for word, _ in said] == ["north", "south", "other", "(none of them)"], f"the words: {said}")
    for (word, shown), value in zip(said, values[256:260]):
        check(abs(float(shown.replace("−", "-")) - value) < 0.01 + 0.01 * abs(value), f"{word} adds {value}: {shown}")
    walk.look_at("boosting-words")
    check("age with visits" in browser.run("document.getElementById('shapes').innerText"), "the pair is named")


def main():
    chromium, epsilond = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Daemon(epsilond) as daemon, Chromium(chromium, daemon.base) as browser:
        browser.resize(1320)
        browser.scheme("light")
        walk = Walk(daemon, browser, folder, None, read_axe())
        daemon.register("stays", STAYS, {"data": rows(4000)}, {"epsilon": 8, "delta": 1e-5})
        job = submit(walk, daemon, browser)
        check(job["state"] == "SUCCEEDED" and job["model_spec"]["pairs"] == [[0, 4]], f"the job: {job['state']}, {job['model_spec'].get('pairs')}")
        shapes(walk, daemon, browser, job)
        check(browser.faults == [], f"at the end: {browser.faults}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
