"""Attacks the charges of releases through the HTTP API: an attacker who knows all other records tells one dataset
from its neighbour by what the daemon shows.

    audit_api.py EPSILOND [RUNS]

For each case the attacker gets RUNS (300) results of either dataset. The first fifth chooses the threshold; the others
bound the shares of hits and of false alarms at confidence CONFIDENCE (Clopper-Pearson). Every case is a sequence of
unsampled Gaussians. So shares that no Gaussian of a smaller mean shows refute every smaller charge, and the Gaussian's
exact curve turns the mean into an epsilon at the dataset's delta. It must be below what was charged, and above
POWER of it: an attack that finds little shows little.
"""

import array
import concurrent.futures
import json
import math
import statistics
import struct
import sys
from dataclasses import dataclass

sys.path.insert(0, "tests/python")
from daemon import Daemon, Refused  # noqa: E402

EPSILON, DELTA, BUDGET = 8, 1e-5, 30
CONFIDENCE = 0.999  # of both bounds together
POWER = 0.25
OTHERS = 50
DAEMONS = 4
WORKERS = "8"  # as many releases at once as a budget pays for
RATE = 0.01  # of the linear model
NORMAL = statistics.NormalDist()

TABLE = {"format": "csv", "task": "regression", "header": False,
         "columns": [{"name": "x", "kind": "numeric", "range": [-1, 1]},
                     {"name": "y", "kind": "label", "range": [-1, 1]}]}
WORDS = {**TABLE, "columns": [{"name": "x", "kind": "categorical", "values": ["theirs", "own"]},
                              TABLE["columns"][1]]}
LINE = {"layers": [{"type": "dense", "out": 1, "bias": False}], "loss": "squared", "init_seed": 7}
NOBODY = "0,0"  # no gradient in a linear model, and no length about the centre: an empty slot


# --- what is attacked ---

def tensors(content):
    """Returns the numbers of each tensor of a safetensors file, by name."""
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        found[name] = array.array("f", content[8 + size + begin:8 + size + end])
    return found


def weights(daemon, job):
    return tensors(daemon.call("GET", f"/v1/models/{job['model']}/content"))


class Jobs:
    """Jobs of the same text, and what they were charged."""

    def submit(self, daemon, dataset):
        return daemon.post("/v1/jobs", {**self.spec, "dataset": dataset, "privacy": {"epsilon": EPSILON}})

    def wait(self, daemon, job):
        while job["state"] in ("QUEUED", "RUNNING"):
            job = daemon.get(f"/v1/jobs/{job['id']}?wait=60")
        assert job["state"] == "SUCCEEDED", job
        return job

    def charged(self, done):
        return done["privacy"]["epsilon_spent"]


class Quantile(Jobs):
    """All steps of quantile clipping: the clip norms and shares that the job shows, and the last weight. The record's
    gradient is longer than every clip norm, so each step moves the sum by C and the signs by one."""

    CLIP = 0.01

    @property
    def spec(self):
        return {"model": LINE, "batch_size": OTHERS + 1, "steps": 5,
                "optimizer": {"name": "sgd", "learning_rate": RATE, "momentum": 0},
                "algorithm": {"name": "quantile_clip", "clip_norm": self.CLIP, "count_noise": self.noise / 2}}

    def __init__(self, daemon):
        """Learns the first weight, which is public, from records that are."""
        daemon.register("public", TABLE, {"data": b"0.5,0\n" * 20}, "public")
        job, _ = daemon.run_job({"dataset": "public", "model": LINE, "algorithm": {"name": "sgd"}, "batch_size": 20,
                                 "steps": 1, "optimizer": {"name": "sgd", "learning_rate": 1e-9, "momentum": 0}})
        self.start = weights(daemon, job)["0.weight"][0]
        assert abs(self.start) < 1 - 2 * self.CLIP  # so the gradient at x = 1 is long, and points away from y

    def score(self, daemon, done):
        """The log of the likelihood ratio, but for a constant."""
        steps = done["metrics"]["released"]
        noise = 1 / (done["privacy"]["noise_multiplier"] ** -2 - self.noise ** -2)  # its square
        clips = [step["clip_norm"] for step in steps]
        moved = (weights(daemon, done)["0.weight"][0] - self.start) / RATE * (OTHERS + 1)
        signs = -sum(step["unclipped_share"] - 0.5 for step in steps) * 2 * (OTHERS + 1)
        return (moved * sum(clips) / (noise * sum(clip * clip for clip in clips)) +
                signs * self.signs / self.noise ** 2)


class QuantileOfOne(Quantile):
    signs, noise = 1, 3  # its sign is -1 where it is, and 0 where it is not


class QuantileOfAnother(Quantile):
    signs, noise = 0, 30  # both records are clipped, so all of the noise that is sold should be on the gradient


class Standardise:
    """The mean of a column, of which the record's value is nearly the clip length; squares add next to nothing."""

    CLIP = 0.1

    def __init__(self, daemon):
        self.asked = 0

    def submit(self, daemon, dataset):
        self.asked += 1  # another text each time: equal texts are bought once
        return daemon.post("/v1/statistics", {
            "dataset": dataset, "privacy": {"epsilon": EPSILON},
            "statistics": [{"kind": "moments", "clip_norm": self.CLIP * (1 + self.asked * 1e-9)}]})

    def wait(self, daemon, done):
        while done["state"] == "RUNNING":
            done = daemon.get(f"/v1/statistics/{done['id']}")
        assert done["state"] == "SUCCEEDED", done
        return done

    def charged(self, done):
        return done["guarantee"]["epsilon"]

    def score(self, daemon, done):
        return done["answers"][0]["features"][0]["mean"]


class Boosting(Jobs):
    """All rounds of boosting, seen in the last table: the record's residual is clipped in each, in its own bin and in
    that of all records. The two halves of the others cancel each other."""

    CLIP, ROUNDS = 0.05, 20
    spec = {"model": {"preset": "histograms"}, "steps": ROUNDS + 1,
            "algorithm": {"name": "boosted_histograms", "residual_clip": CLIP, "shrinkage": 0}}

    def __init__(self, daemon):
        pass

    def score(self, daemon, done):
        """What was added to the record's own bin and to the bin of all, each by its noise."""
        table, = weights(daemon, done).values()
        own, everyone = table[1], table[-1]
        floor = 2 * done["privacy"]["noise_multiplier"]  # the count of a bin of one record
        return own * floor + everyone * (OTHERS + 1)


HALVES = "theirs,-1\n" * (OTHERS // 2) + "theirs,1\n" * (OTHERS // 2)
EMPTY = (NOBODY + "\n") * OTHERS


@dataclass
class Case:
    name: str
    relation: str
    schema: dict
    others: str
    record: str  # the score is higher with it
    neighbour: str
    attack: type


CASES = (
    Case("quantile clipping, five steps", "zero_out", TABLE, EMPTY, "1,1", NOBODY, QuantileOfOne),
    Case("quantile clipping, five steps", "replace_one", TABLE, EMPTY, "1,1", "-1,1", QuantileOfAnother),
    Case("means and deviations", "zero_out", TABLE, EMPTY, "0.1,0", NOBODY, Standardise),
    Case("means and deviations", "replace_one", TABLE, EMPTY, "0.1,0", "-0.1,0", Standardise),
    Case("boosted histograms, 20 rounds", "replace_one", WORDS, HALVES, "own,1", "own,-1", Boosting),
)


# --- bounds ---

def binomial_tail(successes, runs, share):
    """Returns the probability of at least so many successes."""
    return math.fsum(math.comb(runs, k) * share ** k * (1 - share) ** (runs - k) for k in range(successes, runs + 1))


def least_share(successes, runs, risk):
    """Returns a share below the true one, but for a chance of risk (Clopper and Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        low, high = (share, high) if binomial_tail(successes, runs, share) < risk else (low, share)
    return low


def gaussian_delta(epsilon, mean):
    return NORMAL.cdf(-epsilon / mean + mean / 2) - math.exp(epsilon) * NORMAL.cdf(-epsilon / mean - mean / 2)


def gaussian_epsilon(mean):
    """Returns the epsilon at DELTA of two Gaussians of deviation 1 that are so far apart."""
    low, high = 0.0, 100.0
    for _ in range(60):
        epsilon = (low + high) / 2
        low, high = (epsilon, high) if gaussian_delta(epsilon, mean) > DELTA else (low, epsilon)
    return low


def least_epsilon(scores, neighbours):
    """Returns hits, false alarms and the epsilon that they show, of scores that are higher with the record."""
    chosen = len(scores) // 5
    threshold = (statistics.mean(scores[:chosen]) + statistics.mean(neighbours[:chosen])) / 2
    runs = len(scores) - chosen
    hits = sum(score > threshold for score in scores[chosen:])
    alarms = sum(score > threshold for score in neighbours[chosen:])
    risk = (1 - CONFIDENCE) / 2
    found, quiet = least_share(hits, runs, risk), least_share(runs - alarms, runs, risk)
    mean = NORMAL.inv_cdf(found) + NORMAL.inv_cdf(quiet) if 0 < found and 0 < quiet else 0
    return hits / runs, alarms / runs, gaussian_epsilon(mean) if mean > 0 else 0.0


# --- runs ---

def spend(daemon, attack):
    """Spends the budget of the dataset `table`, and returns the releases."""
    waiting = []
    try:
        while True:
            waiting.append(attack.submit(daemon, "table"))
    except Refused as refused:
        assert json.loads(refused.problem)["code"] in ("budget_held", "budget_exhausted"), refused.problem
    return [attack.wait(daemon, one) for one in waiting]


def look(binary, case, record, runs):
    """Returns the scores of so many releases of a dataset with this record, and what one was charged."""
    scores, budget = [], {"epsilon": BUDGET, "delta": DELTA, "relation": case.relation}
    with Daemon(binary, "--threads", "1", "--workers", WORKERS) as daemon:
        daemon.register("table", case.schema, {"data": f"{case.others}{record}\n".encode()}, budget,
                        ["epsilon_above_10"])
        attack = case.attack(daemon)
        while True:
            releases = spend(daemon, attack)
            scores += [attack.score(daemon, release) for release in releases]
            if len(scores) >= runs:
                return scores[:runs], attack.charged(releases[0])
            daemon.renew()


def judge(case, scores, neighbours, charged):
    """Prints a case's row, and returns whether the attack found enough, and no more than was charged."""
    hits, alarms, least = least_epsilon(scores, neighbours)
    print(f"| {case.name} | {case.relation} | {charged:.2f} | {hits:.3f} | {alarms:.3f} | {least:.2f} |", flush=True)
    if least > charged:
        print(f"audit_api: {case.name}, {case.relation}: the charge is refuted")
    if least < POWER * charged:
        print(f"audit_api: {case.name}, {case.relation}: the attack finds next to nothing")
    return POWER * charged <= least <= charged


def main(binary, runs="300"):
    print("| release | neighbours | epsilon charged | found | false alarms | epsilon at least |\n"
          "|---|---|---|---|---|---|")
    right = True
    with concurrent.futures.ThreadPoolExecutor(DAEMONS) as pool:  # daemons mostly wait for the next second
        looks = [[pool.submit(look, binary, case, record, int(runs)) for record in (case.record, case.neighbour)]
                 for case in CASES]
        for case, (there, away) in zip(CASES, looks):
            scores, charged = there.result()
            right &= judge(case, scores, away.result()[0], charged)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
