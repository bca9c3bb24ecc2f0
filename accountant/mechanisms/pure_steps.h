/*
 * pure_steps.h - a shared member of struct proof (proof.h) for kinds whose steps each
 * have a pure epsilon of distance / noise multiplier.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_PURE_STEPS_H
#define ACCOUNTANT_MECHANISMS_PURE_STEPS_H

#include "accountant/mechanisms/proof.h"

/* The sum of steps distance / noise multiplier, rounded up. */
double pure_steps_epsilon(const struct mechanism *m, uint64_t steps);

#endif
