#!/usr/bin/env python3
"""Whether the manifests keep what they promise: manifests.py RENDERED EPSILOND.

One pod, no root, nothing writable but its volume, and options that the daemon has."""

import subprocess
import sys

import yaml

failures = []


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"check-packages: FAILED: manifests: {message}")


def main():
    with open(sys.argv[1]) as file:
        documents = {document["kind"]: document for document in yaml.safe_load_all(file)}
    check(set(documents) == {"Namespace", "StatefulSet", "Service", "NetworkPolicy"}, f"kinds {set(documents)}")
    spec = documents["StatefulSet"]["spec"]
    pod = spec["template"]["spec"]
    check(spec["replicas"] == 1, "more than one pod")
    check(spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items(), "selector")
    check(documents["Service"]["spec"]["selector"] == spec["selector"]["matchLabels"], "the service's selector")
    check(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532, "the user")
    check(pod["terminationGracePeriodSeconds"] > 121, "it is killed while it drains")
    for container in pod["initContainers"] + pod["containers"]:
        confined = container["securityContext"]
        check(confined["readOnlyRootFilesystem"] and not confined["allowPrivilegeEscalation"]
              and confined["capabilities"]["drop"] == ["ALL"], f"{container['name']} may too much")
    known = subprocess.run([sys.argv[2], "--help"], capture_output=True, text=True).stdout
    for argument in pod["containers"][0]["args"]:
        check(f"  {argument.split('=')[0]} " in known, f"no option {argument}")
    sys.exit(1 if failures else 0)


main()
