#!/usr/bin/env python3
"""Many tabs of one browser, and much data.

  tabs.py CHROMIUM EPSILOND

Browsers open six connections to a host. Nine tabs must load nevertheless, and share one stream of
events; if a proxy holds the stream back, they must poll. With 10,000 jobs and 1,000 datasets, a page
must request at most 100 kB of answers and show at most 3,000 elements."""

import sys
import time

from chromium import Chromium
from daemon import Daemon

TABS, JOBS, DATASETS, WORKERS = 9, 10_000, 1_000, 250
ANSWERS_MAX, NODES_MAX = 100_000, 3000
POINTS = {"format": "csv", "task": "classification", "classes": 2, "header": False,
          "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]},
                      {"name": "y", "kind": "label", "values": ["0", "1"]}]}
BUDGET = {"epsilon": 8, "delta": 1e-5}
SHORT = {"dataset": "points", "evaluation": "points-test", "model": {"preset": "linear"}, "batch_size": 20,
         "algorithm": {"name": "dpsgd"}, "steps": 1, "optimizer": {"name": "sgd", "learning_rate": 0.1},
         "privacy": {"noise_multiplier": 1e5}}
LONG = {**SHORT, "batch_size": 50, "steps": 2_000_000, "privacy": {"noise_multiplier": 1e6}}
failures = []


def check(fact, message):
    print(f"  {'ok' if fact else 'FAILED'}: {message}")
    if not fact:
        failures.append(message)


def points(first):
    return b"".join(b"%.3f,%d\n" % ((first + i) / 2000, i % 2) for i in range(500))


def furnish(daemon):
    daemon.register("points", POINTS, {"data": points(0)}, BUDGET)
    daemon.register("points-test", POINTS, {"data": points(700)}, "public")


def streams(browser):
    return [url for url in browser.requests if url.endswith("/v1/events")]


def step(browser):
    return browser.run("parseInt(document.title) || 0")


def await_progress(browser, tabs):
    """The progress must change in each tab. A private job shows it at each quarter of its steps."""
    before = {}
    for tab in tabs:
        browser.use(tab)
        before[tab] = step(browser)
    for tab in tabs:
        browser.use(tab)
        browser.await_that(f"(parseInt(document.title) || 0) > {before[tab]}", "progress in the title")


def many_tabs(daemon, browser):
    """Each tab must load and follow; one tab holds the stream, and another one after it is closed."""
    job = daemon.post("/v1/jobs", LONG)["id"]
    tabs = [browser.session] + [browser.tab() for _ in range(TABS - 1)]
    for tab in tabs:
        browser.use(tab)
        browser.go(f"/ui/jobs/{job}")
        browser.await_text("Running")
    check(True, f"{TABS} tabs have loaded")
    await_progress(browser, tabs)
    check(True, "all of them follow")
    check(len(streams(browser)) == 1, f"by one stream: {len(streams(browser))}")
    waits = [url for url in browser.requests if "wait=" in url]
    check(waits == [], f"and none waits by itself: {len(waits)}")
    browser.use(tabs[0])
    browser.close_tab()
    await_progress(browser, tabs[1:])
    check(len(streams(browser)) == 2, f"another tab has taken it over: {len(streams(browser)) - 1}")
    browser.use(tabs[1])
    browser.click_text("Cancel")
    browser.click_text("Cancel it")
    for tab in tabs[1:]:
        browser.use(tab)
        browser.await_text("Cancelled")
    check(True, "all of them see the end")
    for tab in tabs[2:]:
        browser.use(tab)
        browser.close_tab()
    browser.use(tabs[1])


def without_stream(daemon, browser):
    """A proxy holds the stream back."""
    browser.call("Network.setBlockedURLs", urls=["*/v1/events*"])
    job = daemon.post("/v1/jobs", LONG)["id"]
    browser.requests.clear()
    browser.go(f"/ui/jobs/{job}")
    browser.await_text("Running")
    await_progress(browser, [browser.session])
    browser.await_that("performance.getEntriesByType('resource').some((e) => e.name.includes('wait=25'))", "a request that waits")
    check(True, "without a stream a job's page waits by itself")
    daemon.call("POST", f"/v1/jobs/{job}:cancel")
    browser.await_text("Cancelled")
    browser.call("Network.setBlockedURLs", urls=[])
    browser.expect_faults("ERR_BLOCKED_BY_CLIENT")


def seed(daemon):
    """Creates the jobs. Uses many workers, because a worker ends only one job a second."""
    for done in range(JOBS):
        last = daemon.post("/v1/jobs", SHORT)["id"]
        if done % WORKERS == WORKERS - 1:
            daemon.get(f"/v1/jobs/{last}?wait=60")
    for i in range(DATASETS - 2):
        daemon.post("/v1/datasets", {"id": f"set-{i:04}", **POINTS, "privacy": BUDGET})
    return last


def wide_sweep(daemon):
    """Runs a sweep of the largest number of runs, over two settings."""
    sweep = daemon.post("/v1/sweeps", {"job": SHORT, "grid": {"/optimizer/learning_rate": [i / 100 for i in range(1, 11)],
                                                              "/batch_size": list(range(10, 60, 5))}})["id"]
    while daemon.get(f"/v1/sweeps/{sweep}")["state"] == "ACTIVE":
        time.sleep(0.1)
    return sweep


def settle(browser):
    """Waits until the page has sent no request for a second."""
    count, since = -1, time.monotonic()
    while time.monotonic() - since < 1:
        now = browser.run("performance.getEntriesByType('resource').length")
        if now != count:
            count, since = now, time.monotonic()
        time.sleep(0.05)


def pages_at_load(daemon, browser):
    last, sweep = seed(daemon), wide_sweep(daemon)
    for name, path in {"datasets": "/ui/datasets", "dataset": "/ui/datasets/points", "jobs": "/ui/jobs",
                       "jobs of a dataset": "/ui/jobs?dataset=points", "job": f"/ui/jobs/{last}", "train": "/ui/train?dataset=points",
                       "compare": "/ui/compare?dataset=points", "register": "/ui/register", "models": "/ui/models", "sweeps": "/ui/sweeps", "sweep": f"/ui/sweeps/{sweep}",
                       "statistics": "/ui/statistics?dataset=points", "approvals": "/ui/approvals", "audit": "/ui/audit", "keys": "/ui/keys"}.items():
        browser.go(path)
        browser.await_that("document.querySelector('main h1')", name)
        settle(browser)
        size = browser.run("""performance.getEntriesByType('resource').filter((e) => new URL(e.name).pathname.startsWith('/v1/'))
            .reduce((sum, e) => sum + e.decodedBodySize, 0)""")
        nodes = browser.run("document.querySelectorAll('*').length")
        check(size <= ANSWERS_MAX, f"{name}: {size} bytes of answers")
        check(nodes <= NODES_MAX, f"{name}: {nodes} elements")


def main():
    chromium, epsilond = sys.argv[1:]
    with Daemon(epsilond, "--workers", str(WORKERS), "--threads", "1", "--drain-timeout", "0") as daemon, \
            Chromium(chromium, daemon.base) as browser:
        furnish(daemon)
        for part in (many_tabs, without_stream, pages_at_load):
            part(daemon, browser)
        check(browser.faults == [], f"nothing on the consoles: {browser.faults}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
