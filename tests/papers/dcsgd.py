"""Wei, Li, Gong and Chen: DC-SGD compared with DP-SGD and automatic clipping, with a CNN of 28,058
parameters on MNIST. As in the paper: B = 256, 10 epochs of 235 steps, Adam at 1e-3, epsilon 2
at delta 1/60000, pixels standardised."""

from trials import CONFIRMED, Figures, accuracy

TITLE = "DC-SGD (Wei et al.)"

EPSILON = {"epsilon": 2}

# method, privacy, noise multiplier of the spec, accuracy in the paper
CASES = (
    ({"name": "dpsgd", "clip_norm": 0.1}, EPSILON, 0.8416, "95.62 +- .15, best of 10 C"),
    ({"name": "dpsgd", "clip_norm": 1}, EPSILON, 0.8416, "the same"),
    ({"name": "dcsgd_p", "unclipped_fraction": 0.5}, EPSILON, 0.8416,
     "95.08 +- .27, best of 9 shares"),
    ({"name": "dcsgd_p", "unclipped_fraction": 0.9}, EPSILON, 0.8416, "the same"),
    ({"name": "dcsgd_e"}, EPSILON, 0.8416, "94.19 +- .87"),
    ({"name": "dpsgd", "clipping": "automatic"}, EPSILON, 0.8416, "96.83 +- .11"),
    ({"name": "dpsgd", "clip_norm": 0.1}, {"noise_multiplier": 1.543}, 1.543,
     "94.24, its 10 runs paid for"),
)

REASONS = """
The paper's best C and share are not known: it took the best of 10 and of 9 by test accuracy, and ran
that five times. Sampling is at rate 256 / 60000 with T = 2350 (the authors' loader: 1 / 235).

* **Epsilon**: the noise multiplier is the spec's to four digits.
* **DP-SGD**: half a point under the best of the paper's ten C, with two.
* **DC-SGD-E: found**, a point under the paper, about its own deviation: behind DP-SGD by 1.7 (the paper:
  1.4). As the spec says, d / B^2 is small here, so it keeps C near the top of the norms and adds noise.
* **DC-SGD-P**: half a point behind the paper at share .9, five at .5: a finding about the default. The median
  norm falls from 8 to 0.1 as most digits come out right, C follows it, and the few records that are still
  to be learnt are cut down to that. The paper does not say which share was its best.
* **Automatic clipping: the paper's 96.8 is not found: a finding.** Adam divides the scale of a gradient
  out, so automatic clipping is DP-SGD with any C below the norms: 94.9 and 95.1 here. The paper's own
  DP-SGD with C = 0.1 was in its grid, and its best of ten is 95.6. The 1.2 points between the two must
  come from something that its text does not say.
* **Paid for: found.** With the noise at which ten runs, from which the best is chosen, cost epsilon 2
  together, DP-SGD comes down to DC-SGD-E, which has nothing to choose: 92.9 and 93.4 (94.2 and 94.2)."""


def spec(algorithm, privacy):
    return {"dataset": "mnist", "evaluation": "mnist-test", "model": {"preset": "cnn_mnist"},
            "algorithm": algorithm, "optimizer": {"name": "adam", "learning_rate": 1e-3},
            "batch_size": 256, "steps": 2350, "privacy": privacy}


def named(algorithm):
    if algorithm["name"] == "dpsgd" and "clip_norm" in algorithm:
        return f"DP-SGD, C = {algorithm['clip_norm']:g}"
    if algorithm["name"] == "dcsgd_p":
        return f"DC-SGD-P, share {algorithm['unclipped_fraction']:g}"
    return {"dpsgd": "automatic clipping", "dcsgd_e": "DC-SGD-E"}[algorithm["name"]]


def path(job):
    """Returns the clip norms at 1 %, at each fifth of the steps, and at the end."""
    clips = [point["clip_norm"] for point in job["metrics"]["released"]]
    return ", ".join(f"{clip:.2g}" for clip in clips[::20] + clips[-1:])


def run(trials):
    trials.add("mnist_standard", {"epsilon": 30, "delta": 1 / 60000}, as_name="mnist", acknowledge=CONFIRMED)
    yield ("| method | noise multiplier, spec | ours | accuracy, the paper | ours "
           "| clip norm of one job at 1, 21, 41, 61, 81 and 100 % of its steps |")
    yield "|---|---|---|---|---|---|"
    for algorithm, privacy, noise, said in CASES:
        jobs = trials.jobs(spec(algorithm, privacy))
        found = Figures(map(accuracy, jobs))
        yield (f"| {named(algorithm)} | {noise:g} "
               f"| {jobs[0]['privacy']['noise_multiplier']:.4f} | {said} | {found} "
               f"| {path(jobs[0])} |")
    yield REASONS
