/*
 * mechanism.h - one struct for what is run and for what is charged (architecture.md 2).
 *
 * A mechanism is a list of runs of like steps. Each step releases one noisy sum over a
 * random batch of the records. Its canonical text is hashed, priced, stored in the ledger
 * and printed in the certificate; anybody can price it again from the text.
 *
 *   {"kind":"sampled_gaussian","relation":"zero_out","runs":[[q,sigma,steps],...],
 *    "prefixes_priced":true}                  one line, no blanks, reals by %.17g
 *
 * Some kinds have one more member behind their runs:
 *   error feedback     "feedback":["m2r",period,rest,error_clip]
 *   filtered Gaussian  "filter":[order_max,noise_share]; what it ran is in the
 *                      certificate
 *   fixed subsets      "turns":groups, where groups of records take turns at them
 *
 * Ownership: a mechanism owns its runs; release them with mechanism_fini.
 * Threads: pure functions of their arguments.
 */
#ifndef BASE_MECHANISM_H
#define BASE_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Neighbouring datasets (P1). ZERO_OUT: one record against one that contributes
 * nothing, n public. REPLACE_ONE: one record against any other. */
enum relation { RELATION_ZERO_OUT, RELATION_REPLACE_ONE };

enum mechanism_kind {
    MECHANISM_SAMPLED_GAUSSIAN, /* Poisson batches of rate q; q = 1 takes every record */
    MECHANISM_GAUSSIAN,         /* every record, every step: sampling_rate is 1 */
    MECHANISM_FIXED_SUBSET,   /* uniform subsets of a fixed size, share q; q = 1: all */
    MECHANISM_LAPLACE,        /* every record, Laplace noise; sigma is its scale */
    MECHANISM_ERROR_FEEDBACK, /* DiceSGD: sums to which clipped errors come back */
    MECHANISM_FILTERED_GAUSSIAN, /* sampled Gaussians whose noise follows what they
                                  * released, within a filter */
};

/* Which proof bounds an error feedback (papers/dicesgd.md 3.5). */
enum error_feedback_bound {
    ERROR_FEEDBACK_M1, /* any gradients: the error's own clip norm bounds what comes back */
    ERROR_FEEDBACK_M2,  /* errors shortened, a record in one batch a period */
    ERROR_FEEDBACK_M2R, /* M2, and the error is forgotten when a period starts */
    ERROR_FEEDBACK_M3,  /* errors shortened, Poisson batches, priced whole */
};

/* Norms here are relative to the clip norm of the sum, as the noise multiplier is. */
struct error_feedback {
    enum error_feedback_bound bound;
    uint64_t period; /* steps in which a record is in at most one batch; 0: m3 */
    double rest; /* the most one use of a record adds to the error; 0: m1, no bound */
    double error_clip; /* the most error that comes back in a step; 0: m2r, any */
};

/* A filtered Gaussian has one run and a filter. At every order of the ledger's grid up to
 * order_max all that is run costs no more than that run would; no step has less than
 * noise_share of the run's noise multiplier, and no more steps are run than it has. It is
 * always priced whole. */
struct mechanism_filter {
    double order_max, noise_share; /* > 1; in (0, 1] */
};

/* Fixed subsets by turns. Runs over all records and runs over subsets alternate. The
 * records are parted into turns groups; each run over subsets draws from one group, and
 * the groups take turns in a fixed order, so a record is read in every turns-th of those
 * runs. These runs are alike, except for a shorter last one. 0: there are no turns. */
enum { MECHANISM_TURNS_MAX = 1 << 30 };

struct mechanism_run {       /* steps that are alike */
    double sampling_rate;    /* probability that a record is in a batch, in (0, 1] */
    double noise_multiplier; /* noise stddev / sensitivity of the sum under zero_out */
    uint64_t steps;          /* number of noisy sums released, > 0 */
};

struct mechanism {
    enum mechanism_kind kind;
    enum relation relation;
    bool prefixes_priced; /* false: authorised whole, before its first step */
    size_t run_count;
    struct mechanism_run *runs; /* in the order in which they are run; owned */
    uint64_t turns;             /* a fixed subset's: >= 2, or 0 */
    struct error_feedback error_feedback; /* an error feedback's, which has one run */
    struct mechanism_filter filter;       /* a filtered Gaussian's, which has one run */
};

enum { MECHANISM_RUNS_MAX = 65536 };

/* A mechanism of one run. */
void mechanism_init(struct mechanism *m, enum mechanism_kind kind,
                    enum relation relation, struct mechanism_run run);
void mechanism_fini(struct mechanism *m); /* a zeroed one is allowed */

/* Adds run to the end; steps like those of the last run lengthen it. There is room. */
void mechanism_append(struct mechanism *m, struct mechanism_run run);

/* to = from, with its own runs; to must be zeroed or finished. */
void mechanism_copy(struct mechanism *to, const struct mechanism *from);

/* Whether runs and turns fit together. Without turns they always do. */
bool mechanism_turns_valid(const struct mechanism *m);

/* Whether the feedback of an error feedback, its run and prefixes_priced fit together:
 * there is one run, of rate 1 except under m3, and what its bound does not use is 0. */
bool mechanism_error_feedback_valid(const struct mechanism *m);

/* The same for the filter of a filtered Gaussian. */
bool mechanism_filter_valid(const struct mechanism *m);

/* The sum of all runs' steps. */
uint64_t mechanism_steps(const struct mechanism *m);

/* Canonical text, to be released with free(). */
char *mechanism_render(const struct mechanism *m);

/* Reads canonical text and nothing else: rendering what was read gives the text again.
 *   ST_INVALID  any other text, or a value out of the ranges above
 * On ST_OK m must be finished by the caller. */
enum status mechanism_parse(struct mechanism *m, const char *text, struct error *error);

const char *relation_name(enum relation relation); /* "zero_out", "replace_one" */
/* False, relation untouched, if text names none. */
bool relation_parse(enum relation *relation, const char *text);

#endif
