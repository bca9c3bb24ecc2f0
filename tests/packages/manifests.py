#!/usr/bin/env python3
"""Checks the manifests as kustomize renders them: manifests.py BASE RANKS CLUSTER POSTGRES EPSILOND

base: one pod, no root, only its volume is writable, and its options exist. ranks: that pod, and as many pods for ranks
as the hosts file names and a job may have; they hold no secret but the host key, and no access to the API. cluster:
pods that answer and pods that train; they have probes and enough time to drain, and reach only their database and
bucket; no secret is in a command line. postgres: commits wait for a standby, and there are connections for all."""

import re
import subprocess
import sys

import yaml

failures = []
HASH = re.compile(r"-[a-z0-9]{10}$")


def check(fact, message):
    if not fact:
        failures.append(message)
        print(f"check-packages: FAILED: manifests: {message}")


def read(path):
    """Returns {kind and name: document}; without the hash at the end of the name of a generated map."""
    with open(path) as file:
        documents = list(yaml.safe_load_all(file))
    named = {}
    for document in documents:
        name = document["metadata"]["name"]
        named[document["kind"], HASH.sub("", name) if document["kind"] == "ConfigMap" else name] = document
    return named


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def labels_of(workload):
    return workload["spec"]["template"]["metadata"]["labels"].items()


def check_confined(workload):
    check(workload["spec"]["selector"]["matchLabels"].items() <= labels_of(workload), "selector")
    check_confined_pod(pod_of(workload))


def check_confined_pod(pod):
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
    """Returns {name of a Secret: its keys that are files in the pod}."""
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


SECRET = {"EPSILOND_STORE", "EPSILOND_BLOBS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def check_daemon(workload, role, shared, known):
    """Checks a pod of the role: its user, its time to drain, and which of its settings are secret."""
    pod = pod_of(workload)
    container, name = pod["containers"][0], workload["metadata"]["name"]
    check_confined(workload)
    check(workload["spec"]["replicas"] > 1, f"{name} is one alone")
    check(f"--role={role}" in container["args"], f"{name} has another role")
    check(pod["terminationGracePeriodSeconds"] >= int(shared["EPSILOND_DRAIN_TIMEOUT"]) + 20, f"{name} is killed while it drains")
    check(container["envFrom"][0]["configMapRef"]["name"].startswith("epsilond-"), f"{name} does not share the settings")
    variables = {variable["name"]: variable for variable in container["env"]}
    for secret in SECRET:
        check("secretKeyRef" in variables.get(secret, {}).get("valueFrom", {}), f"{name}: {secret} is not of a Secret")
    given = [argument.split("=")[0] for argument in container["args"]]
    given += ["--" + variable[len("EPSILOND_"):].lower().replace("_", "-") for variable in [*variables, *shared]
              if variable.startswith("EPSILOND_") and variable != "EPSILOND_BLOBS_KEY"]
    for option in given:
        check(f"  {option} " in known, f"{name}: no option {option}")
    check(not {"--store", "--blobs-key-file"} & set(given[:len(container["args"])]), f"{name} tells a secret in its command line")
    check(secrets_of(pod)["epsilond-db-ca"] == {"ca.crt"}, f"{name} holds the key of the database's authority")
    return container


def check_cluster(documents, known):
    api, worker = documents["Deployment", "epsilond-api"], documents["StatefulSet", "epsilond-worker"]
    shared = documents["ConfigMap", "epsilond"]["data"]
    check(not SECRET & set(shared), "a secret is in the ConfigMap")
    answering, working = check_daemon(api, "api", shared, known), check_daemon(worker, "worker", shared, known)
    check(answering["readinessProbe"]["httpGet"]["path"] == "/readyz"
          and answering["livenessProbe"]["httpGet"]["path"] == "/livez", "the probes of those that answer")
    check(working["readinessProbe"]["exec"]["command"] == ["/usr/bin/epsilond", "ping"], "the probe of those that train")
    check(any(claim["metadata"]["name"] == "data" for claim in worker["spec"]["volumeClaimTemplates"]), "a worker has no volume")
    service = documents["Service", "epsilond"]["spec"]["selector"].items()
    check(service <= labels_of(api) and not service <= labels_of(worker), "requests go to those that train")
    budget = documents["PodDisruptionBudget", "epsilond-api"]["spec"]
    check(budget["minAvailable"] >= 1 and budget["selector"]["matchLabels"].items() <= labels_of(api), "the disruption budget")
    policy, answers = (documents["NetworkPolicy", name]["spec"] for name in ("epsilond", "epsilond-api"))
    chosen = policy["podSelector"]["matchLabels"].items()
    check(chosen <= labels_of(api) and chosen <= labels_of(worker) and "ingress" not in policy, "who reaches a worker")
    ports = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
    check(ports == {53, 5432, 443}, f"daemons reach {ports}")
    check(answers["podSelector"]["matchLabels"].items() <= labels_of(api)
          and answers["ingress"] == [{"ports": [{"port": "https", "protocol": "TCP"}]}], "who reaches those that answer")


def check_postgres(documents, cluster):
    spec = documents["Cluster", "epsilond-db"]["spec"]
    daemons = sum(workload["spec"].get("replicas", 0) for workload in cluster.values() if "replicas" in workload.get("spec", {}))
    check(1 <= spec["minSyncReplicas"] < spec["instances"], "a commit waits for no standby")
    check(int(spec["postgresql"]["parameters"]["max_connections"]) >= 17 * daemons + 10, "too few connections")
    to = cluster["NetworkPolicy", "epsilond"]["spec"]["egress"][1]["to"][0]["podSelector"]["matchLabels"]
    check(to == {"cnpg.io/cluster": "epsilond-db"}, "daemons reach another database")


def main():
    base, ranks, cluster, postgres = map(read, sys.argv[1:5])
    check_base(base, sys.argv[5])
    check_ranks(ranks)
    check_cluster(cluster, subprocess.run([sys.argv[5], "--help"], capture_output=True, text=True).stdout)
    check_postgres(postgres, cluster)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
