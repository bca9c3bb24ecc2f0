"""Uses the dashboard of a daemon that requires keys like a person: logs in; creates, limits, rotates and
revokes keys; sees what a role allows; logs out; and grants again the budgets that a restored backup
froze, as one person and as two. dashboard.py calls it."""

import glob
import json
import os
import shutil

POINTS = {"format": "csv", "task": "classification", "classes": 2, "header": False,
          "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "y", "kind": "label", "values": ["0", "1"]}]}


def freeze(daemon, folder):
    """Creates two datasets that are trained on after the backup that is restored."""
    for number, name in enumerate(("north", "south")):
        daemon.register(name, POINTS, {"data": b"".join(b"%.4f,%d\n" % ((number + 2 * i) / 2000, i % 2) for i in range(500))},
                        {"epsilon": 4, "delta": 1e-6})
    data = os.path.join(daemon.directory, "data")
    daemon.stop()
    for file in glob.glob(os.path.join(data, "epsilond.db*")):
        shutil.copy(file, folder)
    daemon.start()
    for name in ("north", "south"):
        daemon.run_job({"dataset": name, "model": {"preset": "linear"}, "algorithm": {"name": "dpsgd"}, "epochs": 1, "privacy": {"epsilon": 1}})
    daemon.stop()
    for file in glob.glob(os.path.join(data, "epsilond.db*")):
        os.unlink(file)
    for file in glob.glob(os.path.join(folder, "epsilond.db*")):
        shutil.copy(file, data)
    daemon.start()


def walk(walk, check, daemon, browser):
    """Walks from the first key to the last page."""
    granted_anew(walk, check, daemon, browser)
    operator = first_key(walk, check, browser)
    ask(walk, check, browser, operator)
    enter(browser, walk.key("dana", "data_owner", "fraud")["Authorization"].split()[1], "dana")
    analyst = keys(walk, check, browser)
    second_person(walk, check, daemon, browser, operator, analyst)
    roles(walk, check, daemon, browser, analyst)
    ended(check, daemon, browser, operator)


def first_key(walk, check, browser):
    browser.go("/ui/")
    browser.click_text("Keys")
    browser.await_text("does not require keys yet")
    browser.type("[id='/owner']", "ops")
    browser.click("#create")
    browser.await_that("document.getElementById('key')", "the first key")
    browser.await_that("document.querySelectorAll('tbody tr').length == 1", "its row")
    key = browser.run("document.getElementById('key').innerText")
    check(key.startswith("dpk_"), f"a key begins with dpk_, not {key[:4]}")
    check(browser.run("document.querySelector('.made').innerText").count(key) == 2, "it is shown, and in its curl line")
    browser.await_that("document.querySelector('header').innerText.includes('ops')", "the name in the header")
    browser.click_text("I have kept it")
    check(key not in browser.run("document.body.innerText"), "it is shown once")
    check(browser.run("document.cookie") == "", "no script reads the cookie")
    browser.click_text("Log out")
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    return key


def granted_anew(walk, check, daemon, browser):
    """Grants a frozen budget without keys, so without a second person who approves."""
    browser.go("/ui/datasets/north")
    browser.await_text("Frozen.")
    walk.look_at("frozen")
    browser.type("[id='/epsilon']", "1")
    browser.type("[id='/delta']", "2")
    browser.click("#regrant")
    browser.await_that("document.getElementById('/delta').getAttribute('aria-invalid')", "the fault at its field")
    browser.expect_faults("400 (Bad Request)")
    browser.type("[id='/delta']", "0.000001")
    browser.click("#regrant")
    browser.await_text("Granted 2 times")
    budget = daemon.get("/v1/datasets/north/budget")
    check(budget["epoch"] == 2 and not budget["frozen"] and budget["epsilon"] == 1, f"the epoch that was granted: {budget['epoch']}")


def second_person(walk, check, daemon, browser, operator, analyst):
    """A further epoch and wider limits: one person proposes, the other looks and decides."""
    ana, bob = walk.key("ana-owner", "data_owner"), walk.key("bob", "privacy_officer")
    browser.call("Network.setExtraHTTPHeaders", headers=ana)
    browser.go("/ui/datasets/south")
    browser.type("[id='/epsilon']", "1")
    browser.type("[id='/delta']", "0.000001")
    browser.click("#regrant")
    browser.await_text("A further epoch waits")
    browser.call("Network.setExtraHTTPHeaders", headers=bob)
    browser.go("/ui/approvals")
    browser.await_text("south")
    browser.await_text("A further ε 1.00")
    browser.await_text("ana’s key")
    browser.await_text("ε 2 a job")
    walk.look_at("approvals-limits")
    for left in (1, 0):
        browser.type("main section:nth-of-type(1) input", "as agreed")
        browser.click("main section:nth-of-type(1) button.accent")
        browser.await_that(f"document.querySelectorAll('main section').length == {left}", "the answer")
    browser.await_text("Nothing waits")
    check(daemon.call("GET", "/v1/datasets/south/budget", headers=bob)["epoch"] == 2, "the further epoch is granted")
    policy = daemon.call("GET", f"/v1/keys/{analyst[4:12]}", headers={"Authorization": f"Bearer {operator}"})["policy"]
    check(policy == {"max_epsilon_per_job": 2}, f"what the key may do: {policy}")
    browser.call("Network.setExtraHTTPHeaders", headers={})
    browser.go("/ui/keys")


def ask(walk, check, browser, key):
    """Without a login, a page asks for one, and then opens the page that was requested."""
    browser.go("/ui/jobs?state=FAILED")
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    browser.await_that("document.activeElement.id == 'key'", "the field for the key")
    check(browser.run("document.querySelectorAll('nav a').length") == 0, "nobody is shown no pages")
    walk.look_at("login")
    browser.type("#key", "dpk_k7QdAbC1_" + 43 * "0")
    browser.click("main form button")
    browser.await_that("document.querySelector('[role=alert]')", "a refusal")
    browser.expect_faults("401 (Unauthorized)")
    browser.type("#key", key)
    browser.click("main form button")
    browser.await_that("location.pathname + location.search == '/ui/jobs?state=FAILED'", "the page that was wanted")
    check("dpk_" not in browser.run("location.href + document.documentElement.outerHTML"), "the key is nowhere in the page")


def enter(browser, key, name):
    """Logs in as another person; the browser belongs to that person from now on."""
    browser.click_text("Log out")
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    browser.type("#key", key)
    browser.click("main form button")
    browser.await_that(f"document.querySelector('header').innerText.includes({json.dumps(name)})", "the name in the header")


def keys(walk, check, browser):
    browser.click_text("Keys")
    browser.type("[id='/owner']", "")
    browser.click("#create")
    browser.await_that("document.getElementById('/owner').getAttribute('aria-invalid')", "the fault at its field")
    browser.expect_faults("400 (Bad Request)")
    browser.type("[id='/owner']", "ana")
    browser.type("[id='/project']", "fraud")
    browser.choose("[id='/role']", "analyst")
    browser.type("[id='/days']", "30")
    browser.run("document.querySelector('main form details').open = true")
    browser.type("[id='/policy/max_epsilon_per_job']", "none")
    browser.click("#create")
    browser.await_that("document.getElementById('/policy/max_epsilon_per_job').getAttribute('aria-invalid')", "the fault at its field")
    browser.expect_faults("400 (Bad Request)")
    browser.type("[id='/policy/max_epsilon_per_job']", "1")
    browser.click("#create")
    browser.await_text("The new key of ana")
    first = browser.run("document.getElementById('key').innerText")
    browser.await_that("document.querySelectorAll('tbody tr').length == 2", "two keys")
    walk.look_at("keys")
    browser.click(f"[aria-label='Rotate the key {first[4:12]} of ana']")
    browser.await_that(f"document.getElementById('key') && document.getElementById('key').innerText != {json.dumps(first)}", "its successor")
    second = browser.run("document.getElementById('key').innerText")
    browser.await_that("document.querySelectorAll('tbody tr').length == 3", "three keys")
    browser.click(f"[aria-label='Revoke the key {first[4:12]} of ana']")
    browser.await_text("Keep it")
    browser.click_text("Revoke it")
    browser.await_text("Revoked")
    for limit, then in (("0.5", "ε 0.5 a job"), ("2", "Waits: ε 2 a job")):
        browser.click(f"[aria-label='Change the limits of the key {second[4:12]} of ana']")
        browser.type(".limits [id='/policy/max_epsilon_per_job']", limit)
        browser.click("#limit")
        browser.await_text(then)
    walk.look_at("keys-limits", again=True)
    return second


def roles(walk, check, daemon, browser, key):
    """The pages show an analyst only what an analyst may do."""
    enter(browser, key, "ana")
    shown = browser.run("[...document.querySelectorAll('header a')].map((e) => e.innerText.trim()).filter(Boolean).join()")
    check("Keys" not in shown and "New job" in shown, f"an analyst is shown {shown}")
    browser.await_text("No datasets yet")
    check("Register a dataset" not in browser.run("document.querySelector('main').innerText"), "an analyst registers nothing")
    walk.look_at("analyst")


def ended(check, daemon, browser, operator):
    """After a key was revoked elsewhere, the next action asks for a login."""
    bearer = {"Authorization": f"Bearer {operator}"}
    check(daemon.call("GET", "/v1/session", headers=bearer)["name"] == "ops", "a bearer is who its key says")
    keys_of_ana = [one["id"] for one in daemon.call("GET", "/v1/keys", headers=bearer)["keys"] if one["owner"] == "ana"]
    for one in keys_of_ana:
        daemon.call("POST", f"/v1/keys/{one}:revoke", headers=bearer)
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    browser.expect_faults("401 (Unauthorized)")
    check(browser.faults == [], f"at the end of the login: {browser.faults}")


def approve(walk, check, daemon, browser, schema):
    """Two people: one proposes, the other looks and decides. The browser is the second person's."""
    browser.call("Page.navigate", url="about:blank")  # otherwise the current page would send requests without a key
    ana, bob = walk.key("ana", "data_owner"), walk.key("bob", "privacy_officer")
    for dataset, privacy in (("visitors", {"epsilon": 3, "delta": 1e-6}), ("streets", "public")):
        daemon.call("POST", "/v1/datasets", json.dumps({"id": dataset, **schema, "privacy": privacy}).encode(),
                    {"Content-Type": "application/json", "Idempotency-Key": dataset, **ana})
    browser.call("Network.setExtraHTTPHeaders", headers=bob)
    browser.go("/ui/approvals")
    browser.await_text("visitors")
    browser.await_text("Everybody may see these records.")
    check(browser.run("[...document.querySelectorAll('main button')].every((e) => e.disabled)"), "nothing is decided without a reason")
    walk.look_at("approvals")
    browser.type("main section:nth-of-type(1) input", "as agreed with the data protection office")
    browser.await_that("!document.querySelector('main section:nth-of-type(1) button').disabled", "a reason is enough")
    browser.click("main section:nth-of-type(1) button")
    browser.await_that("document.querySelector('tbody')?.innerText.includes('Approved')", "what was approved")
    browser.type("main section:nth-of-type(1) input", "these are people")
    browser.await_that("!document.querySelector('main section:nth-of-type(1) button').disabled", "a reason is enough")
    browser.click_text("Reject")
    browser.await_text("Nothing waits")
    walk.look_at("approvals-done", again=True)
    grants = {grant["dataset"]: grant["state"] for grant in daemon.call("GET", "/v1/grants", headers=bob)["grants"]}
    check(grants == {"visitors": "APPROVED", "streets": "REJECTED"}, f"what was decided: {grants}")
    browser.go("/ui/datasets")
    browser.await_text("rejected")
    browser.go("/ui/datasets/visitors")
    browser.await_text("What is public")
    check("Import" not in browser.run("document.querySelector('.actions').innerText"), "an officer imports nothing")
    browser.call("Network.setExtraHTTPHeaders", headers=ana)
    browser.go("/ui/datasets/visitors")
    browser.await_text("Import")
    check(browser.faults == [], f"after the approvals: {browser.faults}")
