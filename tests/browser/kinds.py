"""A table as people have it: dates, yes and no, codes, unknown words and cells such as NA. The page suggests what the
file shows, adopts nothing that its owner has not pressed, and shows the statistics of each kind. guide.py calls it."""

import csv
import json
import os

NAMES = ("born", "smokes", "ward", "code", "weight", "stays")
WARDS = ("East", "West", "North")
VALUES = "[...document.querySelectorAll('.columns input:not([type=checkbox]), .columns textarea, [id=\\'/missing\\']')].every((e) => e.value === '')"


def write_table(folder):
    path = os.path.join(folder, "visits.csv")
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        for i in range(4000):
            writer.writerow([f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 50}", ("yes", "no", "NA")[i % 3],
                             "South" if i == 3900 else WARDS[i % 3], f"c{i % 900}", "?" if i % 7 == 0 else 50 + i % 40, "ab"[i % 5 > 2]])
    return path


def write_lines(folder):
    """Returns a file of JSON Lines whose third line has a member more, and whose fifth lacks one."""
    path = os.path.join(folder, "calls.jsonl")
    with open(path, "w", encoding="ascii") as file:
        for i in range(300):
            row = {"minutes": i % 60 + 0.50, "line": 7700 + i % 3, "urgent": i % 2 == 0, "ends": "ab"[i % 5 > 2]}
            if i == 2:
                row["colour"] = "red"
            if i == 4:
                del row["minutes"]
            file.write(json.dumps(row) + "\n")
    return path


def register_lines(check, daemon, browser, folder):
    """The format is recognised from the file; its members become columns."""
    browser.go("/ui/register")
    browser.attach("input[type=file]", write_lines(folder))
    browser.await_that("document.getElementById('/format').value == 'jsonl'", "the format, from the file")
    browser.await_text("This column has empty cells")
    check(browser.run("document.getElementById('/id').value") == "calls", "a name from that of the file")
    check(kinds(browser) == "numeric,numeric,categorical,categorical,label", f"the kinds: {kinds(browser)}")
    check(not browser.run("document.getElementById('/delimiter')") and "first line names" not in browser.run("document.body.innerText"), "no dialect is asked for")
    browser.choose("[aria-label='Kind of colour']", "ignored")
    browser.choose("[aria-label='Kind of ends']", "label")
    press(browser, "Make it yes or no: urgent")
    for id, text in (("0/low", "0"), ("0/high", "60"), ("0/default", "5"), ("1/low", "7000"), ("1/high", "8000")):
        browser.type(f"[id='/columns/{id}']", text)
    press(browser, "Use these words: ends")
    browser.click("input[value=public]")
    browser.click("#state")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/calls'", "the page of the new dataset")
    dataset = daemon.get("/v1/datasets/calls")
    check((dataset["format"], dataset["state"], dataset["records"]) == ("jsonl", "READY", 300), f"lines of JSON: {dataset['state']}")


def press(browser, label):
    browser.click(f"button[aria-label={label!r}]")


def kinds(browser):
    return browser.run("[...document.querySelectorAll('.columns select')].map((e) => e.value).join()")


def register(walk, check, daemon, browser, folder):
    browser.go("/ui/register")
    browser.attach("input[type=file]", write_table(folder))
    browser.await_text("Not used")
    check("code" in browser.run("document.getElementById('left-out').innerText"), "what is left out stands before the columns")
    browser.await_text("some cells are “NA”, “?”")
    check(browser.run(VALUES), "nothing of the file is adopted")
    check("categorical" in kinds(browser) and "boolean" not in kinds(browser) and "date" not in kinds(browser), f"the kinds before: {kinds(browser)}")
    walk.look_at("register-suggestions", again=True)
    browser.click("#markers")
    check(browser.run("document.getElementById('/missing').value") == "NA, ?", "the texts of missing cells, once they are confirmed")
    browser.await_that("document.querySelector('[aria-label=\\'Kind of weight\\']').value == 'numeric'", "a number, apart from missing cells")
    press(browser, "Make it dates, %d.%m.%Y: born")
    press(browser, "Make it yes or no: smokes")
    press(browser, "Use these words: ward")
    press(browser, "Make it hashed codes: code")
    press(browser, "Use these words: stays")
    check(kinds(browser) == "date,boolean,categorical,hashed,numeric,label", f"the kinds: {kinds(browser)}")
    check(browser.run("document.getElementById('/columns/2/values').value + document.getElementById('/columns/2/other').checked") == "East, North, Westtrue", "words of the beginning, and other")
    check(browser.run("['0/low', '0/high', '4/low', '4/high', '3/buckets'].every((id) => document.getElementById(`/columns/${id}`).value === '')"), "ranges and numbers of buckets are typed")
    browser.await_text("2 columns still need a range; 2 columns still need a value for empty cells; 1 column still needs a number of buckets")
    for id, text in (("0/low", "1900-01-01"), ("0/high", "2026-12-31"), ("3/buckets", "16"), ("4/low", "0"), ("4/high", "200"), ("4/default", "70")):
        browser.type(f"[id='/columns/{id}']", text)
    browser.click("[id='/columns/0/parts/month']")
    browser.click("[id='/columns/1/if_missing']")
    browser.click("input[value=private]")
    browser.type("[id='/privacy/epsilon']", "8")
    browser.click("#state")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/visits'", "the page of the new dataset")
    dataset = daemon.get("/v1/datasets/visits")
    columns = [{name: value for name, value in column.items() if name not in ("seed", "missing")} for column in dataset["columns"]]
    check(columns == [
        {"name": "born", "kind": "date", "format": "%d.%m.%Y", "range": ["1900-01-01", "2026-12-31"], "parts": ["month"]},
        {"name": "smokes", "kind": "boolean", "if_missing": "indicator"},
        {"name": "ward", "kind": "categorical", "values": ["East", "North", "West"], "other": True}, {"name": "code", "kind": "hashed", "buckets": 16},
        {"name": "weight", "kind": "numeric", "range": [0, 200], "default": 70}, {"name": "stays", "kind": "label", "values": ["a", "b"]}], f"what was declared: {columns}")
    check(dataset["columns"][4]["missing"] == ["NA", "?"] and dataset["records"] == 4000, "missing cells are declared, and the file is imported")


def statistics(walk, check, browser):
    """Each kind can be asked about, and is shown as people read it."""
    browser.go("/ui/statistics?dataset=visits")
    browser.await_text("Nothing yet")
    browser.type("#bins", "4")
    browser.click("#add")
    browser.choose("#kind", "mean")
    check(browser.run("[...document.querySelector('#kind').options].every((one) => one.value != 'sum')"), "days are not added up")
    browser.click("#add")
    for column in ("smokes", "ward", "code"):
        browser.choose("#column", column)
        browser.choose("#kind", "histogram")
        check(not browser.run("document.getElementById('bins')"), f"nobody has to choose the bins of {column}")
        browser.click("#add")
    browser.choose("#column", "smokes")
    browser.choose("#kind", "mean")
    browser.click("#add")
    browser.await_text("It fits.")
    browser.type("#epsilon", "1")
    browser.await_that("document.getElementById('spend').innerText.includes('1.00') && !document.getElementById('spend').disabled")
    browser.click("#spend")
    browser.await_that("[...document.querySelectorAll('section.card h2')].some((e) => e.innerText == 'Mean of smokes')", "the answers")
    said = browser.run("[...document.querySelectorAll('section.card')].map((e) => e.innerText.split(/\\s+/).join(' ')).join(' | ')")
    for words in ("1900-01-01 to 1931-10-", "Mean of born What Value 95 % mean 19", "Histogram of smokes Bin Count 95 % Bar no 1", "other ", "Mean of smokes What Value 95 % mean 0."):
        check(words in said, f"the statistics say {words!r}: {said}")
    walk.look_at("statistics-kinds", again=True)


def texts(walk, check, daemon, browser):
    """The frequent texts of a column are bought: the threshold and both charges are shown first."""
    rows = b"".join(b"%s,%s\n" % (site, b"ab"[i % 2:i % 2 + 1]) for i, site in enumerate([b"north"] * 500 + [b"Jane Roe"]))
    daemon.register("sites", {"format": "csv", "task": "classification", "header": False, "columns": [
        {"name": "site", "kind": "hashed", "buckets": 4, "text_bytes": 16}, {"name": "ill", "kind": "label", "values": ["a", "b"]}]},
        {"data": rows}, {"epsilon": 2, "delta": 1e-5, "discovery_delta": 2e-6})
    browser.go("/ui/statistics?dataset=sites")
    browser.await_text("Nothing yet")
    browser.choose("#kind", "words")
    browser.click("#add")
    browser.type("#epsilon", "0.5")
    browser.type("#failure", "0.000001")
    browser.await_that("document.getElementById('verdict')?.innerText.includes('10⁻⁶, which is charged too') && !document.getElementById('spend').disabled", "the price")
    walk.look_at("statistics-texts", again=True)
    browser.click("#spend")
    browser.await_that("[...document.querySelectorAll('section.card h2')].some((e) => e.innerText == 'Frequent texts of site')", "the texts")
    said = browser.run("[...document.querySelectorAll('section.card')].map((e) => e.innerText.split(/\\s+/).join(' ')).join(' | ')")
    check("Text Count north " in said and "Jane" not in said, f"the texts: {said}")
    budget = daemon.get("/v1/datasets/sites/budget")
    check(abs(budget["discoveries"]["spent"] / 1e-6 - 1) < 1e-6, f"the delta is charged: {budget['discoveries']}")


def declared_again(check, browser):
    """The form of a dataset that was declared before has all that was declared."""
    browser.go("/ui/register?dataset=visits")
    browser.await_that("document.querySelectorAll('.columns tbody tr').length == 6", "the columns")
    found = browser.run("['/columns/0/format', '/columns/0/low', '/columns/3/buckets', '/missing'].map((id) => document.getElementById(id).value).join()")
    ticks = browser.run("['/columns/0/parts/month', '/columns/1/if_missing', '/columns/2/other'].every((id) => document.getElementById(id).checked)")
    check(found == "%d.%m.%Y,1900-01-01,16,NA, ?" and ticks, f"the form again: {found} {ticks}")


def walk(walk, check, daemon, browser, folder):
    register(walk, check, daemon, browser, folder)
    statistics(walk, check, browser)
    texts(walk, check, daemon, browser)
    declared_again(check, browser)
    register_lines(check, daemon, browser, folder)
