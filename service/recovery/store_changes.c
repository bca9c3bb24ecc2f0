#include "service/recovery/store_changes.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "base/check.h"
#include "engine/feature_cache.h"
#include "service/datasets/dataset_refresh.h"
#include "service/identity/access_keys.h"
#include "service/identity/logins.h"
#include "service/identity/policy_proposals.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_score.h"
#include "service/jobs/jobs_refresh.h"
#include "service/jobs/statistics_runs.h"
#include "service/jobs/sweeps.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/table_rows.h"

typedef enum status renew_function(struct daemon_state *context, struct store_tx *tx,
                                   const char *id, struct error *error);

static enum status renew_nothing(struct daemon_state *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    (void)context, (void)tx, (void)id, (void)error;
    return ST_OK;
}

static enum status renew_ledger(struct daemon_state *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    (void)id;
    return ledger_follow_in(context->ledger, tx, error);
}

static enum status renew_dataset(struct daemon_state *context, struct store_tx *tx,
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

static enum status renew_weights(struct daemon_state *context, struct store_tx *tx,
                                 const char *id, struct error *error)
{
    return weight_files_renew(context->weight_files, tx, id, error);
}

static enum status renew_model(struct daemon_state *context, struct store_tx *tx,
                               const char *id, struct error *error)
{
    return models_renew(context->models, tx, id, error);
}

static char *reserved(void *context, const struct job_id *holder)
{
    return ledger_reserved_text(context, holder);
}

enum status store_changes_begin(struct daemon_state *context, struct error *error)
{
    const struct statistics_run_renewal renewal = {context->datasets, reserved,
                                                   context->ledger};
    return statistics_runs_yield(context->statistics_runs, &renewal, error);
}

static enum status renew_survey(struct daemon_state *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    const struct statistics_run_renewal renewal = {context->datasets, reserved,
                                                   context->ledger};
    enum status status =
        statistics_runs_renew(context->statistics_runs, tx, id, &renewal, error);
    return status == ST_OK ? job_scores_renew(context->jobs, tx, id, error) : status;
}

static enum status renew_charge(struct daemon_state *context, struct store_tx *tx,
                                const char *id, struct error *error)
{
    return charges_renew(context->charges, tx, id, error);
}

static enum status renew_access_key(struct daemon_state *context, struct store_tx *tx,
                                    const char *id, struct error *error)
{
    return access_keys_renew(context->keys, tx, id, error);
}

static enum status renew_login(struct daemon_state *context, struct store_tx *tx,
                               const char *id, struct error *error)
{
    return logins_renew(context->logins, tx, id, error);
}

static enum status renew_policy_proposal(struct daemon_state *context,
                                         struct store_tx *tx, const char *id,
                                         struct error *error)
{
    return policy_proposals_renew(context->policy_proposals, tx, id, error);
}

static enum status renew_webhook(struct daemon_state *context, struct store_tx *tx,
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

static enum status renew_caption(struct daemon_state *context, struct store_tx *tx,
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
} lists[CHANGE_FEED_KINDS] = {
    [CHANGE_FEED_DATASET] = {true, NUMBERED_DATASET},
    [CHANGE_FEED_WEIGHTS] = {true, NUMBERED_WEIGHTS},
    [CHANGE_FEED_MODEL] = {true, NUMBERED_MODEL},
    [CHANGE_FEED_CHARGE] = {true, NUMBERED_CHARGE},
    [CHANGE_FEED_ACCESS_KEY] = {true, NUMBERED_ACCESS_KEY},
};

struct numbered_change {
    uint64_t number;
    const struct change_feed_change *change;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered_change *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static renew_function *const functions[] = {
    [CHANGE_FEED_LEDGER] = renew_ledger,
    [CHANGE_FEED_AUDIT] = renew_nothing, /* memory keeps nothing of it */
    [CHANGE_FEED_DATASET] = renew_dataset,
    [CHANGE_FEED_WEIGHTS] = renew_weights,
    [CHANGE_FEED_JOB] = renew_nothing, /* all jobs together, by renew_jobs */
    [CHANGE_FEED_MODEL] = renew_model,
    [CHANGE_FEED_SURVEY] = renew_survey,
    [CHANGE_FEED_CHARGE] = renew_charge,
    [CHANGE_FEED_ACCESS_KEY] = renew_access_key,
    [CHANGE_FEED_LOGIN] = renew_login,
    [CHANGE_FEED_POLICY_PROPOSAL] = renew_policy_proposal,
    [CHANGE_FEED_WEBHOOK] = renew_webhook,
    [CHANGE_FEED_CAPTION] = renew_caption,
};

_Static_assert(sizeof functions / sizeof *functions == CHANGE_FEED_KINDS,
               "every table is followed");

static enum status renew_jobs(struct daemon_state *context, struct store_tx *tx,
                              const struct change_feed_change *changes, size_t count,
                              struct error *error)
{
    struct jobs_refresh arrivals;
    enum status status =
        jobs_renew(context->jobs, tx, changes, count, &arrivals, error);
    if (status == ST_OK)
        sweeps_renew(context->sweeps, context->jobs, &arrivals);
    free(arrivals.all);
    return status;
}

/* Returns how many of the changes, from the first on, are of the first one's table. */
static size_t count_alike(const struct change_feed_change *changes, size_t count)
{
    size_t alike = 1;
    while (alike < count && changes[alike].what == changes[0].what)
        alike++;
    return alike;
}

/* Updates the rows of one table, in the order of their numbers if the table is
 * listed. */
static enum status renew_alike(struct daemon_state *context, struct store_tx *tx,
                               const struct change_feed_change *changes, size_t count,
                               struct error *error)
{
    enum status status = ST_OK;
    enum change_feed_what what = changes[0].what;
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

enum status store_changes_renew(void *argument, struct store_tx *tx,
                                const struct change_feed_change *changes, size_t count,
                                struct error *error)
{
    struct daemon_state *context = argument;
    enum status status = ST_OK;
    bool audit_alone =
        count == 0 || (count == 1 && changes[0].what == CHANGE_FEED_AUDIT);
    if (!audit_alone)
        atomic_fetch_add(&context->followed, 1);
    for (size_t i = 0; i < count && status == ST_OK;) {
        size_t alike = count_alike(changes + i, count - i);
        if (changes[i].what == CHANGE_FEED_JOB)
            status = renew_jobs(context, tx, changes + i, alike, error);
        else
            status = renew_alike(context, tx, changes + i, alike, error);
        i += alike;
    }
    return status;
}
