#!/usr/bin/env python3
"""Whether the manifests keep what they promise: manifests.py BASE RANKS EPSILOND, both as kustomize renders them.

Of base: one pod, no root, nothing writable but its volume, and options that the daemon has. Of ranks: that pod, and as
many for ranks as hosts are named and a job may have, which hold no secret but the host key, and are nobody's API."""

import subprocess
import sys

import yaml

failures = []


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"check-packages: FAILED: manifests: {message}")


def read(path):
    """{kind and name: document}; the name of a map that was generated ends in a hash, which is left out."""
    with open(path) as file:
        documents = list(yaml.safe_load_all(file))
    named = {}
    for document in documents:
        name = document["metadata"]["name"]
        named[document["kind"], name.rpartition("-")[0] if document["kind"] == "ConfigMap" else name] = document
    return named


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def labels_of(workload):
    return workload["spec"]["template"]["metadata"]["labels"].items()


def check_confined(workload):
    spec, pod = workload["spec"], pod_of(workload)
    check(spec["selector"]["matchLabels"].items() <= labels_of(workload), "selector")
    check(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532, "the user")
    check(not pod["automountServiceAccountToken"], "a pod has a token of the cluster's")
    for container in pod.get("initContainers", []) + pod["containers"]:
        confined = container["securityContext"]
        check(confined["readOnlyRootFilesystem"] and not confined["allowPrivilegeEscalation"]
              and confined["capabilities"]["drop"] == ["ALL"], f"{container['name']} may too much")


def check_base(documents, daemon):
    check({kind for kind, _ in documents} == {"Namespace", "StatefulSet", "Service", "NetworkPolicy"},
          f"kinds {set(documents)}")
    workload = documents["StatefulSet", "epsilond"]
    pod = pod_of(workload)
    check_confined(workload)
    check(workload["spec"]["replicas"] == 1, "more than one pod")
    check(documents["Service", "epsilond"]["spec"]["selector"] == workload["spec"]["selector"]["matchLabels"],
          "the service's selector")
    check(pod["terminationGracePeriodSeconds"] > 121, "it is killed while it drains")
    known = subprocess.run([daemon, "--help"], capture_output=True, text=True).stdout
    for argument in pod["containers"][0]["args"]:
        check(f"  {argument.split('=')[0]} " in known, f"no option {argument}")


def secrets_of(pod):
    """{name of a Secret: the keys of it that are files in the pod}"""
    return {volume["secret"]["secretName"]: {item["key"] for item in volume["secret"].get("items", [])}
            for volume in pod["volumes"] if "secret" in volume}


def check_ranks(documents):
    daemon, ranks = documents["StatefulSet", "epsilond"], documents["StatefulSet", "epsilond-ranks"]
    for workload in daemon, ranks:
        check_confined(workload)
    api = documents["Service", "epsilond"]["spec"]["selector"].items()
    check(daemon["spec"]["replicas"] == 1 and api <= labels_of(daemon) and not api <= labels_of(ranks),
          "requests go to another pod than the daemon's")
    service = documents["Service", ranks["spec"]["serviceName"]]["spec"]
    check(service["selector"].items() <= labels_of(ranks), "the names of ranks")
    settings = documents["ConfigMap", "epsilond-ranks"]["data"]
    hosts = [line.split()[0] for line in settings["hosts"].splitlines() if not line.startswith("#")]
    check(hosts == [f"epsilond-ranks-{i}.epsilond-ranks" for i in range(ranks["spec"]["replicas"])],
          f"the hosts are {hosts}")
    variables = {variable["name"]: variable.get("value") for variable in pod_of(daemon)["containers"][0]["env"]}
    check(variables["EPSILOND_RANKS_MAX"] == str(len(hosts)), "a job may have more ranks than there are hosts")
    launcher = variables["EPSILOND_RANKS_LAUNCHER"].split()
    check(launcher[:3] == ["mpirun", "-n", "{ranks}"] and launcher[-2:] == ["epsilond", "rank"], "the launcher")
    check(secrets_of(pod_of(ranks)) == {"epsilond-ranks-ssh": {"host", "authorized"}}
          and not any("env" in container for container in pod_of(ranks)["containers"]), "ranks hold another's secret")
    check(secrets_of(pod_of(daemon)).get("epsilond-ranks-ssh") == {"user", "known_hosts"}, "the daemon's secrets")
    policy = documents["NetworkPolicy", "epsilond-ranks"]["spec"]
    chosen = policy["podSelector"]["matchLabels"].items()
    check(chosen <= labels_of(daemon) and chosen <= labels_of(ranks), "the network of ranks")
    check(policy["ingress"] == [{"from": [{"podSelector": policy["podSelector"]}]}], "who reaches the ranks")


def main():
    check_base(read(sys.argv[1]), sys.argv[3])
    check_ranks(read(sys.argv[2]))
    sys.exit(1 if failures else 0)


main()
