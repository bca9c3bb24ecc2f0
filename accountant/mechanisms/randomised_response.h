/*
 * randomised_response.h - Renyi divergence of randomised response, which no mechanism
 * of the same pure epsilon exceeds at any order.
 *
 * Randomised response answers truly with probability p = e^epsilon / (1 + e^epsilon),
 * so its two laws are (p, 1 - p) and (1 - p, p). Every pair of neighbours of a
 * mechanism with that pure epsilon is the result of some post-processing of this pair
 * (Kairouz, Oh and Viswanath 2015, Thm. 3.4 at delta = 0), and post-processing only
 * lowers a divergence:
 *
 *   log(p^a (1-p)^(1-a) + (1-p)^a p^(1-a)) / (a - 1)        (accounting.md 1.13)
 *
 * It is at most epsilon. Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_RANDOMISED_RESPONSE_H
#define ACCOUNTANT_MECHANISMS_RANDOMISED_RESPONSE_H

/* Upper bound at order > 1, nats; epsilon > 0. Infinity is an order too. */
double randomised_response_rdp(double epsilon, double order);

#endif
