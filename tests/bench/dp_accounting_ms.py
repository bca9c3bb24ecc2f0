#!/usr/bin/env python3
"""Asks Google's dp_accounting one question of bench_accountant.c; prints the milliseconds and the answer."""
import sys
import time

import dp_accounting
from dp_accounting import pld, rdp

name = sys.argv[1]
rate, noise, steps, delta, epsilon = (float(x) for x in sys.argv[2:7])
steps = int(steps)


def event(sigma):
    one = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    return dp_accounting.SelfComposedDpEvent(one, steps)


def curve():
    orders = [1 + i * 63 / 150 for i in range(1, 151)]
    accountant = rdp.RdpAccountant(orders)
    accountant.compose(event(noise))
    return accountant._rdp[-1]


def composed():
    accountant = pld.PLDAccountant()
    accountant.compose(event(noise))
    return accountant.get_epsilon(delta)


def calibrated():
    return dp_accounting.calibrate_dp_mechanism(
        rdp.RdpAccountant,
        event,
        epsilon,
        delta,
        dp_accounting.LowerEndpointAndGuess(0.05, 1.0),
        tol=1e-6,
    )


ask = {"curve": curve, "noise": calibrated, "composed": composed}[name]
start = time.perf_counter()
value = ask()
print((time.perf_counter() - start) * 1e3, value)
