#!/usr/bin/env python3
"""Renyi bound of a Gaussian over fixed-size subsets: subset.csv.

Wang, Balle, Kasiviswanathan 2019, Thm. 27, at distance 2, B(l) by its alternating sum at 400
digits (mpmath 1.3), and never more than without sampling.
"""
import math
import random

import mpmath as mp

mp.mp.dps = 400
random.seed(3)


def bound(g, s, a):
    g, s = mp.mpf(g), mp.mpf(s)
    d = 2 / s

    def e(j):
        return j * d * d / 2

    moments = {}

    def moment(l):
        if l not in moments:
            moments[l] = sum((-1) ** i * mp.binomial(l, i) * mp.exp((i - 1) * e(i)) for i in range(l + 1))
        return moments[l]

    total = g**2 * mp.binomial(a, 2) * min(4 * mp.expm1(e(2)), 2 * mp.exp(e(2)))
    for j in range(3, a + 1):
        plain = 2 * mp.exp((j - 1) * e(j))
        total += g**j * mp.binomial(a, j) * min(plain, 4 * mp.sqrt(moment(j - j % 2) * moment(j + j % 2)))
    return min(mp.log1p(total) / (a - 1), e(a))


print("rate,noise,order,rdp")
for g, s, a in [(0.01, 1.0, 5), (0.001, 10.0, 9), (0.05, 10.0, 9), (0.1, 30.0, 9)]:
    print(f"{g},{s},{a},{mp.nstr(bound(g, s, a), 20)}")
for _ in range(40):
    a = int(round(math.exp(random.uniform(math.log(2), math.log(150)))))
    g = round(math.exp(random.uniform(math.log(1e-4), math.log(0.9))), 6)
    s = round(math.exp(random.uniform(math.log(0.3), math.log(300))), 4)
    print(f"{g},{s},{a},{mp.nstr(bound(g, s, a), 20)}", flush=True)
