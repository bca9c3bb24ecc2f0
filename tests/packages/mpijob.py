#!/usr/bin/env python3
"""Checks the properties of deploy/kubernetes/mpijob: mpijob.py MPIJOB VERSION, the first as kustomize renders it.

The daemon's pod has a token with exactly the rights that its launcher uses. The pods of a job have no token, are not
retried, and end when the daemon is no longer attached."""

import re
import sys

import yaml

from manifests import check, check_confined, check_confined_pod, failures, pod_of, read, secrets_of


def rights_of(role):
    """Returns {resource: its allowed verbs}."""
    return {resource: set(rule["verbs"]) for rule in role["rules"] for resource in rule["resources"]}


def check_job(job, settings, version):
    """Checks deploy/kubernetes/mpijob/job.yaml, for two ranks."""
    check((job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob"), "the kind of job")
    spec = job["spec"]
    check(set(spec) <= {"slotsPerWorker", "sshAuthMountPath", "runPolicy", "mpiReplicaSpecs"}, "members of the job")
    check((spec["runPolicy"]["backoffLimit"], spec["runPolicy"]["cleanPodPolicy"]) == (0, "All"), "it is tried again")
    launcher, worker = spec["mpiReplicaSpecs"]["Launcher"], spec["mpiReplicaSpecs"]["Worker"]
    check((launcher["replicas"], worker["replicas"], spec["slotsPerWorker"]) == (1, 2, 1), "as many workers as ranks")
    for replica in launcher, worker:
        pod = replica["template"]["spec"]
        check(replica["restartPolicy"] == "Never", "a pod is started again")
        check(replica["template"]["metadata"]["labels"] == {"epsilond/ranks": "yes"}, "the labels of a job's pods")
        check(pod["containers"][0]["image"] == f"epsilond-ranks:{version}", "the image of ranks")
        check(not secrets_of(pod) and "env" not in pod["containers"][0], "a job's pod holds another's secret")
        check_confined_pod(pod)
    process = launcher["template"]["spec"]["containers"][0]
    check(process["stdin"] and process["stdinOnce"] and "mpirun -n 2 " in process["command"][2], "the launcher")
    check(spec["sshAuthMountPath"] == "/ssh" and "HostKey /ssh/id_rsa" in settings["sshd_config"], "the job's key")


def check_mpijob(documents, version):
    daemon = documents["StatefulSet", "epsilond"]
    check_confined(daemon)
    variables = {variable["name"]: variable.get("value") for variable in pod_of(daemon)["containers"][0]["env"]}
    check(variables["EPSILOND_RANKS_LAUNCHER"] == "/ranks/launch {ranks}" and "POD_UID" in variables, "the launcher")
    binding, account = documents["RoleBinding", "epsilond"], documents["ServiceAccount", "epsilond"]["metadata"]["name"]
    check(pod_of(daemon)["serviceAccountName"] == account == binding["subjects"][0]["name"], "whose rights they are")
    check(rights_of(documents["Role", binding["roleRef"]["name"]]) ==
          {"mpijobs": {"create", "delete"}, "pods": {"get", "list"}, "pods/attach": {"get", "create"}}, "rights")
    settings = documents["ConfigMap", "epsilond-mpijob"]["data"]
    words = {"{name}": "epsilond-a", "{ranks}": "2", "{pod}": "epsilond-0", "{uid}": "a"}
    job = re.sub("|".join(words), lambda word: words[word[0]], settings["job.yaml"])
    check_job(yaml.safe_load(job), settings, version)
    policy = documents["NetworkPolicy", "epsilond-ranks"]["spec"]
    check(policy["podSelector"]["matchLabels"] == {"epsilond/ranks": "yes"}, "the network of a job")
    check(policy["ingress"] == [{"from": [{"podSelector": policy["podSelector"]}]}], "who reaches a job's pods")


def main():
    check_mpijob(read(sys.argv[1]), sys.argv[2])
    sys.exit(1 if failures else 0)


main()
