"""Starts the daemon and lets a generated client run the main job.

    main_job.py EPSILOND COMMAND...

The command's arguments are the daemon's address and a CSV file. It declares "people" with a budget of
epsilon 2, trains at epsilon 1, and prints its results as JSON: the job's state, the spent epsilon, the
size of the model's file in bytes, and the problem of a request that is refused.
"""

import json
import os
import subprocess
import sys

from daemon import Daemon


def people():
    """Ages, towns and an answer that is a function of them."""
    towns = ("Bonn", "Kiel", "Ulm")
    for i in range(600):
        age = 18 + i * 7 % 70
        yield f"{age},{towns[i % 3]},{'yes' if age + 9 * (i % 3) > 60 else 'no'}\n"


def main(binary, *command):
    with Daemon(binary, "--workers", "1") as daemon:
        path = os.path.join(daemon.directory, "people.csv")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(people())
        ended = subprocess.run([*command, daemon.base, path], stdout=subprocess.PIPE, check=False,
                               timeout=300, env={**os.environ, "NO_PROXY": "*"})
        if ended.returncode != 0:
            return f"{command}: exit code {ended.returncode}"
        seen = json.loads(ended.stdout)
        model = daemon.get("/v1/models")["models"][0]
        budget = daemon.get("/v1/datasets/people/budget")
        print(f"  {seen}")
    expected = {"state": "SUCCEEDED", "spent": budget["epsilon_spent"], "size": model["size"],
                "refused": "already_exists"}
    return 0 if seen == expected and 0.9 < seen["spent"] < 1.3 else f"expected {expected}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
