#!/usr/bin/env python3
"""Tight epsilon at the best real order, two runs of Poisson-sampled Gaussians: epsilon.csv.

numpy 2.4 in 80-bit arithmetic, moments by Simpson's rule over the log integrand, the order
by golden section over log(order - 1); conversion of Canonne, Kamath, Steinke 2020, Prop. 12.
delta is the remainder after subtracting 2^-40.
"""
import math
import random

import numpy as np

L = np.longdouble
random.seed(5)


def log_moment(relation, q, s, a):
    q, s, a = L(q), L(s), L(a)
    if q == 1:
        d = 1 if relation == "zero_out" else 2
        return a * (a - 1) * d * d / (2 * s * s)
    side = 1 if relation == "zero_out" else 2
    lo, hi = -13 - L(2) * side / s, 13 + (a + (side - 1) * (a - 1) + 2) / s
    n = int(math.ceil((hi - lo) / (min(s, L(1)) / 40))) * 2
    t = np.linspace(lo, hi, n + 1, dtype=L)
    c = 1 / (2 * s * s)
    x = q * np.expm1(t / s - c)
    base = -t * t / 2 - np.log(2 * L(np.pi)) / 2
    if relation == "replace_one":
        y = q * np.expm1(-t / s - c)
        base = base + np.log1p(y)
        x = (x - y) / (1 + y)
    lp = np.log1p(x)
    small = np.abs(a * x) < 1e-3
    series = np.zeros_like(x)
    coefficient, power = a * (a - 1) / 2, x * x
    for k in range(2, 9):
        series += coefficient * power
        coefficient *= (a - k) / (k + 1)
        power = power * x
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        exact = np.where(
            a * lp > 40, a * lp, np.log(np.expm1(np.minimum(a * lp, 50)) - a * x)
        )
        lg = np.where(small, np.log(series), exact) + base
    m = lg.max()
    w = np.ones(n + 1, dtype=L)
    w[1:-1:2], w[2:-1:2] = 4, 2
    total = m + np.log((w * np.exp(lg - m)).sum() * (t[1] - t[0]) / 3)
    return np.logaddexp(L(0), total)


def epsilon(relation, runs, delta):
    def at(y):
        a = 1 + math.exp(y)
        rdp = sum(L(T) * log_moment(relation, q, s, a) for q, s, T in runs) / (L(a) - 1)
        a = L(a)
        return float(rdp + np.log1p(-1 / a) - (np.log(L(delta)) + np.log(a)) / (a - 1)), float(a)

    ys = np.linspace(math.log(0.05), math.log(2047), 60)
    values = [at(y)[0] for y in ys]
    i = int(np.argmin(values))
    lo, hi = ys[max(i - 1, 0)], ys[min(i + 1, 59)]
    g = (math.sqrt(5) - 1) / 2
    while hi - lo > 1e-7:
        p, r = hi - g * (hi - lo), lo + g * (hi - lo)
        if at(p)[0] < at(r)[0]:
            hi = r
        else:
            lo = p
    return min((at(y) for y in ((lo + hi) / 2, ys[0], ys[-1])), key=lambda v: v[0])


print("relation,rate1,noise1,steps1,rate2,noise2,steps2,delta,epsilon,order")
for i in range(24):
    relation = "zero_out" if i % 3 else "replace_one"
    runs = []
    for _ in range(2):
        q = round(math.exp(random.uniform(math.log(1e-3), math.log(0.6))), 6)
        s = round(math.exp(random.uniform(math.log(0.6), math.log(12))), 4)
        T = int(math.exp(random.uniform(0, math.log(8000))))
        runs.append((q, s, T))
    if i % 4 == 3:
        runs[1] = (1.0, round(random.uniform(20, 90), 3), 17)
    delta = random.choice([1e-5, 1e-6, 3e-8, 1e-3])
    e, a = epsilon(relation, runs, delta - 2.0**-40)
    (q1, s1, t1), (q2, s2, t2) = runs
    print(f"{relation},{q1},{s1},{t1},{q2},{s2},{t2},{delta},{e!r},{a:.5f}", flush=True)
