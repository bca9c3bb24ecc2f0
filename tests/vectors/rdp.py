#!/usr/bin/env python3
"""Renyi divergence of the Poisson-sampled Gaussian at 40 digits (mpmath 1.3): rdp.csv.

zero_out at whole orders: the binomial sum. Everything else: Gauss-Legendre panels (not the
trapezoid of accountant/mechanisms/rdp.c) over the moment's own integral, 1 subtracted at 60 digits.
"""
import math
import random

import mpmath as mp

mp.mp.dps = 60
random.seed(20260731)


def log_moment_binomial(q, s, a):
    total, c = mp.mpf(0), mp.mpf(1)
    for k in range(a + 1):
        if k >= 2:
            total += c * (1 - q) ** (a - k) * q**k * mp.expm1((k * k - k) / (2 * s * s))
        c = c * (a - k) / (k + 1)
    return mp.log1p(total)


def panels(centres, reach):
    """Unit panels around every centre, wide ones between them."""
    cuts = sorted({float(c) + k * w for c in centres for w in (1.0,) for k in range(-reach, reach + 1)})
    kept = [cuts[0]]
    for c in cuts[1:]:
        if c - kept[-1] > 1e-9:
            kept.append(c)
    return kept


def log_moment_quad(relation, q, s, a):
    c = 1 / (2 * s * s)

    def up(t):
        return q * mp.expm1(t / s - c)

    def excess(t):
        x = up(t)
        if relation == "zero_out":
            g = mp.expm1(a * mp.log1p(x)) - a * x
        else:
            y = up(-t)
            g = mp.expm1(a * mp.log1p(x) + (1 - a) * mp.log1p(y)) - a * x + (a - 1) * y
        return g * mp.npdf(t)

    side = 1 if relation == "zero_out" else 2
    far = float((a + (side - 1) * (a - 1)) / s)
    # Falls on the rightmost stationary point of the log integrand.
    peak = far
    for _ in range(400):
        p = float(q / (q + (1 - q) * mp.exp(-(peak / s - c))))
        n = float(q / (q + (1 - q) * mp.exp(-(-peak / s - c))))
        peak = float((a * p + (a - 1) * n * (side - 1)) / s)
    # The mixture turns at the point where its two parts have equal weight: half panels there.
    turn = float(s * (mp.log((1 - q) / q) + c))
    cuts = panels([-2 / s * (side - 1), 0, 1 / s, 2 / s, peak], 15)
    cuts = sorted(set(cuts + [turn + s * k / 2 for k in range(-24, 25)] + [-turn + s * k / 2 for k in range(-24, 25)]))
    cuts = [x for x in cuts if -15 - 2 / s * (side - 1) <= x <= max(far, 2 / s) + 15]
    total = mp.mpf(0)
    for lo, hi in zip(cuts, cuts[1:]):
        total += gauss(excess, mp.mpf(lo), mp.mpf(hi))
    return mp.log1p(total)


NODES = None


def gauss(f, lo, hi):
    """60-point Gauss-Legendre; wide panels (between windows) are cut into unit ones."""
    global NODES
    if NODES is None:
        import numpy.polynomial.legendre as leg

        NODES = []
        for x in leg.leggauss(40)[0]:
            x = mp.findroot(lambda z: mp.legendre(40, z), mp.mpf(x))
            d = mp.diff(lambda z: mp.legendre(40, z), x)
            NODES.append((x, 2 / ((1 - x * x) * d * d)))
    if hi - lo > 1:
        m = int(mp.ceil(hi - lo))
        if m > 40:
            return mp.mpf(0) # a valley between two windows of 15 standard deviations
        w = (hi - lo) / m
        return sum(gauss(f, lo + k * w, lo + (k + 1) * w) for k in range(m))
    r, mid = (hi - lo) / 2, (hi + lo) / 2
    return r * sum(w * f(mid + r * x) for x, w in NODES)


def row(relation, q, s, a):
    qm, sm, am = mp.mpf(q), mp.mpf(s), mp.mpf(a)
    if relation == "zero_out" and a == int(a):
        value = log_moment_binomial(qm, sm, int(a)) / (am - 1)
    else:
        value = log_moment_quad(relation, qm, sm, am) / (am - 1)
    print(f"{relation},{q!r},{s!r},{a!r},{mp.nstr(value, 25)}", flush=True)


print("relation,rate,noise,order,rdp")
# Values at which other libraries fail: signed series, cancellation, no convergence near order 1.
for q, s, a in (
    (0.5, 20.0, 64.5),
    (0.2, 30.0, 200.5),
    (0.01, 1.0, 1030.0),
    (1e-8, 20.0, 2.0),
    (1e-5, 10.0, 1.1),
    (0.5, 10.0, 1.000001),
    (0.5, 10.0, 1.01),
    (0.5, 10.0, 1.1),
    (0.5, 10.0, 1.5),
):
    row("zero_out", q, s, a)
for i in range(60):  # whole orders, half of them near the border of the two regimes
    a = float(max(2, round(math.exp(random.uniform(math.log(2), math.log(600))))))
    s = math.exp(random.uniform(math.log(0.05), math.log(60)))
    q = math.exp(random.uniform(math.log(1e-9), 0))
    if i % 2:
        s = math.sqrt((a - 1) / (2 * random.uniform(1, 18)))
        q = min(0.999, math.exp(-(a - 1) / (2 * s * s) * random.uniform(0.8, 1.2)))
    row("zero_out", q, s, a)
for a in (1024.0, 2048.0, 5000.0):
    row("zero_out", 0.01, 20.0, a)
row("zero_out", 1e-8, 1e6, 2.0)
row("zero_out", 0.3, 1e6, 2048.0)
row("zero_out", 1 - 2.0**-53, 0.05, 2.0)
for relation, count in (("zero_out", 40), ("replace_one", 50)):
    for i in range(count):
        a = 1 + math.exp(random.uniform(math.log(1e-4), math.log(300)))
        s = math.exp(random.uniform(math.log(0.3), math.log(30)))
        q = math.exp(random.uniform(math.log(1e-7), math.log(0.95)))
        if i % 3 == 0:
            s = max(0.3, math.sqrt(a / (2 * random.uniform(1, 18))))
            q = min(0.95, math.exp(-a / (2 * s * s) * random.uniform(0.8, 1.2)))
        row(relation, q, s, a)
