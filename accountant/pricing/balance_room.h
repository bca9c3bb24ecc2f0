/*
 * balance_room.h - how much room a balance has for a mechanism: the least noise at which
 * it fits a share of what is left, and, for people whose job does not fit, the largest
 * epsilon and the most steps that would.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_BALANCE_ROOM_H
#define ACCOUNTANT_PRICING_BALANCE_ROOM_H

#include <stdint.h>

#include "accountant/pricing/budget_spent.h"
#include "base/mechanism.h"

/* The least noise multiplier at which m's curve is, at some weighted order of the
 * balance, at most fraction * (capacity - committed - held).
 *   ST_BUDGET_EXHAUSTED, ST_BUDGET_HELD  no multiplier in [0.05, 1e6] does */
enum status balance_room_noise(double *noise_multiplier, const struct mechanism *m,
                               const struct balance *balance, double fraction,
                               struct error *error);

/* The room that a balance still has for a mechanism; 0 if none. */
struct balance_room {
    double largest_epsilon; /* tight, over its noise multipliers */
    uint64_t most_steps;    /* of the mechanism as it is; 0 if it has several runs */
};

/* Computes the room for m in the balance, its epsilon at delta: shown to people whose
 * job does not fit.
 *   ST_INVALID  as figure_epsilon; *room is untouched */
enum status balance_room_find(struct balance_room *room, const struct mechanism *m,
                              const struct balance *balance, double delta,
                              struct error *error);

#endif
