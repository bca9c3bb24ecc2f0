#!/usr/bin/env python3
"""Renyi divergence of the kinds of work that may be declared, at 50 digits (mpmath 1.3): declared.csv.

pure: randomised response, by definition: the sum over its two answers.
laplace: by definition too: the integral over the answer, in panels that end at its two kinks.
zcdp: the Gaussian with this rho, by the integral of its two densities.
Each is the divergence of neighbours at one distance. The parameter is the declared one
(epsilon, scale, rho), and the order is the second number.
"""
import random

import mpmath as mp

mp.mp.dps = 50
random.seed(20261123)


def pure(epsilon, a):
    p = mp.e**epsilon / (1 + mp.e**epsilon)
    return mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


def laplace(scale, a):
    density = lambda x, m: mp.e ** (-abs(x - m) / scale) / (2 * scale)
    reach = 140 * scale * a
    moment = mp.quad(lambda x: density(x, 0) ** a * density(x, 1) ** (1 - a),
                     mp.linspace(-reach, -scale, 30) + [0, mp.mpf(1) / 2, 1] + mp.linspace(1 + scale, reach, 30))
    return mp.log(moment) / (a - 1)


def zcdp(rho, a):
    mu = mp.sqrt(2 * rho)  # of unit variance
    centre = a * mu  # where the integrand's mass is
    moment = mp.quad(lambda x: mp.npdf(x, mu, 1) ** a * mp.npdf(x, 0, 1) ** (1 - a),
                     mp.linspace(centre - 20, centre + 20, 41))
    return mp.log(moment) / (a - 1)


def main():
    rows = []
    for name, function, low, high, count in (("pure", pure, -4, 1, 60), ("laplace", laplace, -0.5, 1.5, 12),
                                             ("zcdp", zcdp, -4, 0.5, 20)):
        for _ in range(count):
            value = round(10 ** random.uniform(low, high), 6)
            order = round(1 + 10 ** random.uniform(-2, 2.5 if name == "pure" else 1), 4)
            if value > 0:
                rows.append((name, value, order, function(mp.mpf(value), mp.mpf(order))))
    with open("tests/vectors/declared.csv", "w") as out:
        out.write("kind,parameter,order,rdp\n")
        for name, value, order, rdp in rows:
            out.write(f"{name},{value!r},{order!r},{mp.nstr(rdp, 25)}\n")


main()
