#!/usr/bin/env python3
"""A real Prometheus scrapes the daemon while it trains and answers many requests.

  watch.py EPSILOND      promtool and prometheus are in PATH

Every metric that the rules and the Grafana dashboard use must exist; every scrape under load must succeed;
counters must never fall; figures must arrive unchanged; no rule may fire without a reason."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import digits
from daemon import Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = os.path.join(HERE, "../../deploy")
SCRAPES = 12  # to wait for
# It outlasts the scrapes even if a step takes 10 us, and is cancelled after them.
JOB = {"dataset": "digits", "model": {"preset": "mlp", "hidden": [64], "activation": "relu"},
       "algorithm": {"name": "dpsgd"}, "batch_size": 64, "steps": 200000,
       "privacy": {"noise_multiplier": 300}}
failures = []


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"check-metrics: FAILED: {message}")


def log_of(daemon):
    with open(os.path.join(daemon.directory, "log")) as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def metrics_base(daemon):
    port = next(line["port"] for line in log_of(daemon) if line["event"] == "metrics_listening")
    return f"127.0.0.1:{port}"


def check_text(address):
    """Checks the text with promtool, and returns its families."""
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        text = answer.read().decode()
    said = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
    check(said.returncode == 0 and not said.stderr, f"promtool check metrics: {said.stdout}{said.stderr}")
    return {name: kind for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)}


def check_names(families):
    """Checks that every metric that a rule or a panel names is one of the daemon's."""
    exist = set(families)
    for name, kind in families.items():
        if kind == "histogram":
            exist |= {name + part for part in ("_bucket", "_sum", "_count")}
    for path in ("prometheus/rules.yml", "grafana.json"):
        with open(os.path.join(DEPLOY, path)) as file:
            named = set(re.findall(r"\b(?:epsilond|process)_[a-z_]+\b", file.read()))
        check(named, f"{path} names no metric")
        check(named <= exist, f"{path} names what is not there: {named - exist}")


class Prometheus:
    """A real Prometheus with the example's configuration, which scrapes each second."""

    def __init__(self, folder, address):
        with open(os.path.join(DEPLOY, "prometheus/prometheus.yml")) as file:
            text = file.read().replace("127.0.0.1:9464", address).replace("15s", "1s")
        text = text.replace("rules.yml", os.path.abspath(os.path.join(DEPLOY, "prometheus/rules.yml")))
        self.config = os.path.join(folder, "prometheus.yml")
        with open(self.config, "w") as file:
            file.write(text)
        self.folder = folder

    def __enter__(self):
        self.log = open(os.path.join(self.folder, "prometheus.log"), "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.config}", "--web.listen-address=127.0.0.1:0",
             f"--storage.tsdb.path={self.folder}/tsdb", "--log.format=json"],
            stdout=self.log, stderr=self.log)
        self.base = self._base()
        self._await_ready()
        return self

    def _base(self):
        for _ in range(3000):  # five minutes: only for a hang
            with open(self.log.name) as file:
                found = re.search(r'"address":"127\.0\.0\.1:([1-9]\d*)"', file.read())
            if found:
                return f"http://127.0.0.1:{found.group(1)}"
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.process.kill()
        with open(self.log.name) as file:
            raise RuntimeError("Prometheus did not start:\n" + file.read())

    def _await_ready(self):
        """Until its storage is open it answers every query with 503."""
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.base}/-/ready"):
                    return
            except urllib.error.HTTPError:
                time.sleep(0.1)
        raise RuntimeError("Prometheus listens and does not get ready")

    def ask(self, query):
        path = f"{self.base}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
        with urllib.request.urlopen(path) as answer:
            return json.load(answer)["data"]["result"]

    def value(self, query):
        result = self.ask(query)
        return float(result[0]["value"][1]) if result else None

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def load(daemon, stop):
    """A client that sends three requests every 20 ms."""
    while not stop.wait(0.02):
        for path in ("/v1/jobs?view=summary", "/v1/datasets?view=summary", "/v1/status"):
            with urllib.request.urlopen(daemon.base + path) as answer:
                answer.read()


def busy(daemon):
    jobs = daemon.get("/v1/status")["jobs"]
    return jobs["RUNNING"] + jobs["CANCELLING"] > 0


def watch(daemon, prometheus):
    job = daemon.post("/v1/jobs", JOB)["id"]
    stop = threading.Event()
    clients = [threading.Thread(target=load, args=(daemon, stop)) for _ in range(4)]
    for client in clients:
        client.start()
    steps = "sum(increase(epsilond_train_steps_total[5m]))"
    while (prometheus.value("count_over_time(up[5m])") or 0) < SCRAPES or \
            (prometheus.value(steps) == 0 and busy(daemon)):
        time.sleep(0.5)
    stop.set()
    for client in clients:
        client.join()
    check(prometheus.value("min_over_time(up[5m])") == 1, "a scrape under load failed")
    check(prometheus.value("max_over_time(scrape_duration_seconds[5m])") is not None, "no scrape was timed")
    check(prometheus.value(steps) > 0, "no step was seen")
    check(prometheus.value("sum(increase(epsilond_http_requests_total[5m]))") > 0, "no request was seen")
    falls = prometheus.ask('{__name__=~"epsilond_.*_total|process_cpu_seconds_total"}')
    for series in falls:
        name = series["metric"]["__name__"]
        check(prometheus.value(f"max(resets({name}[5m]))") == 0, f"{name} fell")
    print(f"check-metrics: scraped {prometheus.value('count_over_time(up[5m])'):.0f} times under load, "
          f"{prometheus.value('sum(epsilond_http_requests_total)'):.0f} requests, a scrape took at most "
          f"{1000 * prometheus.value('max_over_time(scrape_duration_seconds[5m])'):.0f} ms, "
          f"{len(prometheus.ask('{job=~%s}' % json.dumps('epsilond')))} series")
    daemon.call("POST", f"/v1/jobs/{job}:cancel")


def check_arrived(daemon, prometheus):
    budget = daemon.get("/v1/datasets/digits/budget")
    seq = daemon.get("/v1/ledger/head")["seq"]
    while prometheus.value("epsilond_ledger_seq") != seq:
        time.sleep(0.5)
    left = prometheus.value('epsilond_budget_remaining_ratio{dataset="digits"}')
    check(left == budget["share"]["left"], f"left {left}, {budget['share']}")
    firing = prometheus.ask('ALERTS{alertstate="firing"}')
    check(firing == [], f"these fire: {[alert['metric']['alertname'] for alert in firing]}")


def main():
    with tempfile.TemporaryDirectory(prefix="epsilond-watch.") as folder, \
            Daemon(sys.argv[1], "--metrics-listen", "127.0.0.1:0", "--workers", "1") as daemon:
        daemon.register("digits", digits.SCHEMA, digits.files(False), {"epsilon": 8, "delta": 1e-5})
        address = metrics_base(daemon)
        check_names(check_text(address))
        with Prometheus(folder, address) as prometheus:
            watch(daemon, prometheus)
            while busy(daemon):
                time.sleep(0.5)
            check_arrived(daemon, prometheus)
    sys.exit(1 if failures else 0)


main()
