#!/usr/bin/env python3
"""Checks the properties of deploy/compose.yaml: compose.py COMPOSE_FILE.

It has two daemons of each role. Each runs without root, has its own volume and a health check, and enough time to
drain; no secret is outside of a file. tests/options.py checks that its settings are the daemon's."""

import re
import sys

import yaml

failures = []


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"check-packages: FAILED: compose: {message}")


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|m)", text).groups()
    return int(number) * {"s": 1, "m": 60}[unit]


def check_daemon(name, service):
    told = service["environment"]
    check(service["user"] == "65532:65532" and service["read_only"] and service["cap_drop"] == ["ALL"], f"{name} may too much")
    check(service["healthcheck"]["test"] == ["CMD", "/usr/bin/epsilond", "ping"], f"{name} is not asked how it is")
    check(seconds(service["stop_grace_period"]) >= int(told["EPSILOND_DRAIN_TIMEOUT"]) + 20, f"{name} is killed while it drains")
    check(service["depends_on"]["db"]["condition"] == "service_healthy", f"{name} does not wait for the database")
    check(told["EPSILOND_BLOBS_KEY_FILE"] in {f"/run/secrets/{secret}" for secret in service["secrets"]}, f"{name} has no key")
    check(told["EPSILOND_ROLE"] == "worker" or {"EPSILOND_TLS_CERT", "EPSILOND_TLS_KEY"} <= set(told), f"{name} has no TLS")
    return [volume.split(":")[0] for volume in service["volumes"] if volume.endswith(":/var/lib/epsilond")]


def check_secrets(name, service, secrets):
    for secret in service.get("secrets", []):
        check((secret if isinstance(secret, str) else secret["source"]) in secrets, f"{name}: no secret {secret}")
    for variable, value in service.get("environment", {}).items():
        check(not re.search(r"PASSWORD|SECRET|_KEY$", variable) or str(value).startswith("/"), f"{name} tells {variable}")
        check(not re.search(r"://[^/@]*:[^/@]*@", str(value)), f"{name} tells a password in {variable}")


def main():
    with open(sys.argv[1]) as file:
        document = yaml.safe_load(file)
    daemons = {name: service for name, service in document["services"].items() if "epsilond" in service["image"]}
    roles = sorted(service["environment"]["EPSILOND_ROLE"] for service in daemons.values())
    check(roles == ["api", "api", "worker", "worker"], f"the roles are {roles}")
    volumes = [volume for name, service in daemons.items() for volume in check_daemon(name, service)]
    check(len(volumes) == len(set(volumes)) == len(daemons), "two daemons have one data directory, or one has none")
    check(set(volumes) <= set(document["volumes"]), "a volume that is none")
    for name, service in document["services"].items():
        check_secrets(name, service, document["secrets"])
    check(all(set(secret) == {"file"} for secret in document["secrets"].values()), "a secret that is no file")
    sys.exit(1 if failures else 0)


main()
