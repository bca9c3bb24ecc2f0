"""Checks that the running daemon conforms to openapi.yaml with schemathesis: all its checks, valid and
broken requests, sequences of operations.

    [MINUTES=10] contract.py EPSILOND SCHEMATHESIS

The daemon runs on a free loopback port with its own directory, and has datasets, a job and a model that
the generated requests can use. Afterwards it must still answer, its ledger must verify, and its log must
have no failure.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import digits  # noqa: E402
from daemon import Daemon  # noqa: E402

REFUSED = [400, 403, 404, 405, 406, 409, 412, 413, 415, 416, 417, 422, 428, 503]
SEED, EXAMPLES = 20260101, 40
NOWHERE = "https://hooks.invalid/told"
POINTS = {"format": "csv", "task": "regression",
          "columns": [{"name": "x", "kind": "numeric", "range": [0, 1], "default": 0.5},
                      {"name": "y", "kind": "label", "range": [0, 1]}]}
ELSEWHERE = {"dataset": "digits", "engine": "sql", "unit": "record",
             "mechanism": {"kind": "laplace", "noise_scale": 400, "steps": 2,
                           "neighbour": "add_remove"}}
TENSOR = b'{"0.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
WEIGHTS = len(TENSOR).to_bytes(8, "little") + TENSOR + bytes(4)
# The operation that ends a thing, by kind: it gets things of its own, so that the other things stay.
ENDS = {"datasets": "dataset_delete", "jobs": "job_delete", "models": "model_delete",
        "webhooks": "webhook_delete", "charges": "charge_settle", "sweeps": "sweep_delete",
        "files": "file_delete"}
LINES = b"".join(b"%.3f,%.3f\n" % (i / 400, (i * 7 % 400) / 400) for i in range(400))


def furnish(daemon):
    """Creates what the generated requests use; returns the ids by kind."""
    budget = {"epsilon": 8, "delta": 1e-5}
    daemon.register("digits", digits.SCHEMA, digits.files(False), budget)
    daemon.register("points", POINTS, {"data": LINES}, "public")
    for name in ("empty", "doomed"):
        daemon.post("/v1/datasets", {"id": name, **POINTS, "privacy": budget})
    spec = {"model": {"preset": "linear"}, "steps": 20}
    first, _ = daemon.run_job({**spec, "dataset": "digits", "algorithm": {"name": "dpsgd"},
                               "privacy": {"epsilon": 1}})
    second, _ = daemon.run_job({**spec, "dataset": "points", "algorithm": {"name": "sgd"}})
    third, _ = daemon.run_job({**spec, "dataset": "points", "algorithm": {"name": "sgd"}})
    fourth = daemon.post("/v1/jobs", {**spec, "dataset": "points", "steps": 1000000,
                                      "algorithm": {"name": "sgd"}})
    daemon.post(f"/v1/jobs/{fourth['id']}:cancel", {})
    jobs = [first, second]
    hooks = [daemon.post("/v1/webhooks", {"url": NOWHERE, "events": ["job.failed"]})["id"]
             for _ in range(2)]
    charges = [daemon.post("/v1/charges", ELSEWHERE)["id"] for _ in range(2)]
    statistics = daemon.post("/v1/statistics", {
        "dataset": "digits", "statistics": [{"kind": "histogram", "column": "digit"}],
        "privacy": {"epsilon": 0.1}})["id"]
    evaluation = daemon.post(f"/v1/models/{second['model']}:evaluate", {"evaluation": "points"})["id"]
    job = {**spec, "dataset": "points", "algorithm": {"name": "sgd"}}
    sweep = daemon.post("/v1/sweeps", {"job": job, "grid": {"/steps": [20, 40]}})["id"]
    doomed = daemon.post("/v1/sweeps", {"job": job, "grid": {"/steps": [1000000, 2000000]}})["id"]
    daemon.post(f"/v1/sweeps/{doomed}:cancel", {})
    files = [daemon.call("POST", "/v1/files", WEIGHTS,
                         {"Content-Type": "application/octet-stream"})["id"] for _ in range(2)]
    return {"charges": charges[:1], "doomed_charges": charges[1:], "statistics": [statistics],
            "evaluations": [evaluation],
            "sweeps": [sweep], "doomed_sweeps": [doomed],
            "files": files[:1], "doomed_files": files[1:],
            "columns": ["digit", "cell1", "x", "y"], "datasets": ["digits", "points", "empty"], "jobs": [job["id"] for job in jobs],
            "models": [job["model"] for job in jobs], "webhooks": hooks[:1], "urls": [NOWHERE],
            "doomed_datasets": ["doomed"], "doomed_jobs": [fourth["id"]],
            "doomed_models": [third["model"]], "doomed_webhooks": hooks[1:]}


def configuration(ids):
    """Returns schemathesis.toml: most requests with an identifier get one that exists."""
    lines = [f'hooks = "{os.path.join(HERE, "hooks.py")}"', ""]
    for kind, values in ids.items():
        lines += [f"[dictionaries.{kind}]", f"values = {json.dumps(values)}", ""]
    for kind, end in ENDS.items():
        binding = f'{{dictionary = "{kind}", probability = 0.7}}'
        lines += ["[[operations]]", f'include-path-regex = "^/v1/{kind}/.id."',
                  f'exclude-operation-id = "{end}"', f'parameters = {{"path.id" = {binding}}}', ""]
        binding = f'{{dictionary = "doomed_{kind}", probability = 0.7}}'
        lines += ["[[operations]]", f'include-operation-id = "{end}"',
                  f'parameters = {{"path.id" = {binding}}}', ""]
    binding = '{dictionary = "statistics", probability = 0.7}'
    lines += ["[[operations]]", 'include-operation-id = "statistics_get"',
              f'parameters = {{"path.id" = {binding}}}', ""]
    binding = '{dictionary = "evaluations", probability = 0.7}'
    lines += ["[[operations]]", 'include-operation-id = "evaluation_get"',
              f'parameters = {{"path.id" = {binding}}}', ""]
    lines += ["[[operations]]", 'include-operation-id = ["webhook_create", "dataset_file_fetch"]',
              'parameters = {"body.url" = {dictionary = "urls", probability = 1.0}}', ""]
    # Streams of events end with their subject, or never (tests/e2e/test_events). After the first key is
    # created, all requests need one (tests/e2e/test_access).
    lines += ["[[operations]]", 'include-operation-id = ["events", "job_events", "key_create"]',
              "enabled = false", ""]
    binding = '{dictionary = "datasets", probability = 0.7}'
    lines += ["[[operations]]", 'include-path = ["/v1/jobs", "/v1/jobs:estimate"]',
              f'parameters = {{"body.dataset" = {binding}, "body.evaluation" = {binding}}}', ""]
    lines += ["[[operations]]", 'include-path = ["/v1/charges", "/v1/charges:estimate"]',
              f'parameters = {{"body.dataset" = {binding}}}', ""]
    column = '{dictionary = "columns", probability = 0.9}'
    lines += ["[[operations]]", 'include-path = ["/v1/statistics", "/v1/statistics:estimate"]',
              f'parameters = {{"body.dataset" = {binding}, '
              f'"body.statistics[*].column" = {column}}}', ""]
    lines += ["[[operations]]", 'include-path = ["/v1/sweeps", "/v1/sweeps:estimate"]',
              f'parameters = {{"body.job.dataset" = {binding}}}', ""]
    lines += ["[checks]", f"negative_data_rejection.expected-statuses = {json.dumps(REFUSED)}",
              f"missing_required_header.expected-statuses = {json.dumps(REFUSED)}", ""]
    return "\n".join(lines)


def run_schemathesis(schemathesis, daemon, settings, minutes, phases, mode, *more):
    """Returns True if it found nothing."""
    config = os.path.join(daemon.directory, "schemathesis.toml")
    used = os.path.join(daemon.directory, "used")
    with open(config, "w", encoding="utf-8") as file:
        file.write(settings)
    print(f"check-contract: {phases}, {minutes:g} minutes", flush=True)
    code = subprocess.call(
        [os.path.abspath(schemathesis), "--config-file", config, "run", f"{daemon.base}/openapi.yaml",
         "--checks", "all", "--mode", mode, "--phases", phases, "--continue-on-failure",
         "--seed", str(SEED), "--max-examples", str(EXAMPLES),
         "--max-time", str(int(minutes * 60)), "--request-timeout", "90",
         "--generation-database", "none", "--output-truncate", "true", "--no-color", *more],
        env={**os.environ, "EXCEPTIONS_USED": used, "NO_PROXY": "*"}, cwd=daemon.directory)
    with open(used, encoding="utf-8") as file:
        for name, times in json.load(file).items():
            print(f"  exception {name}: {times} times")
    return code == 0


def holds_up(daemon):
    """Returns whether the daemon answers, verifies and has logged no failure."""
    log = os.path.join(daemon.directory, "log")
    if daemon.process.poll() is not None:
        print(f"the daemon ended with {daemon.process.returncode}")
        with open(log, encoding="utf-8") as lines:
            print("".join(lines.readlines()[-20:]))
        return False
    daemon.get("/readyz")
    data = os.path.join(daemon.directory, "data")
    verified = subprocess.call([daemon.binary, "verify", "--data-dir", data]) == 0
    errors = faults_in_log(log)
    for event in errors[:20]:
        print("logged:", event)
    return verified and not errors


def check_all(binary, schemathesis, minutes):
    """Checks every operation separately, then sequences along the links of the document."""
    with Daemon(binary, "--workers", "1", "--drain-timeout", "1") as daemon:
        settings = configuration(furnish(daemon))
        # A sequence continues with what it created, so most of its requests must be valid.
        right = [run_schemathesis(schemathesis, daemon, settings, share * minutes, phases, mode)
                 for phases, mode, share in (("examples,coverage,fuzzing", "all", 0.6), ("stateful", "positive", 0.4))]
        return holds_up(daemon) and all(right)


def check_keys(binary, schemathesis, minutes):
    """Checks the operations of keys with a separate daemon: after the first key, each request needs one."""
    with Daemon(binary, "--workers", "1", "--drain-timeout", "1") as daemon:
        made = subprocess.run([binary, "key", "create", "--owner", "ana", "--role", "data_owner",
                               "--data-dir", os.path.join(daemon.directory, "data")],
                              stdout=subprocess.PIPE, text=True, check=True)
        settings = f'hooks = "{os.path.join(HERE, "hooks.py")}"\n'
        right = run_schemathesis(schemathesis, daemon, settings, minutes, "examples,coverage,fuzzing,stateful", "all",
                                 "--include-path-regex", "^/v1/keys",
                                 "--header", f"Authorization: Bearer {made.stdout.split()[0]}")
        return holds_up(daemon) and right


def faults_in_log(path):
    with open(path, encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines if line.startswith("{")]
    return [event for event in events if event["level"] == "error"]


def main(binary, schemathesis):
    minutes = float(os.environ.get("MINUTES", "10"))
    right = [check_all(binary, schemathesis, 0.9 * minutes), check_keys(binary, schemathesis, 0.1 * minutes)]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
