/*
 * mechanism.h - one struct for the mechanism that is run and the mechanism that is
 * charged (architecture.md 2).
 *
 * A mechanism is a list of runs of identical steps. Each step releases one noisy sum
 * over a random batch of the records. Its canonical text is hashed, priced, stored in
 * the ledger and printed in the certificate; anyone can price it again from the text.
 *
 *   {"kind":"sampled_gaussian","relation":"zero_out","runs":[[q,sigma,steps],...],
 *    "prefixes_priced":true}                  one line, no blanks, reals by %.17g
 *
 * If the privacy unit is a person, "unit":"person" follows the relation.
 *
 * Some kinds have one more member after their runs, the extra member:
 *
 *   error_feedback     "feedback":["m2r",period,rest,error_clip]
 *   discovery          "texts":[threshold,rows]
 *   filtered_gaussian  "filter":[order_max,noise_share]
 *   fixed_subset       "turns":groups, if groups of records take turns at the subsets
 *   sequence           "kinds":["gaussian",...], the kind of each run
 *
 * To add a kind, add a row to MECHANISM_TABLE; if it has an extra member, its struct
 * here and its text in mechanism.c; and a file with its proof
 * (accountant/mechanisms/proof.h).
 *
 * Ownership: a mechanism owns its runs; release them with mechanism_fini.
 * Threads: pure functions of their arguments.
 */
#ifndef BASE_MECHANISM_H
#define BASE_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/privacy_unit.h"
#include "base/status.h"

/* The relation defines which datasets are neighbours (P1). ZERO_OUT: one unit's data is
 * replaced by data that contributes nothing; n is public. REPLACE_ONE: one unit's data
 * is replaced by any other. */
enum relation { RELATION_ZERO_OUT, RELATION_REPLACE_ONE };

/* The table of kinds. A row is the constant of a kind and its name in the text.
 *
 *   sampled_gaussian   Poisson batches of rate q; if q is 1, every record
 *   gaussian           every record in every step: sampling_rate is 1
 *   fixed_subset       uniform subsets of a fixed size, the share q of all records
 *   laplace            every record, and Laplace noise, whose scale is sigma
 *   zcdp               every record; all that is known is that a step is rho-zCDP.
 *                      sigma is 1 / sqrt(2 rho), the noise of the Gaussian mechanism
 *                      that is rho-zCDP
 *   pure               every record; all that is known is that a step has a pure
 *                      epsilon. sigma is 1 / epsilon, the scale of the Laplace noise
 *                      that has it
 *   error_feedback     DiceSGD: what was clipped off is added to later sums
 *   filtered_gaussian  sampled Gaussians whose noise depends on earlier releases,
 *                      within a filter; the certificate has what was run
 *   joint_release      one vector of whole numbers over all records, released once;
 *                      sigma is relative to the distance of neighbours' vectors under
 *                      the mechanism's own relation, which the program that runs it has
 *                      to know
 *   discovery          like joint_release: the counts of all texts of a column, of which
 *                      those are shown whose noisy count reaches a threshold
 *   sequence           runs of several of these kinds, one after the other */
#define MECHANISM_TABLE(ROW)                                                           \
    ROW(MECHANISM_SAMPLED_GAUSSIAN, sampled_gaussian)                                  \
    ROW(MECHANISM_GAUSSIAN, gaussian)                                                  \
    ROW(MECHANISM_FIXED_SUBSET, fixed_subset)                                          \
    ROW(MECHANISM_LAPLACE, laplace)                                                    \
    ROW(MECHANISM_ZCDP, zcdp)                                                          \
    ROW(MECHANISM_PURE, pure)                                                          \
    ROW(MECHANISM_ERROR_FEEDBACK, error_feedback)                                      \
    ROW(MECHANISM_FILTERED_GAUSSIAN, filtered_gaussian)                                \
    ROW(MECHANISM_JOINT_RELEASE, joint_release)                                        \
    ROW(MECHANISM_DISCOVERY, discovery)                                                \
    ROW(MECHANISM_SEQUENCE, sequence)

#define MECHANISM_CONSTANT(constant, name) constant,
enum mechanism_kind { MECHANISM_TABLE(MECHANISM_CONSTANT) };
#undef MECHANISM_CONSTANT

#define MECHANISM_ONE(constant, name) +1
enum { MECHANISM_KINDS = MECHANISM_TABLE(MECHANISM_ONE) };
#undef MECHANISM_ONE

/* The proof that bounds an error feedback (papers/dicesgd.md 3.5). */
enum error_feedback_bound {
    ERROR_FEEDBACK_M1,  /* any gradients; the error's own clip norm bounds what is
                         * added back */
    ERROR_FEEDBACK_M2,  /* errors are shortened; a record is in one batch a period */
    ERROR_FEEDBACK_M2R, /* like M2, and the error is reset when a period starts */
    ERROR_FEEDBACK_M3,  /* errors are shortened, batches are Poisson; priced whole */
};

/* The norms are relative to the clip norm of the sum, as the noise multiplier is. A
 * member that the bound does not use is 0, so that one mechanism has one text. There is
 * one run, of rate 1 except under m3; only m3 is priced whole. */
struct error_feedback {
    enum error_feedback_bound bound;
    uint64_t period;   /* steps in which a record is in at most one batch; 0 under m3 */
    double rest;       /* the most that one use of a record adds to the error; 0 under
                        * m1, which needs no such bound */
    double error_clip; /* the most error that is added back in a step; 0 under m2r,
                        * which does not limit it */
};

/* A filtered Gaussian has one run and a filter. At every order of the ledger's grid up
 * to order_max, all that is run costs no more than that run would. No step has less
 * than noise_share of the run's noise multiplier, and there are no more steps than the
 * run has. It is always priced whole. */
struct mechanism_filter {
    double order_max, noise_share; /* > 1; in (0, 1] */
};

/* A discovery has one step. Which texts occur is secret: a text of one unit only, whose
 * noisy count reaches the threshold, shows that unit. */
struct mechanism_discovery {
    double threshold; /* in units, > 1 */
    uint64_t
        rows; /* of a unit, each of which may have a text of its own; 1 for records */
};
enum { MECHANISM_ROWS_MAX = 1 << 16 };

struct mechanism_run {    /* identical steps */
    double sampling_rate; /* probability that a record is in a batch, in (0, 1] */
    /* The noise's deviation divided by the sensitivity of the sum. It is the
     * sensitivity under zero_out, except for a joint release: there it is the one under
     * the mechanism's own relation. */
    double noise_multiplier;
    uint64_t steps; /* number of noisy sums released, > 0 */
};

/* Fixed subsets with turns. Runs over all records and runs over subsets alternate. The
 * records are divided into turns groups. Each run over subsets draws from one group,
 * and the groups take turns in a fixed order, so a record is read in one of every
 * turns of those runs. These runs are equal, except for a shorter last one. 0: there
 * are no turns. */
enum { MECHANISM_TURNS_MAX = 1 << 30 };

struct mechanism {
    enum mechanism_kind kind;
    enum relation relation;
    enum privacy_unit
        unit;             /* each one's part in a sum is bounded; batches draw these */
    bool prefixes_priced; /* false: authorised whole, before its first step */
    size_t run_count;
    struct mechanism_run *runs; /* in the order in which they are run; owned */
    /* Extra members. Each is read only if its kind has it. */
    uint64_t turns;                       /* fixed_subset: >= 2, or 0 */
    struct error_feedback error_feedback; /* error_feedback */
    struct mechanism_filter filter;       /* filtered_gaussian */
    struct mechanism_discovery discovery; /* discovery */
    enum mechanism_kind *run_kinds;       /* sequence: one for each run; owned */
};

enum { MECHANISM_RUNS_MAX = 65536 };

/* Initialises a mechanism of one run, on records. */
void mechanism_init(struct mechanism *m, enum mechanism_kind kind,
                    enum relation relation, struct mechanism_run run);
void mechanism_fini(struct mechanism *m); /* a zeroed one is allowed */

/* Initialises a joint release of that noise multiplier. Everything that the release
 * shows of the records is a coordinate of its vector. The noise has the deviation
 * noise_multiplier times the distance of neighbours' whole vectors. */
void mechanism_init_release(struct mechanism *m, enum relation relation,
                            double noise_multiplier);

/* Adds run at the end. If its steps are like those of the last run, the last run gets
 * longer. The caller has made room. */
void mechanism_append(struct mechanism *m, struct mechanism_run run);

/* to = from, with runs of its own. to must be zeroed or finished. */
void mechanism_copy(struct mechanism *to, const struct mechanism *from);

/* Returns whether m's extra member and prefixes_priced fit its runs, as described
 * above. For a kind without an extra member there is nothing to check. */
bool mechanism_extra_valid(const struct mechanism *m);

/* The sum of all runs' steps. */
uint64_t mechanism_steps(const struct mechanism *m);

/* Canonical text, to be released with free(). */
char *mechanism_render(const struct mechanism *m);

/* Reads only canonical text: rendering the result gives the text again.
 *   ST_INVALID  any other text, or a value out of the ranges above
 * On ST_OK the caller must finish m. */
enum status mechanism_parse(struct mechanism *m, const char *text, struct error *error);

/* The name of a kind in the text. mechanism_kind_parse returns false, *kind untouched,
 * if text names no kind. */
const char *mechanism_kind_name(enum mechanism_kind kind);
bool mechanism_kind_parse(enum mechanism_kind *kind, const char *text);

const char *relation_name(enum relation relation); /* "zero_out", "replace_one" */
/* Returns false, relation untouched, if text names none. */
bool relation_parse(enum relation *relation, const char *text);

#endif
