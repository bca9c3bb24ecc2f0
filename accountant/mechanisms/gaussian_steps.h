/*
 * gaussian_steps.h - shared members of struct proof (proof.h) for kinds whose steps are
 * independent Gaussian sums, over Poisson batches or all records.
 *
 *   divergence    one step of rdp.h times the number of steps
 *   terms         those of rdp.h
 *   energy        sum over runs of steps (distance / noise multiplier)^2
 *   privacy loss  that of privacy_loss.h
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_GAUSSIAN_STEPS_H
#define ACCOUNTANT_MECHANISMS_GAUSSIAN_STEPS_H

#include "accountant/mechanisms/proof.h"

double gaussian_steps_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                          size_t run, uint64_t count, double order);

double gaussian_steps_terms(const struct mechanism *m, size_t run);

double gaussian_steps_energy(const struct mechanism *m, uint64_t steps);

struct privacy_loss_step gaussian_steps_loss(const struct mechanism *m, size_t run);

#endif
