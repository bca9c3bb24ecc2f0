#!/usr/bin/env python3
"""Exact profile of the Gaussian mechanism, 60 digits (mpmath 1.3): profile.csv."""
import mpmath as mp

mp.mp.dps = 60


def upper(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def delta(mu, eps):
    return upper(eps / mu - mu / 2) - mp.e**eps * upper(eps / mu + mu / 2)


print("mu,epsilon,delta")
for mu in ["1e-6", "0.001", "0.0317", "0.5", "0.99", "1.01", "2.385", "7.1", "31.25", "400"]:
    for shift in ["-0.5", "0", "0.71", "2.3", "3.999", "4.6", "7.2", "12.5", "30.1"]:
        m = mp.mpf(float(mu))
        eps = mp.mpf(float(m * (m / 2 + mp.mpf(shift))))
        if eps < 0:
            continue
        print(f"{float(m)!r},{float(eps)!r},{mp.nstr(delta(m, eps), 20)}")
    eps = mp.mpf(0)
    print(f"{float(m)!r},0.0,{mp.nstr(delta(m, eps), 20)}")
