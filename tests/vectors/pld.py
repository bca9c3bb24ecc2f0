#!/usr/bin/env python3
"""Tight epsilon of Poisson-sampled Gaussian compositions, two runs, both relations: pld.csv.

Uses no grids: delta(epsilon) = 1/(2 pi) int exp(-z epsilon) M(z) / (z (z + 1)) du, z = s + iu,
the Laplace inversion of max(0, 1 - exp(-y)), with M the product of the steps' moment
functions at complex order, each by a trapezoid rule over the noisy sum (numpy 2.4,
complex128, s at the saddle). Rows whose two resolutions differ by more than 3e-8 are dropped.
"""
import math
import random

import numpy as np
from scipy.optimize import brentq

random.seed(11)


def logmix(q, u):
    return np.where(u > 0, u + np.log(q + (1 - q) * np.exp(-np.abs(u))), np.log1p(q * np.expm1(np.minimum(u, 1))))


def nodes(relation, q, s, direction, fine):
    h = min(s, 1) / (8 * fine)
    t = np.arange(-13 - 1 / s, 13 + 1 / s + h, h)
    c = 0.5 / s**2
    loss = logmix(q, t / s - c)
    zero = np.exp(-t * t / 2)
    plus = (1 - q) * zero + q * np.exp(-((t - 1 / s) ** 2) / 2)
    if relation == "replace_one":
        return loss - logmix(q, -t / s - c), plus * h / math.sqrt(2 * math.pi)
    weight = plus if direction == "remove" else zero
    return (loss if direction == "remove" else -loss), weight * h / math.sqrt(2 * math.pi)


def moments(parts, z):
    total = 0
    for loss, weight, steps in parts:
        e = np.exp(np.outer(z, loss) - z.real.max() * loss.max()) @ weight
        total = total + steps * (np.log(e) + z.real.max() * loss.max())
    return total


def real_moment(parts, s):
    log, mean, var = 0.0, 0.0, 0.0
    for loss, weight, steps in parts:
        e = s * loss
        m = e.max()
        w = weight * np.exp(e - m)
        w0 = w.sum()
        mu = (w * loss).sum() / w0
        log += steps * (m + math.log(w0))
        mean += steps * mu
        var += steps * (w * (loss - mu) ** 2).sum() / w0
    return log, mean, var


def epsilon_of(relation, runs, delta, direction, fine):
    parts = [(*nodes(relation, q, s, direction, fine), T) for q, s, T in runs]
    lo, hi = 1e-3, 1e6

    def estimate(ls):
        s = math.exp(ls)
        k, mean, var = real_moment(parts, s)
        return k - s * mean - math.log(s * (s + 1) * math.sqrt(2 * math.pi * var) + 1) - math.log(delta)

    while estimate(math.log(hi)) > 0:
        hi *= 10
    s = math.exp(brentq(estimate, math.log(lo), math.log(hi))) if estimate(math.log(lo)) > 0 else 0.5
    k, mean, var = real_moment(parts, s)
    sd = math.sqrt(var)
    # Until |M| has fallen by exp(-38), in steps that resolve the decay of the law of the sum.
    step = 2 * math.pi / (40 * sd * fine + 3 * abs(mean) + 60 / s)
    us, logs, u = [], [], 0
    base = k
    while True:
        block = (np.arange(400) + u) * step
        lm = moments(parts, s + 1j * block)
        us.append(block)
        logs.append(lm)
        u += 400
        if (lm.real[-1] - base < -38) or u * step > 4e5 / sd:
            break
    u = np.concatenate(us)
    lm = np.concatenate(logs)
    z = s + 1j * u
    w = np.ones(len(u))
    w[0] = 0.5

    def delta_at(eps):
        v = np.exp(lm - z * eps) / (z * (z + 1))
        return (v * w).real.sum() * step / math.pi

    if delta_at(0.0) <= delta:
        return 0.0
    hi = mean + 1e-9
    while delta_at(hi) > delta:
        hi += sd
    return brentq(lambda e: delta_at(e) / delta - 1, 0, hi, xtol=1e-15, rtol=1e-12)


print("relation,rate1,noise1,steps1,rate2,noise2,steps2,delta,epsilon")
rows = 0
while rows < 40:
    relation = "replace_one" if rows % 3 == 2 else "zero_out"
    runs = []
    for _ in range(2):
        q = round(math.exp(random.uniform(math.log(3e-4), math.log(0.8))), 6)
        s = round(math.exp(random.uniform(math.log(0.7), math.log(9))), 4)
        T = int(math.exp(random.uniform(math.log(15), math.log(6000))))
        runs.append((q, s, T))
    delta = random.choice([1e-5, 1e-6, 1e-9, 1e-3, 1e-12])
    try:
        both = []
        for fine in (1, 1.6):
            sides = ["remove"] if relation == "replace_one" else ["remove", "add"]
            both.append(max(epsilon_of(relation, runs, delta, d, fine) for d in sides))
    except (ValueError, OverflowError):
        continue
    if both[1] == 0 or abs(both[0] / both[1] - 1) > 3e-8:
        continue
    (q1, s1, t1), (q2, s2, t2) = runs
    print(f"{relation},{q1},{s1},{t1},{q2},{s2},{t2},{delta},{both[1]!r}", flush=True)
    rows += 1
