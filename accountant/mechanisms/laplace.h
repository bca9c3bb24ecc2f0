/*
 * laplace.h - Renyi divergence of the Laplace mechanism (Mironov 2017, Table II).
 *
 * With scale s = noise scale / distance of the answers:
 *   log(a/(2a-1) e^((a-1)/s) + (a-1)/(2a-1) e^(-a/s)) / (a - 1),
 * at most 1/s, which is its pure epsilon. Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_LAPLACE_H
#define ACCOUNTANT_MECHANISMS_LAPLACE_H

/* Upper bound at order > 1, nats; scale > 0. */
double laplace_rdp(double scale, double order);

#endif
