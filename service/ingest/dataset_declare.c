#include "service/ingest/dataset_declare.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "api/http/roles.h"
#include "api/limits.h"
#include "api/requests/dataset_request.h"
#include "api/views/audit_view.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "service/access/four_eyes.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/http/caller.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"

enum status dataset_declare_may_promise(const struct principal *principal,
                                        struct error *error)
{
    if (principal_reach(principal, SCOPE_GRANTS_PROPOSE) != REACH_NONE)
        return ST_OK;
    return error_set(error, ST_FORBIDDEN, "this takes the scope %s too",
                     scope_name(SCOPE_GRANTS_PROPOSE));
}

bool dataset_declare_same(const struct dataset_spec *a, const struct dataset_spec *b)
{
    char *one = dataset_spec_render(a), *other = dataset_spec_render(b);
    bool same = strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

/* --- the seed of hashed columns --- */

/* Returns whether this service drew the seed for a dataset. */
static bool was_drawn(struct daemon_state *context, uint64_t seed)
{
    const size_t count = datasets_count(context->datasets);
    for (size_t i = 0; i < count; i++) {
        const struct dataset_spec *spec =
            dataset_spec(datasets_at(context->datasets, i));
        if (spec->has_hash_seed && spec->hash_seed == seed)
            return true;
    }
    return false;
}

static void set_seeds(struct dataset_spec *spec)
{
    for (size_t i = 0; i < spec->schema.column_count; i++) {
        struct column *column = &spec->schema.columns[i];
        if (column->kind != COLUMN_HASHED)
            continue;
        column->seed = spec->hash_seed;
        column->has_seed = true;
    }
}

/* Checks a stated seed. The first one becomes the dataset's, if it has none. */
static enum status check_seed(struct daemon_state *context, struct dataset_spec *spec,
                              size_t index, struct error *error)
{
    char pointer[64];
    const struct column *column = &spec->schema.columns[index];
    snprintf(pointer, sizeof pointer, "/columns/%zu/seed", index);
    if (!spec->has_hash_seed && !was_drawn(context, column->seed))
        return error_set_at(error, ST_INVALID, pointer,
                            "must be the seed of another dataset of this service: "
                            "leave it out, and one is drawn");
    if (spec->has_hash_seed && spec->hash_seed != column->seed)
        return error_set_at(error, ST_INVALID, pointer,
                            "must be the seed of the dataset's other hashed columns "
                            "and of its former declarations: leave it out");
    spec->hash_seed = column->seed;
    spec->has_hash_seed = true;
    return ST_OK;
}

enum status dataset_declare_seeds(struct daemon_state *context,
                                  const struct dataset *known,
                                  struct dataset_spec *spec, struct error *error)
{
    enum status status = ST_OK;
    if (known != NULL) {
        spec->hash_seed = dataset_spec(known)->hash_seed;
        spec->has_hash_seed = dataset_spec(known)->has_hash_seed;
    }
    for (size_t i = 0; i < spec->schema.column_count && status == ST_OK; i++)
        if (spec->schema.columns[i].kind == COLUMN_HASHED &&
            spec->schema.columns[i].has_seed)
            status = check_seed(context, spec, i, error);
    if (status == ST_OK && spec->has_hash_seed)
        set_seeds(spec);
    return status;
}

/* Draws below 2^53, so that each program reads the number from JSON exactly. */
void dataset_declare_draw_seed(struct dataset_spec *spec)
{
    if (!spec->has_hash_seed) {
        random_bytes(&spec->hash_seed, sizeof spec->hash_seed);
        spec->hash_seed %= (uint64_t)LIMIT_COUNT;
        spec->has_hash_seed = true;
    }
    set_seeds(spec);
}

/* --- the promise --- */

bool dataset_declare_granted(struct daemon_state *context, const struct dataset_id *id,
                             struct grant *granted)
{
    struct epochs epochs = {0};
    struct balance unused;
    if (ledger_epochs(context->ledger, id, &epochs, &unused, NULL) != ST_OK)
        return false;
    *granted = epochs.items[0].grant;
    epochs_fini(&epochs);
    return true;
}

/* Returns whether the promise stays as it is: the privacy is unchanged, it was not
 * refused, and if it is still to be approved, the declaration is unchanged too. */
static bool stands(const struct dataset_declare *declaration,
                   const struct dataset_spec *spec)
{
    enum proposal_state state =
        proposal_state_at(&declaration->info.detail.proposal, clock_wall_ms());
    const struct dataset_spec *known = dataset_spec(declaration->known);
    return state == PROPOSAL_PENDING
               ? dataset_declare_same(known, spec)
               : dataset_spec_same_privacy(known, spec) && state != PROPOSAL_REJECTED &&
                     state != PROPOSAL_LAPSED;
}

/* Checks that the granted budget may be replaced. A budget in the ledger is a promise
 * to people, and the ledger cannot say that there are no people to protect. So a
 * dataset with a budget cannot become public: a reader could not tell that from a row
 * that was tampered with. */
static enum status check_unused(struct daemon_state *context,
                                const struct dataset_spec *spec, struct error *error)
{
    struct error why = {0};
    if (spec->is_public)
        return error_set_at(error, ST_DATASET_IMMUTABLE, "/privacy",
                            "a budget was granted to \"%s\": what everybody may see "
                            "takes another id",
                            spec->id.text);
    enum status status = ledger_unused(context->ledger, &spec->id, &why);
    return status == ST_OK ? ST_OK
                           : error_set_at(error, status, "/privacy", "%s", why.text);
}

enum status dataset_declare_weigh(struct daemon_state *context,
                                  struct dataset_declare *declaration,
                                  const struct dataset_spec *spec, struct error *error)
{
    struct grant granted;
    struct filter unused;
    declaration->promise = PROMISE_STANDS;
    if (stands(declaration, spec))
        return ST_OK;
    enum status status =
        dataset_declare_may_promise(&declaration->caller->principal, error);
    bool has_budget = dataset_declare_granted(context, &spec->id, &granted);
    declaration->promise = four_eyes_is_asked(context, declaration->caller)
                               ? PROMISE_PROPOSED
                               : PROMISE_MADE;
    if (has_budget && !spec->is_public && grant_same(&granted, &spec->grant))
        declaration->promise = PROMISE_GRANTED;
    else if (status == ST_OK && has_budget)
        status = check_unused(context, spec, error);
    if (status == ST_OK && !spec->is_public)
        status = filter_of(&unused, &spec->grant, error);
    return status;
}

/* --- the declaration --- */

enum status dataset_declare_grant(struct daemon_state *context, struct store_tx *tx,
                                  const struct ledger_promise *promise,
                                  struct error *error)
{
    struct grant before;
    return dataset_declare_granted(context, promise->dataset, &before)
               ? ledger_grant_anew(context->ledger, tx, promise, error)
               : ledger_grant(context->ledger, tx, promise, error);
}

static enum status add(struct daemon_state *context, struct store_tx *tx,
                       const struct dataset_declare *declaration,
                       struct dataset_spec *spec_take, struct dataset **out,
                       struct error *error)
{
    const struct dataset_addition addition = {spec_take,
                                              &declaration->caller->principal,
                                              declaration->promise == PROMISE_PROPOSED};
    return datasets_add(context->datasets, tx, &addition, out, error);
}

static enum status declare_anew(struct daemon_state *context, struct store_tx *tx,
                                const struct dataset_declare *declaration,
                                struct dataset_spec *spec_take, struct dataset **out,
                                struct error *error)
{
    struct proposal proposal = {0};
    const bool stays = declaration->promise == PROMISE_STANDS;
    const struct dataset_renewal renewal = {spec_take, stays ? NULL : &proposal};
    if (declaration->promise == PROMISE_PROPOSED)
        proposal =
            proposal_make(declaration->caller->principal.name, clock_wall_s() * 1000);
    return datasets_declare_anew(context->datasets, tx, &renewal, out, error);
}

/* Writes the grant of a promise that is made, or notifies webhooks of one that is
 * proposed. A proposal is checked too, so that it can be granted once it is
 * approved. */
static enum status promise(struct daemon_state *context, struct store_tx *tx,
                           const struct dataset_declare *declaration,
                           const struct dataset *dataset, struct error *error)
{
    struct filter unused;
    const struct dataset_spec *spec = dataset_spec(dataset);
    const struct ledger_promise made = {&spec->id, &spec->grant,
                                        &declaration->caller->principal, NULL};
    enum status status = ST_OK;
    switch (declaration->promise) {
    case PROMISE_STANDS:
    case PROMISE_GRANTED: return ST_OK;
    case PROMISE_MADE:
        return spec->is_public ? ST_OK
                               : dataset_declare_grant(context, tx, &made, error);
    case PROMISE_PROPOSED: break;
    }
    struct dataset_info info;
    dataset_read(context->datasets, dataset, &info);
    if (!spec->is_public)
        status = filter_of(&unused, &spec->grant, error);
    return status == ST_OK ? webhook_events_grant(context, tx, dataset,
                                                  &info.detail.proposal, error)
                           : status;
}

/* Appends the act of the declaration: the promise, which is public, and whether the
 * dataset was declared before. */
static enum status tell(struct store_tx *tx, const struct dataset_declare *declaration,
                        const struct dataset_spec *spec, struct error *error)
{
    struct audit_row *row = &declaration->act->row;
    char *detail = dataset_act_render(spec, declaration->known != NULL);
    row->object = spec->id.text;
    row->detail = detail;
    enum status status = audit_trail_append(tx, row, error);
    free(detail);
    return status;
}

enum status dataset_declare_make(struct daemon_state *context, struct store_tx *tx,
                                 const struct dataset_declare *declaration,
                                 struct dataset_spec *spec_take, struct dataset **out,
                                 struct error *error)
{
    enum status status =
        declaration->known == NULL
            ? add(context, tx, declaration, spec_take, out, error)
            : declare_anew(context, tx, declaration, spec_take, out, error);
    if (status == ST_OK)
        status = promise(context, tx, declaration, *out, error);
    if (status == ST_OK)
        status = tell(tx, declaration, dataset_spec(*out), error);
    return status;
}
