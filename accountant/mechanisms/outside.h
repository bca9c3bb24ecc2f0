/*
 * outside.h - work that runs elsewhere: its owner's declaration, and the mechanism by
 * which we price it (accounting.md 1.13).
 *
 * The declaration names the kind of mechanism, the noise, the steps and the neighbours
 * that the sensitivity of the sum refers to:
 *
 *   add_remove   the most that one record adds to the sum
 *   zero_out     the same, of a record that is there or contributes nothing
 *   replace_one  the most by which the sum moves if one record becomes another
 *
 * Under the dataset's relation that is
 *
 *                 zero_out            replace_one
 *   add_remove    as it is            at twice the distance, by the kind's own formula
 *   zero_out      as it is            at twice the distance, by the kind's own formula
 *   replace_one   no proof            as it is; of Poisson batches no proof
 *
 * A sensitivity by replacing says nothing of a record that is gone: every value may be
 * 7, and replacing moves nothing. For Poisson batches the proof requires that each
 * record moves the sum by little from its value without the record (accounting.md 1.4).
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_OUTSIDE_H
#define ACCOUNTANT_MECHANISMS_OUTSIDE_H

#include "accountant/mechanisms/proof.h"

enum neighbour { NEIGHBOUR_ADD_REMOVE, NEIGHBOUR_ZERO_OUT, NEIGHBOUR_REPLACE_ONE };

/* "add_remove", "zero_out", "replace_one"; then NULL. */
extern const char *const neighbour_names[NEIGHBOUR_REPLACE_ONE + 2];

/* The declaration of a kind: a member of its struct proof. A kind without it cannot be
 * declared. */
struct outside {
    const char *parameter; /* the member that gives the amount of noise */
    /* Returns the noise multiplier that a value of it means, rounded down. NULL: the
     * value is the noise multiplier. */
    double (*noise_of)(double value);
    const char *const *samplers; /* how batches may be drawn; NULL-ended; NULL: they are
                                  * not */
    bool has_rate;               /* a sampler and a rate must be named */
    bool by_addition;            /* a sensitivity by replacing has no proof */
};

struct outside_work { /* one kind of work, as it is declared */
    enum mechanism_kind kind;
    enum neighbour neighbour;
    const char *sampler;  /* one of the kind's, static text; NULL: none was named */
    double sampling_rate; /* 1 if the kind has none */
    double value;         /* of the kind's parameter, > 0 */
    uint64_t steps;       /* > 0 */
};

/* Makes the mechanism of the works, in their order, under the relation: of one kind if
 * all are, else a sequence. There is at least one work, and at most MECHANISM_RUNS_MAX.
 *   ST_INVALID  there is no proof of one: *at is its place, error->pointer the member,
 *               "/neighbour" or "/rho", and error->text says why
 * On ST_OK m must be finished by the caller. */
enum status outside_mechanism(struct mechanism *m, const struct outside_work *works,
                              size_t count, enum relation relation, size_t *at,
                              struct error *error);

#endif
