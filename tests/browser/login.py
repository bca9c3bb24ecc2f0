"""A person at the dashboard of a daemon that asks for keys: log in, make, rotate and revoke
keys, see what one's role allows, log out. dashboard.py calls it."""

import json


def walk(walk, check, daemon, browser):
    """From the first key to the last page."""
    operator = first_key(walk, check, browser)
    ask(walk, check, browser, operator)
    analyst = keys(walk, check, browser)
    roles(walk, check, daemon, browser, analyst)
    ended(check, daemon, browser, operator)


def first_key(walk, check, browser):
    browser.go("/ui/")
    browser.click_text("Keys")
    browser.await_text("asks nobody for a key yet")
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


def ask(walk, check, browser, key):
    """Whoever is nobody is asked to log in, and comes to where they wanted."""
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
    return second


def roles(walk, check, daemon, browser, key):
    """An analyst is shown what an analyst may do."""
    browser.click_text("Log out")
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    browser.type("#key", key)
    browser.click("main form button")
    browser.await_that("document.querySelector('header').innerText.includes('ana')", "the name in the header")
    shown = browser.run("[...document.querySelectorAll('header a')].map((e) => e.innerText.trim()).filter(Boolean).join()")
    check("Keys" not in shown and "New job" in shown, f"an analyst is shown {shown}")
    browser.await_text("No datasets yet")
    check("Register a dataset" not in browser.run("document.querySelector('main').innerText"), "an analyst registers nothing")
    walk.look_at("analyst")


def ended(check, daemon, browser, operator):
    """Whose key is revoked elsewhere is asked to log in at the next thing they do."""
    bearer = {"Authorization": f"Bearer {operator}"}
    check(daemon.call("GET", "/v1/session", headers=bearer)["name"] == "ops", "a bearer is who its key says")
    keys_of_ana = [one["id"] for one in daemon.call("GET", "/v1/keys", headers=bearer)["keys"] if one["owner"] == "ana"]
    for one in keys_of_ana:
        daemon.call("POST", f"/v1/keys/{one}:revoke", headers=bearer)
    browser.await_that("location.pathname == '/ui/login'", "the page to log in")
    browser.expect_faults("401 (Unauthorized)")
    check(browser.faults == [], f"at the end of the login: {browser.faults}")
