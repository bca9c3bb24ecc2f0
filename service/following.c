#include "service/following.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger.h"
#include "accountant/ledger_view.h"
#include "base/check.h"
#include "engine/feature_cache.h"
#include "service/access_keys.h"
#include "service/charges.h"
#include "service/context.h"
#include "service/dataset_renewal.h"
#include "service/job_arrivals.h"
#include "service/logins.h"
#include "service/models.h"
#include "service/policy_proposals.h"
#include "service/surveys.h"
#include "service/sweeps.h"
#include "service/webhooks.h"
#include "service/weight_files.h"
#include "store/table_rows.h"

typedef enum status renew_function(struct context *context, struct store_tx *tx,
                                   const char *id, struct error *error);

static enum status renew_nothing(struct context *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    (void)context, (void)tx, (void)id, (void)error;
    return ST_OK;
}

static enum status renew_ledger(struct context *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    (void)id;
    return ledger_follow_in(context->ledger, tx, error);
}

static enum status renew_dataset(struct context *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    struct dataset_info info;
    enum status status = dataset_renew(context->datasets, tx, id, error);
    const struct dataset *dataset = datasets_find(context->datasets, id);
    if (status != ST_OK || dataset == NULL)
        return status;
    long_polls_wake(context->long_polls, dataset); /* requests awaiting its import */
    dataset_read(context->datasets, dataset, &info);
    if (info.state == DATASET_DELETED)
        feature_cache_forget(context->feature_cache, id);
    return ST_OK;
}

static enum status renew_weights(struct context *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    return weight_files_renew(context->weight_files, tx, id, error);
}

static enum status renew_model(struct context *context, struct store_tx *tx,
                               const char *id, struct error *error)
{
    return models_renew(context->models, tx, id, error);
}

static char *reserved(void *context, const struct job_id *holder)
{
    return ledger_reserved_text(context, holder);
}

enum status following_begin(struct context *context, struct error *error)
{
    const struct survey_renewal renewal = {context->datasets, reserved,
                                           context->ledger};
    return surveys_yield(context->surveys, &renewal, error);
}

static enum status renew_survey(struct context *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    const struct survey_renewal renewal = {context->datasets, reserved,
                                           context->ledger};
    return surveys_renew(context->surveys, tx, id, &renewal, error);
}

static enum status renew_charge(struct context *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    return charges_renew(context->charges, tx, id, error);
}

static enum status renew_access_key(struct context *context, struct store_tx *tx,
                                    const char *id, struct error *error)
{
    return access_keys_renew(context->keys, tx, id, error);
}

static enum status renew_login(struct context *context, struct store_tx *tx,
                               const char *id, struct error *error)
{
    return logins_renew(context->logins, tx, id, error);
}

static enum status renew_policy_proposal(struct context *context, struct store_tx *tx,
                                         const char *id, struct error *error)
{
    return policy_proposals_renew(context->policy_proposals, tx, id, error);
}

static enum status renew_webhook(struct context *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    return webhooks_renew(context->webhooks, tx, id, error);
}

/* Returns the id after "KIND/", or NULL if it is of another kind. */
static const char *of_kind(const char *id, const char *kind)
{
    size_t size = strlen(kind);
    return strncmp(id, kind, size) == 0 ? id + size : NULL;
}

static enum status renew_caption(struct context *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    const char *dataset = of_kind(id, "dataset/"), *job = of_kind(id, "job/"),
               *model = of_kind(id, "model/");
    if (dataset != NULL)
        return dataset_caption_renew(context->datasets, tx, dataset, error);
    if (job != NULL)
        return job_caption_renew(context->jobs, tx, job, error);
    if (model != NULL)
        return model_caption_renew(context->models, tx, model, error);
    return error_set(error, ST_CORRUPT, "table caption, row %s: it is of nothing", id);
}

/* New objects of these tables are listed in the order in which they were made. */
static const struct {
    bool is_listed;
    enum numbered table;
} lists[FOLLOW_KINDS] = {
    [FOLLOW_DATASET] = {true, NUMBERED_DATASET},
    [FOLLOW_WEIGHTS] = {true, NUMBERED_WEIGHTS},
    [FOLLOW_MODEL] = {true, NUMBERED_MODEL},
    [FOLLOW_CHARGE] = {true, NUMBERED_CHARGE},
    [FOLLOW_ACCESS_KEY] = {true, NUMBERED_ACCESS_KEY},
};

struct numbered_change {
    uint64_t number;
    const struct follow_change *change;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered_change *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static renew_function *const functions[] = {
    [FOLLOW_LEDGER] = renew_ledger,
    [FOLLOW_AUDIT] = renew_nothing, /* memory keeps nothing of it */
    [FOLLOW_DATASET] = renew_dataset,
    [FOLLOW_WEIGHTS] = renew_weights,
    [FOLLOW_JOB] = renew_nothing, /* all jobs together, by renew_jobs */
    [FOLLOW_MODEL] = renew_model,
    [FOLLOW_SURVEY] = renew_survey,
    [FOLLOW_CHARGE] = renew_charge,
    [FOLLOW_ACCESS_KEY] = renew_access_key,
    [FOLLOW_LOGIN] = renew_login,
    [FOLLOW_POLICY_PROPOSAL] = renew_policy_proposal,
    [FOLLOW_WEBHOOK] = renew_webhook,
    [FOLLOW_CAPTION] = renew_caption,
};

_Static_assert(sizeof functions / sizeof *functions == FOLLOW_KINDS,
               "every table is followed");

static enum status renew_jobs(struct context *context, struct store_tx *tx,
                              const struct follow_change *changes, size_t count,
                              struct error *error)
{
    struct job_arrivals arrivals;
    enum status status =
        jobs_renew(context->jobs, tx, changes, count, &arrivals, error);
    if (status == ST_OK)
        sweeps_renew(context->sweeps, context->jobs, &arrivals);
    free(arrivals.all);
    return status;
}

/* Returns how many of the changes, from the first on, are of the first one's table. */
static size_t count_alike(const struct follow_change *changes, size_t count)
{
    size_t alike = 1;
    while (alike < count && changes[alike].what == changes[0].what)
        alike++;
    return alike;
}

/* Updates the rows of one table, in the order of their numbers if the table is
 * listed. */
static enum status renew_alike(struct context *context, struct store_tx *tx,
                               const struct follow_change *changes, size_t count,
                               struct error *error)
{
    enum status status = ST_OK;
    enum follow_what what = changes[0].what;
    struct numbered_change *ordered = calloc(count, sizeof *ordered);
    CHECK(ordered != NULL);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        ordered[i].change = &changes[i];
        if (count > 1 && lists[what].is_listed)
            status = row_number_find(tx, lists[what].table, changes[i].id,
                                     &ordered[i].number, error);
    }
    if (lists[what].is_listed)
        qsort(ordered, count, sizeof *ordered, by_number);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = functions[what](context, tx, ordered[i].change->id, error);
    free(ordered);
    return status;
}

enum status following_renew(void *argument, struct store_tx *tx,
                            const struct follow_change *changes, size_t count,
                            struct error *error)
{
    struct context *context = argument;
    enum status status = ST_OK;
    bool audit_alone = count == 0 || (count == 1 && changes[0].what == FOLLOW_AUDIT);
    if (!audit_alone)
        atomic_fetch_add(&context->followed, 1);
    for (size_t i = 0; i < count && status == ST_OK;) {
        size_t alike = count_alike(changes + i, count - i);
        if (changes[i].what == FOLLOW_JOB)
            status = renew_jobs(context, tx, changes + i, alike, error);
        else
            status = renew_alike(context, tx, changes + i, alike, error);
        i += alike;
    }
    return status;
}
