/*
 * diff2_rounds.h - which release each step of a DIFF2 job makes, its noise, and the
 * mechanism of the whole (papers/diff2.md 1.2, 1.6, 2.3, 2.4).
 *
 * A round begins with a release over all records: of their gradients in every
 * restart_interval-th round (a restart), else of gradient differences. After it, one
 * client makes local_steps - 1 releases of differences over small subsets; there are
 * none if local_steps is 1.
 *
 *   step    0        1 .. K-1   K           K+1 .. 2K-1   ...
 *   round   0                   1
 *           restart  local      difference  local               restart at round T
 *
 * A noise multiplier is the noise of a sum over that sum's clip norm, so the
 * multipliers of differences do not depend on how far the parameters moved. Restarts
 * have the job's own multiplier. The others keep fixed ratios to it, which give every
 * kind its share of the budget. To compute the ratios, releases are counted as
 * Gaussians (a subset at rate g as one of rate 1 and noise 1 / (2 g), to leading
 * order):
 *   (difference / restart)^2 = (R - k) w1 / (k w2)
 *   (local / restart)^2 = 4 g^2 L w1 / (k w3)
 * with R rounds, k = ceil(R / T) restarts, L local releases by one client at most, and
 * shares w1 = 1/u1, w2 = 1/u2, w3 = 1 - w1 - w2. Shares only steer: the charge is the
 * accountant's price of the mechanism.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_DIFF2_ROUNDS_H
#define ENGINE_DP_ALGORITHMS_DIFF2_ROUNDS_H

#include <stdint.h>

#include "base/mechanism.h"
#include "base/status.h"

/* A longer list of runs would take seconds to calibrate, and a page to read. */
enum { DIFF2_RUNS_MAX = 4096 };

enum diff2_release { RELEASE_RESTART, RELEASE_DIFFERENCE, RELEASE_LOCAL };

struct diff2_rounds {
    uint64_t steps;          /* releases in all; the last round may be short */
    uint64_t interval;       /* T >= 1 rounds from restart to restart */
    uint64_t local_steps;    /* K >= 1 releases a round */
    uint64_t clients;        /* P >= 1 */
    double local_rate;       /* g: the share of a client's records in a subset */
    double restart_share;    /* w1 in (0, 1]: 1 if there are only restarts */
    double difference_share; /* w2 in [0, 1) */
};

/* The noise multipliers that the accountant prices. */
#define DIFF2_NOISE_MIN 0.05
#define DIFF2_NOISE_MAX 1e6

/* The minimum of local ratios: below it a release would cost far more than its
 * share. */
#define DIFF2_RATIO_MIN 0x1p-4

uint64_t diff2_rounds_count(const struct diff2_rounds *rounds);    /* R */
uint64_t diff2_rounds_restarts(const struct diff2_rounds *rounds); /* k */

enum diff2_release diff2_rounds_release(const struct diff2_rounds *rounds,
                                        uint64_t step);

/* The client that makes the local releases of step's round, in [0, clients): from round
 * 0 on 1, 2, .., 0, 1, .. (with both counted from 1, it is 1 + (r mod P) in round
 * r). */
uint64_t diff2_rounds_client(const struct diff2_rounds *rounds, uint64_t step);

/* The noise multiplier of a release over that of restarts. */
double diff2_rounds_ratio(const struct diff2_rounds *rounds,
                          enum diff2_release release);

/* *m = all steps, restarts with noise_multiplier. Clients take turns in making local
 * releases, and a record is charged only those of its own client.
 *   ST_INVALID  a kind of release would have a noise multiplier outside
 *               [DIFF2_NOISE_MIN, DIFF2_NOISE_MAX]; or there are more than
 *               DIFF2_RUNS_MAX runs (at /algorithm/restart_interval or
 *               /algorithm/local_steps) */
enum status diff2_rounds_plan(struct mechanism *m, const struct diff2_rounds *rounds,
                              enum relation relation, double noise_multiplier,
                              struct error *error);

#endif
