"""Uses the forms like a person: people with several rows each, some of them held out, a job with every
kind of setting, its model's predictions, the same job again from public weights, and a sweep.
dashboard.py calls it."""

import csv
import json
import os
import time

TOWNS, HEADER = ("Bonn", "Kiel", "Ulm"), ["patient", "age", "visits", "town", "stays"]
VOLUNTEERS = {"format": "csv", "task": "classification", "header": True, "columns": [
    {"name": "age", "kind": "numeric", "range": [0, 120]}, {"name": "visits", "kind": "numeric", "range": [0, 50]},
    {"name": "town", "kind": "categorical", "values": list(TOWNS)}, {"name": "stays", "kind": "label", "values": ["no", "yes"]}]}


def rows(first, count):
    """Returns the rows without the column of persons."""
    for i in range(first, first + count):
        age, visits = 18 + i * 7 % 70, i * 13 % 40
        yield [age, visits, TOWNS[i % 3], "yes" if age + visits > 70 else "no"]


def walk(walk, check, daemon, browser, folder):
    text = "".join(",".join(map(str, row)) + "\n" for row in [HEADER[1:], *rows(9000, 600)])
    daemon.register("volunteers", VOLUNTEERS, {"data": text.encode()}, "public")
    persons(walk, check, daemon, browser, folder)
    job = settings(walk, check, daemon, browser)
    predictions(walk, check, browser)
    begun = again(check, daemon, browser, folder, job)
    delete_file(walk, check, daemon, browser, begun)
    many_files(check, daemon, browser, job)
    sweep(walk, check, daemon, browser)
    draws(walk, check, daemon, browser)


def persons(walk, check, daemon, browser, folder):
    """Returns a table in which people have one to three rows, one cell is empty, and a fifth of them is held out."""
    path = os.path.join(folder, "clinic.csv")
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for i, row in enumerate(rows(0, 3000)):
            writer.writerow([f"p{i // 2 + i % 3 // 2}", row[0], "" if i == 5 else row[1], *row[2:]])
    browser.go("/ui/register")
    browser.attach("input[type=file]", path)
    browser.await_text("clinic.csv")
    browser.choose("[aria-label='Kind of patient']", "privacy_id")
    for column, low, high in ((1, "0", "120"), (2, "0", "50")):
        browser.type(f"[id='/columns/{column}/low']", low)
        browser.type(f"[id='/columns/{column}/high']", high)
    browser.await_text("This column has empty cells")
    browser.type("[id='/columns/2/default']", "5")
    browser.type("[id='/columns/3/values']", ", ".join(TOWNS))
    browser.type("[id='/columns/4/values']", "no, yes")
    browser.click("input[value=private]")
    browser.type("[id='/privacy/epsilon']", "4")
    browser.type("[id='/holdout']", "0.2")
    browser.choose("[id='/rows_kept']", "4")
    walk.look_at("register-persons", again=True)
    browser.click("#state")
    browser.click("#register")
    browser.await_that("location.pathname == '/ui/datasets/clinic'", "the page of the new dataset")
    browser.go("/ui/datasets/clinic")
    browser.await_text("Budget of the records held out")
    browser.await_text("each person, with all of their rows")
    walk.look_at("persons")
    dataset = daemon.get("/v1/datasets/clinic")
    check((dataset["unit"], dataset["holdout"], dataset.get("rows_kept")) == ("person", 0.2, 4), f"what is protected: {dataset['unit']}, rows kept: {dataset.get('rows_kept')}")


def fold_out(browser):
    browser.run("document.querySelectorAll('main details').forEach((one) => { one.open = true })")


def fill(browser, fields):
    for pointer, text in fields.items():
        browser.type(f"[id='{pointer}']", text)


def ready(browser):
    """Waits until the daemon has priced the current content of the form."""
    browser.await_that("!document.getElementById('submit').disabled", "a price of what is written")


def submit(browser):
    ready(browser)
    browser.click("#submit")
    browser.await_that("location.pathname.startsWith('/ui/jobs/job_')", "the job's page")
    browser.await_text("Succeeded")
    return browser.run("location.pathname.split('/').at(-1)")


def quantiles(daemon):
    """Returns the id of statistics: the quantiles of ages and numbers of visits."""
    made = daemon.post("/v1/statistics", {"dataset": "clinic", "privacy": {"epsilon": 0.5}, "statistics": [
        {"kind": "quantiles", "column": name, "probabilities": [0.05, 0.95]} for name in ("age", "visits")]})
    while daemon.get(f"/v1/statistics/{made['id']}")["state"] == "RUNNING":
        time.sleep(0.1)
    return made["id"]


def settings(walk, check, daemon, browser):
    released = quantiles(daemon)
    browser.go("/ui/train?dataset=clinic")
    browser.await_text("It fits.")
    check(browser.run("document.getElementById('/evaluation').value") == "volunteers", "a public twin is offered")
    check("in the order no, yes" in browser.run("document.getElementById('/class_weights').closest('.field').innerText")
          and browser.run("!document.getElementById('/class_weights').closest('details')"), "the weights of the classes are in plain sight, with their names")
    fold_out(browser)
    browser.choose("[id='/evaluation']", "-holdout")
    browser.choose("[id='/averaging/kind']", "tail")
    browser.choose("[id='/optimizer/name']", "adam_bc")
    check(browser.run("!document.getElementById('/optimizer/momentum') && document.getElementById('/optimizer/floor').placeholder") == "0.5",
          "adam_bc has a floor and no momentum")
    browser.choose("[id='/optimizer/name']", "sgd")
    browser.choose("[id='/optimizer/schedule']", "cosine")
    browser.choose("[id='/scaling/statistics']", released)
    check("quantiles of age, visits" in browser.run("document.getElementById('/scaling/statistics').selectedOptions[0].innerText"), "statistics are chosen from a list")
    fill(browser, {"/evaluation/epsilon": "0.3", "/display_name": "First try", "/privacy/epsilon": "0.6", "/privacy/delta": "0.000001", "/batch_size": "300",
                   "/rows_per_person": "2", "/epochs": "5", "/optimizer/learning_rate": "1", "/optimizer/learning_rate/final": "0.1", "/optimizer/warmup": "0.1",
                   "/optimizer/weight_decay": "0.001", "/optimizer/momentum": "0.5", "/averaging/share": "0.25", "/model/init_seed": "7", "/class_weights": "1, many"})
    browser.await_that("document.getElementById('/class_weights').getAttribute('aria-invalid')", "the fault at its field")
    browser.expect_faults("400 (Bad Request)")
    fill(browser, {"/class_weights": "1, 2.5"})
    ready(browser)
    walk.look_at("settings")
    job = daemon.get(f"/v1/jobs/{submit(browser)}")
    browser.await_text("Quality on the holdout")
    browser.await_text("1 to 0.1, cosine, warm-up 10 %")
    check(job["optimizer"] == {"name": "sgd", "learning_rate": {"initial": 1, "final": 0.1}, "schedule": "cosine", "warmup": 0.1, "weight_decay": 0.001,
                               "momentum": 0.5}, f"the optimizer: {job['optimizer']}")
    check((job["averaging"], job["class_weights"], job["rows_per_person"], job["display_name"], job["model_spec"]["init_seed"])
          == ({"kind": "tail", "share": 0.25}, [1, 2.5], 2, "First try", 7), "what is kept, weights, rows, name and seed")
    check(job["scaling"]["statistics"] == released, f"the ranges: {job.get('scaling')}")
    check(job["evaluation"] == {"holdout": True, "epsilon": 0.3} and job["privacy"]["delta"] == 1e-6, f"the look: {job['evaluation']}")
    return job


def predictions(walk, check, browser):
    fold_out(browser)
    browser.type("#records", "80,35,Bonn\n20,,Kiel\n30,5,Paris")
    browser.click_text("Predict")
    browser.await_that("document.querySelector('main form [role=alert]')", "a town that nobody declared")
    browser.expect_faults("400 (Bad Request)")
    browser.type("#records", "80,35,Bonn\n20,,Kiel")
    browser.click_text("Predict")
    browser.await_that("document.querySelectorAll('[aria-label=Predictions] tbody tr').length == 2", "an answer for each record")
    said = browser.run("[...document.querySelectorAll('[aria-label=Predictions] b')].map((e) => e.innerText)")
    check(said == ["yes", "no"], f"what the model says: {said}")
    walk.look_at("holdout")


def again(check, daemon, browser, folder, job):
    """A copy of the job must have all its settings; it may start from its weights."""
    path = os.path.join(folder, "public.safetensors")
    with open(path, "wb") as file:
        file.write(daemon.call("GET", f"/v1/models/{job['model']}/content"))
    browser.click_text("Train again with changes")
    browser.await_text("It fits.")
    shown = browser.run("""Object.fromEntries(['/optimizer/learning_rate/initial', '/optimizer/learning_rate/final', '/optimizer/schedule', '/optimizer/warmup',
        '/class_weights', '/averaging/share', '/rows_per_person', '/model/init_seed', '/privacy/epsilon', '/privacy/delta', '/scaling/statistics'].map((id) => [id, document.getElementById(id).value]))""")
    check(list(shown.values()) == ["1", "0.1", "cosine", "0.1", "1, 2.5", "0.25", "2", "7", "0.6", "0.000001", job["scaling"]["statistics"]], f"the copy has {shown}")
    fold_out(browser)
    browser.await_that(f"document.querySelector(\"option[value='{job['model']}']\")", "the job's model")
    browser.attach("#weights-file", path)
    browser.await_that("document.getElementById('/model/weights').value.startsWith('fil_')", "the file that was sent")
    browser.choose("[id='/model/trainable']", "only")
    browser.type("[id='/model/trainable/only']", "nothing*")
    browser.await_that("document.getElementById('/model/trainable/only').getAttribute('aria-invalid')", "a pattern that matches nothing")
    browser.expect_faults("400 (Bad Request)")
    browser.type("[id='/model/trainable/only']", "0.*")
    copy = daemon.get(f"/v1/jobs/{submit(browser)}")
    begun = copy["model_spec"]
    check(copy["scaling"] == job["scaling"], f"the copy's ranges: {copy.get('scaling')}")
    check(begun["weights"].startswith("fil_") and begun["trainable"] == {"only": ["0.*"]}, f"what it began with: {begun}")
    browser.await_text("only 0.*")
    return begun["weights"]


def delete_file(walk, check, daemon, browser, file):
    browser.go("/ui/train?dataset=clinic")
    browser.await_text("It fits.")
    fold_out(browser)
    browser.await_that(f"document.querySelector(\"option[value='{file}']\")", "the file in the list")
    check(not browser.run("document.getElementById('drop-file')"), "no file is chosen, so none can be deleted")
    browser.choose("[id='/model/weights']", file)
    browser.click("#drop-file")
    browser.await_text("Models that began with it stay")
    walk.look_at("file-delete", again=True)
    browser.click_text("Keep it")
    check([one["id"] for one in daemon.get("/v1/files")["files"]] == [file], "nothing is deleted before the answer")
    browser.click("#drop-file")
    browser.click_text("Delete it")
    browser.await_that(f"!document.getElementById('/model/weights').value && !document.querySelector(\"option[value='{file}']\")", "the file is gone from the list")
    check(daemon.get("/v1/files")["files"] == [], "the file is deleted")


def many_files(check, daemon, browser, job):
    """If there are more files than one page of the list shows, the oldest is on the next page."""
    weights = daemon.call("GET", f"/v1/models/{job['model']}/content")
    files = [daemon.call("POST", "/v1/files", weights, {"Content-Type": "application/octet-stream"})["id"] for _ in range(21)]
    listed = "[...document.getElementById('/model/weights').options].map((one) => one.value).filter((id) => id.startsWith('fil_'))"
    browser.go("/ui/train?dataset=clinic")
    browser.await_text("It fits.")
    fold_out(browser)
    browser.await_that(f"{listed}.length == 20", "the newest files")
    check(browser.run(listed) == files[:0:-1], "the newest files, newest first")
    browser.click_text("Older weights")
    browser.await_that(f"{listed}.join() == '{files[0]}'", "the oldest file")
    browser.choose("[id='/model/weights']", files[0])
    browser.click_text("Newest weights")
    browser.await_that(f"{listed}.length == 21 && document.getElementById('/model/weights').value == '{files[0]}'", "what was chosen stays")


def sweep(walk, check, daemon, browser):
    browser.go("/ui/train?dataset=clinic")
    browser.await_text("It fits.")
    browser.click_text("By noise")
    fold_out(browser)
    fill(browser, {"/privacy/noise_multiplier": "20", "/epochs": "2", "/grid/~1optimizer~1learning_rate": "0.5 2"})
    browser.click("#another")
    fill(browser, {"/grid/~1batch_size": "300 0"})
    browser.await_that("document.getElementById('/grid/~1batch_size').getAttribute('aria-invalid') || document.querySelector('.cost [role=alert]')", "a batch of nothing")
    browser.expect_faults("400 (Bad Request)")
    fill(browser, {"/grid/~1batch_size": "300 500"})
    browser.await_text("all 4 runs together")
    ready(browser)
    walk.look_at("train-sweep", again=True)
    browser.click("#submit")
    browser.await_that("location.pathname.startsWith('/ui/sweeps/swp_')", "the sweep's page")
    browser.await_text("4 of 4")
    browser.await_text("the best, run")
    browser.await_that("document.querySelector('ui-chart canvas')", "a chart")
    browser.run("document.querySelector('.parallel').focus()")
    browser.press("ArrowRight", 39)
    browser.await_that("/^Run 1: learning rate 0.5, batch size 300, accuracy [0-9.]+ %$/.test(document.querySelector('.parallel + .spoken').innerText)", "the chart speaks")
    check(browser.run("document.querySelectorAll('.parallel .best').length") == 2, "the best is a line of two parts")
    walk.look_at("sweep")
    browser.click_text("Delete")
    browser.click_text("Delete it")
    browser.await_that("document.querySelector('[role=alert]')", "its models come first")
    browser.expect_faults("409 (Conflict)")
    browser.click_text("Curves of the best runs")
    browser.await_text("Curves of 4 runs")
    check(browser.run("document.querySelector('ui-chart .legend').children.length") == 4, "one chart has the curves of all runs")
    browser.go("/ui/sweeps")
    browser.await_text("4 succeeded")
    walk.look_at("sweeps")
    found = daemon.get("/v1/sweeps")["sweeps"]
    check([one["run_count"] for one in found] == [4], f"one sweep of four: {json.dumps(found)[:200]}")


def draws(walk, check, daemon, browser):
    """Starts two runs with drawn settings: from a range, from whole numbers, from a list."""
    browser.go("/ui/train?dataset=clinic")
    browser.await_text("It fits.")
    browser.click_text("By noise")
    fold_out(browser)
    browser.choose("#way", "random")
    rate, batch, decay = (f"/random/settings/~1{name}" for name in ("optimizer~1learning_rate", "batch_size", "optimizer~1weight_decay"))
    fill(browser, {"/privacy/noise_multiplier": "20", "/epochs": "2", "/random/count": "2", "/random/seed": "7", rate: "0.1 1 10"})
    browser.await_that(f"document.getElementById('{rate}').getAttribute('aria-invalid')", "three numbers are no span")
    browser.expect_faults("400 (Bad Request)")
    fill(browser, {rate: "0.1 10"})
    browser.click("#another")
    browser.choose("#scale-1", "linear")
    fill(browser, {batch: "300 500"})
    browser.click("#another")
    browser.choose("#setting-2", "/optimizer/weight_decay")
    browser.choose("#scale-2", "values")
    fill(browser, {decay: "0 0.001"})
    browser.await_text("all 2 runs together")
    ready(browser)
    walk.look_at("train-draws", again=True)
    browser.click("#submit")
    browser.await_that("location.pathname.startsWith('/ui/sweeps/swp_')", "the sweep's page")
    browser.await_text("2 of 2")
    settings = [run["settings"] for run in daemon.get(f"/v1/sweeps/{browser.run('location.pathname.split(String.fromCharCode(47)).at(-1)')}")["runs"]]
    for drawn in settings:
        check(0.1 <= drawn["/optimizer/learning_rate"] <= 10 and drawn["/batch_size"] in range(300, 501) and drawn["/optimizer/weight_decay"] in (0, 0.001),
              f"what was drawn: {drawn}")
    check(len(settings) == 2 and settings[0] != settings[1], "two draws")
