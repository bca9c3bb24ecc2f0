#include "accountant/mechanisms/outside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

const char *const neighbour_names[] = {"add_remove", "zero_out", "replace_one", NULL};

/* A record is twice as far from another record as from no record: a noise multiplier
 * declared by replacing is twice as large in sensitivities by adding, the unit of a
 * mechanism's noise multiplier. Doubling is exact. */
static const double replacing = 2;

static enum status check_neighbour(const struct outside_work *work,
                                   enum relation relation, struct error *error)
{
    if (work->neighbour != NEIGHBOUR_REPLACE_ONE)
        return ST_OK;
    if (relation != RELATION_REPLACE_ONE)
        return error_set_at(error, ST_INVALID, "/neighbour",
                            "the dataset's relation is zero_out, and a sensitivity by "
                            "replacing says nothing of a record that is not there: "
                            "there is no proof");
    if (proof_of(work->kind)->outside->by_addition)
        return error_set_at(
            error, ST_INVALID, "/neighbour",
            "of Poisson batches there is a proof for the sensitivity by "
            "adding or removing alone");
    return ST_OK;
}

static enum status run_of(struct mechanism_run *run, const struct outside_work *work,
                          enum relation relation, struct error *error)
{
    char pointer[40];
    const struct outside *outside = proof_of(work->kind)->outside;
    enum status status = check_neighbour(work, relation, error);
    if (status != ST_OK)
        return status;
    double noise =
        outside->noise_of != NULL ? outside->noise_of(work->value) : work->value;
    if (work->neighbour == NEIGHBOUR_REPLACE_ONE)
        noise *= replacing;
    snprintf(pointer, sizeof pointer, "/%s", outside->parameter);
    if (!(noise >= RDP_NOISE_MIN && noise <= RDP_NOISE_MAX))
        return error_set_at(
            error, ST_INVALID, pointer,
            "is noise of %.3g sensitivities, and what is priced is %g to "
            "%g",
            noise, RDP_NOISE_MIN, RDP_NOISE_MAX);
    *run = (struct mechanism_run){work->sampling_rate, noise, work->steps};
    return ST_OK;
}

/* Returns whether all works are of one kind. */
static bool alike(const struct outside_work *works, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (works[i].kind != works[0].kind)
            return false;
    return true;
}

enum status outside_mechanism(struct mechanism *m, const struct outside_work *works,
                              size_t count, enum relation relation, size_t *at,
                              struct error *error)
{
    bool is_sequence = !alike(works, count);
    struct mechanism made = {.kind = is_sequence ? MECHANISM_SEQUENCE : works[0].kind,
                             .relation = relation,
                             .prefixes_priced = true,
                             .run_count = count,
                             .runs = calloc(count, sizeof *made.runs)};
    enum status status = ST_OK;
    CHECK(count > 0 && count <= MECHANISM_RUNS_MAX && made.runs != NULL);
    if (is_sequence) {
        made.run_kinds = calloc(count, sizeof *made.run_kinds);
        CHECK(made.run_kinds != NULL);
    }
    for (size_t i = 0; status == ST_OK && i < count; i++) {
        *at = i;
        status = run_of(&made.runs[i], &works[i], relation, error);
        if (is_sequence)
            made.run_kinds[i] = works[i].kind;
    }
    if (status != ST_OK) {
        mechanism_fini(&made);
        return status;
    }
    *m = made;
    return ST_OK;
}
