/*
 * figures.h - the cost of a job in terms that people use: tight epsilon of a mechanism
 * at delta, and the inverse questions. These are a job's own figures; the ledger's
 * filter (ledger.h), which is stricter, decides what a dataset admits.
 *
 * All epsilons are upper bounds: the best real order in (1, 16384] of the Renyi curve,
 * the tight conversion (Canonne, Kamath, Steinke 2020, Prop. 12; Balle et al. 2020,
 * Thm. 21), or the profile of the mechanism without sampling if that is lower: exact if
 * every rate is 1. delta is the job's; LEDGER_NOISE_DELTA is subtracted inside.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_FIGURES_H
#define ACCOUNTANT_PRICING_FIGURES_H

#include "accountant/pricing/filter.h"
#include "base/mechanism.h"

/* A new job may take this much work to price, so that an estimate takes some 50 ms of a
 * core at most: terms of quadrature at one order (cost_terms), which 100 noise levels
 * of at least 0.75 keep, and terms of one search for a noise multiplier. */
#define FIGURE_TERMS_MAX        8000
#define FIGURE_SEARCH_TERMS_MAX 400e3

struct figure {
    double epsilon; /* nats, >= 0, rounded up; infinity if no order is finite */
    double order;   /* the real order that gives it; 0 if it is the profile */
};

/* Checks that a new job may have this mechanism.
 *   ST_INVALID  it is not supported (cost_supports), or takes more work to price
 *               than FIGURE_TERMS_MAX */
enum status figure_affords(const struct mechanism *m, struct error *error);

/* epsilon of the first steps steps of m at delta.
 *   ST_INVALID  no proof under m's relation, or delta not in (2^-39, 1) */
enum status figure_epsilon(struct figure *figure, const struct mechanism *m,
                           uint64_t steps, double delta, struct error *error);

/* delta at epsilon >= 0 of the first steps steps of m; at most 1, and at least
 * LEDGER_NOISE_DELTA unless steps is 0.
 *   ST_INVALID  no proof under m's relation, or epsilon not a number >= 0 */
enum status figure_delta(double *delta, const struct mechanism *m, uint64_t steps,
                         double epsilon, struct error *error);

/* Like figure_epsilon, by composing privacy losses numerically if that is tighter
 * (order 0 then): as a rule within 0.5 % of the truth. For a job's certificate; the
 * ledger's jobs are chosen adaptively and are charged by their curves. A mechanism
 * whose losses take more work to compose than PLD_EFFORT_MAX (pld.h), such as 64 noise
 * levels, has the figure of figure_epsilon.
 *   ST_NO_MEMORY  some 100 MB are needed and not there */
enum status figure_epsilon_pld(struct figure *figure, const struct mechanism *m,
                               uint64_t steps, double delta, struct error *error);

/* The least noise multiplier, to 1e-6 relative, at which m (its runs' multipliers all
 * scaled by one factor, first run's = the answer) costs at most epsilon at delta and
 * affords its price; the answer never costs more than asked. When the work of the
 * search reaches FIGURE_SEARCH_TERMS_MAX, the answer is the least noise that was seen
 * to fit.
 *   ST_INVALID  no multiplier in [0.05, 1e6] does */
enum status figure_noise(double *noise_multiplier, const struct mechanism *m,
                         double epsilon, double delta, struct error *error);

/* Like figure_noise, by figure_epsilon_pld; the grid makes its epsilon uneven by some
 * 1e-4, so the answer, which never costs more than asked, is the least to that
 * accuracy. When the work of the search reaches PLD_SEARCH_EFFORT_MAX (pld.h), the
 * answer is the least noise that was seen to fit.
 *   ST_INVALID, ST_NO_MEMORY  as figure_noise and figure_epsilon_pld */
enum status figure_noise_pld(double *noise_multiplier, const struct mechanism *m,
                             double epsilon, double delta, struct error *error);

/* The most steps of m (one run) that cost at most epsilon at delta; 0 if not even
 * one. */
enum status figure_steps(uint64_t *steps, const struct mechanism *m, double epsilon,
                         double delta, struct error *error);

/* The highest sampling rate, to 1e-6 relative, of all runs of m that costs at most
 * epsilon.
 *   ST_INVALID  none does, or m does not sample */
enum status figure_rate(double *sampling_rate, const struct mechanism *m,
                        double epsilon, double delta, struct error *error);

/* Checks that a job may have this delta.
 *   ST_INVALID  it is not in (2^-39, 1) */
enum status figure_check_delta(double delta, struct error *error);

#endif
