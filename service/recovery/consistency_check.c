#include "service/recovery/consistency_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "api/requests/charge_request.h"
#include "api/requests/dataset_request.h"
#include "api/requests/proposal.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/status.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/identity/access_keys.h"
#include "service/identity/logins.h"
#include "service/identity/policy_proposals.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_score.h"
#include "service/jobs/jobs.h"
#include "service/jobs/jobs_base.h"
#include "service/jobs/statistics_runs.h"
#include "service/models/models.h"
#include "service/process/job_state.h"
#include "service/threads/epoch_reclaim.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/model_rows.h"

struct charge;

/* The check of certificates, which runs on a thread of its own. */
struct certificates {
    struct models *models;
    bool reads_all;
    enum status status;
    struct error error;
};

static void *check_certificates(void *context)
{
    struct certificates *certificates = context;
    certificates->status = models_check(certificates->models, certificates->reads_all,
                                        &certificates->error);
    return NULL;
}

/* Reads the rows of jobs while the certificates of the models, which are read already,
 * are checked: in a directory with many jobs each takes equally long. */
static enum status open_jobs(struct consistency_check *inventory, struct store_tx *tx,
                             const struct jobs_base *base, struct error *error)
{
    struct certificates certificates = {.models = inventory->models,
                                        .reads_all = base->reads_all};
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, check_certificates, &certificates) == 0;
    enum status status = jobs_open(&inventory->jobs, tx, base, error);
    if (beside)
        pthread_join(thread, NULL);
    else
        check_certificates(&certificates);
    if (status != ST_OK || certificates.status == ST_OK)
        return status;
    return error_set(error, certificates.status, "%s", certificates.error.text);
}

/* Reads what survives a restart for keys: logins of browsers, and policies that wait
 * for approval. */
static enum status open_of_keys(struct consistency_check *inventory,
                                struct store_tx *tx, struct error *error)
{
    inventory->logins = logins_create();
    inventory->policy_proposals = policy_proposals_create();
    enum status status = logins_load(inventory->logins, tx, clock_wall_ms(), error);
    return status == ST_OK
               ? policy_proposals_load(inventory->policy_proposals, tx, error)
               : status;
}

enum status consistency_check_open(struct consistency_check *out, struct store_tx *tx,
                                   const struct jobs_base *base, struct error *error)
{
    struct consistency_check inventory = {0};
    struct jobs_base stands = *base;
    enum status status = datasets_open(&inventory.datasets, tx, error);
    stands.datasets = inventory.datasets;
    if (status == ST_OK)
        status = models_open(&inventory.models, tx, error);
    if (status == ST_OK)
        status = open_jobs(&inventory, tx, &stands, error);
    if (status == ST_OK)
        status =
            statistics_runs_open(&inventory.surveys, tx, inventory.datasets, error);
    if (status == ST_OK)
        status = job_scores_load(inventory.jobs, tx, error);
    if (status == ST_OK)
        status = weight_files_open(&inventory.weight_files, tx, error);
    if (status == ST_OK)
        status = charges_open(&inventory.charges, tx, error);
    if (status == ST_OK)
        status = access_keys_open(&inventory.keys, tx, error);
    if (status == ST_OK)
        status = webhooks_open(&inventory.webhooks, tx, inventory.keys, error);
    if (status == ST_OK)
        status = open_of_keys(&inventory, tx, error);
    if (status == ST_OK) {
        *out = inventory;
        return ST_OK;
    }
    consistency_check_close(&inventory);
    /* A row that cannot be read is damage, no matter which status its parser
     * returns. */
    if (status != ST_IO)
        status = ST_CORRUPT;
    if (error != NULL)
        error->status = status;
    return status;
}

void consistency_check_close(struct consistency_check *inventory)
{
    policy_proposals_destroy(inventory->policy_proposals);
    logins_destroy(inventory->logins);
    webhooks_close(inventory->webhooks);
    access_keys_close(inventory->keys);
    charges_close(inventory->charges);
    statistics_runs_close(inventory->surveys);
    weight_files_close(inventory->weight_files);
    models_close(inventory->models);
    jobs_close(inventory->jobs);
    datasets_close(inventory->datasets);
    *inventory = (struct consistency_check){0};
}

static enum status wrong(const char *table, const char *id, const char *what,
                         struct error *error)
{
    return error_set(error, ST_CORRUPT, "table %s, row %s: %s", table, id, what);
}

/* --- datasets --- */

/* Checks the grant of a dataset. first is the grant of its oldest epoch, NULL if it has
 * no budget; used says whether that budget was ever drawn on; barred says that a second
 * person has not approved its grant. */
static enum status check_grant(const struct dataset_spec *spec, bool barred,
                               const struct grant *first, bool used,
                               struct error *error)
{
    bool same = first != NULL && grant_same(first, &spec->grant);
    if (spec->is_public && first != NULL)
        return wrong("dataset", spec->id.text, "it is public and has a budget", error);
    /* A grant that is not used yet may wait to be replaced. */
    if (barred && (same || used))
        return wrong("dataset", spec->id.text,
                     "its grant is not approved and it has a budget", error);
    if (!spec->is_public && !barred && !same)
        return wrong("dataset", spec->id.text,
                     "its privacy is not what the ledger was granted", error);
    return ST_OK;
}

/* Checks the budget of a dataset. A row that says that there is no usable budget is
 * always compared with the ledger. A row with a budget is compared only if the account
 * is in memory; the inspector checks all others when they are loaded. */
static enum status check_budget(const struct dataset_spec *spec, bool barred,
                                struct ledger *ledger, struct error *error)
{
    struct balance balance;
    struct epochs epochs = {0};
    struct error asked = {0};
    if (!spec->is_public && !barred && !ledger_in_memory(ledger, &spec->id))
        return ST_OK;
    enum status status = ledger_epochs(ledger, &spec->id, &epochs, &balance, &asked);
    if (status != ST_OK && status != ST_NOT_FOUND)
        return error_set(error, status, "%s", asked.text);
    status = check_grant(spec, barred, status == ST_OK ? &epochs.items[0].grant : NULL,
                         ledger_touched(ledger, &spec->id), error);
    epochs_fini(&epochs);
    return status;
}

static enum status inspect_account(void *context, const struct dataset_id *id,
                                   const struct grant *first, bool used,
                                   struct error *error)
{
    struct datasets *datasets = context;
    struct dataset_info info;
    struct reclaim_reader visit;
    enum status status = ST_OK;
    datasets_enter(datasets, &visit);
    const struct dataset *dataset = datasets_find(datasets, id->text);
    if (dataset == NULL) {
        status = wrong("dataset", id->text, "the ledger has a budget of it", error);
    } else {
        dataset_read(datasets, dataset, &info);
        status = check_grant(dataset_spec(dataset),
                             proposal_bars(&info.detail.proposal), first, used, error);
    }
    datasets_leave(datasets, &visit);
    return status;
}

void consistency_check_watch(const struct consistency_check *inventory,
                             struct ledger *ledger)
{
    const struct ledger_inspector inspector = {inspect_account, inventory->datasets};
    ledger_set_inspector(ledger, &inspector);
}

static enum status check_dataset(const struct consistency_check *inventory,
                                 struct ledger *ledger, const struct dataset *dataset,
                                 struct error *error)
{
    struct dataset_info info;
    const struct dataset_spec *spec = dataset_spec(dataset);
    dataset_read(inventory->datasets, dataset, &info);
    if (info.state == DATASET_READY && !info.has_sha256)
        return wrong("dataset", spec->id.text, "it is READY and has no digest", error);
    if (info.state == DATASET_READY && info.detail.records == 0)
        return wrong("dataset", spec->id.text, "it is READY and has no records", error);
    bool barred = proposal_bars(&info.detail.proposal);
    if (info.state == DATASET_READY && barred)
        return wrong("dataset", spec->id.text,
                     "it is READY and its grant is not approved", error);
    return check_budget(spec, barred, ledger, error);
}

/* --- jobs --- */

/* Returns whether the entry of something that has ended is archived: the ledger then
 * does not have its reservation any more. */
static bool is_archived(struct ledger *ledger, uint64_t seq)
{
    return seq > 0 && seq < ledger_sealed(ledger).entry.seq;
}

/* Checks that what will run is what was reserved: the same canonical text
 * (style.md 8). */
static enum status check_reserved(const struct job *job, const struct job_id *id,
                                  const struct mechanism *m, struct ledger *ledger,
                                  struct error *error)
{
    char *reserved = ledger_reserved_text(ledger, id);
    char *planned = mechanism_render(m);
    bool same = reserved != NULL && strcmp(reserved, planned) == 0;
    free(planned);
    free(reserved);
    return same ? ST_OK
                : wrong("job", job_id(job)->text,
                        "its reservation is of another mechanism", error);
}

static enum status check_private(const struct consistency_check *inventory,
                                 struct ledger *ledger, const struct job *job,
                                 struct error *error)
{
    struct ledger_entry_name entry = {0};
    bool ended = job_state_is_terminal(job_state(inventory->jobs, job));
    bool found = ledger_reservation(ledger, job_id(job), &entry);
    if (!found && ended && is_archived(ledger, job_ledger_seq(job)))
        return ST_OK;
    if (!found || entry.seq != job_ledger_seq(job))
        return wrong("job", job_id(job)->text, "the ledger has no such reservation",
                     error);
    if (ended)
        return ST_OK;
    return check_reserved(job, job_id(job), &job_plan(job)->mechanism, ledger, error);
}

/* Like check_private, for an evaluation on a holdout. */
static enum status check_measurement(const struct consistency_check *inventory,
                                     struct ledger *ledger, const struct job *job,
                                     struct error *error)
{
    struct ledger_entry_name entry = {0};
    const struct job_id id = job_evaluation_id(job_id(job));
    bool ended = job_state_is_terminal(job_state(inventory->jobs, job));
    bool has_one = ledger_reservation(ledger, &id, &entry);
    if (!has_one && ended && job_is_measured(job) &&
        is_archived(ledger, job_measurement_seq(job)))
        return ST_OK;
    if (has_one != job_is_measured(job) || entry.seq != job_measurement_seq(job))
        return wrong("job", job_id(job)->text,
                     "the ledger has no such reservation of its evaluation", error);
    if (!has_one || ended)
        return ST_OK;
    return check_reserved(job, &id, &job_plan(job)->measurement, ledger, error);
}

static enum status check_job(const struct consistency_check *inventory,
                             struct ledger *ledger, const struct job *job,
                             struct error *error)
{
    struct model_id model;
    bool succeeded = job_state(inventory->jobs, job) == JOB_SUCCEEDED;
    if (job_published(inventory->jobs, job) != succeeded)
        return wrong("job", job_id(job)->text,
                     "it has a model if, and only if, it SUCCEEDED", error);
    if (job_model(inventory->jobs, job, &model) &&
        models_find(inventory->models, model.text) == NULL)
        return wrong("job", job_id(job)->text, "there is no row of its model", error);
    if (!job_is_private(job))
        return ST_OK;
    enum status status = check_private(inventory, ledger, job, error);
    return status == ST_OK ? check_measurement(inventory, ledger, job, error) : status;
}

/* --- models --- */

static enum status check_model(const struct consistency_check *inventory,
                               const struct model_row *row, struct error *error)
{
    struct model_id model;
    const struct job *job = jobs_find(inventory->jobs, row->job.text);
    if (job == NULL)
        return wrong("model", row->id.text, "there is no row of its job", error);
    if (!job_model(inventory->jobs, job, &model) ||
        strcmp(model.text, row->id.text) != 0)
        return wrong("model", row->id.text, "its job names another model", error);
    return ST_OK;
}

/* --- surveys --- */

static enum status check_survey(const struct consistency_check *inventory,
                                const struct statistics_run_entry *survey,
                                struct ledger *ledger, struct error *error)
{
    struct ledger_entry_name entry = {0};
    bool found = ledger_reservation(ledger, &survey->holder, &entry);
    if (found && entry.seq == survey->ledger_seq)
        return ST_OK;
    if (survey->is_free && !found && survey->ledger_seq == 0)
        return ST_OK;
    if (!found && is_archived(ledger, survey->ledger_seq) &&
        !statistics_runs_runs(inventory->surveys, survey->holder.text))
        return ST_OK;
    return wrong("survey", survey->holder.text, "the ledger has no such reservation",
                 error);
}

/* --- charges --- */

/* Checks that what is reserved for an open charge is what it declares. */
static enum status check_declared(const struct charge *charge, struct ledger *ledger,
                                  enum relation relation, struct error *error)
{
    struct mechanism m = {0};
    const struct job_id holder = holder_of_charge(charge_id(charge));
    char *reserved = ledger_reserved_text(ledger, &holder), *declared = NULL;
    if (charge_request_mechanism(&m, charge_declared(charge), relation, NULL) == ST_OK)
        declared = mechanism_render(&m);
    bool same = reserved != NULL && declared != NULL && strcmp(reserved, declared) == 0;
    free(declared);
    free(reserved);
    mechanism_fini(&m);
    return same ? ST_OK
                : wrong("charge", charge_id(charge)->text,
                        "its reservation is of another mechanism", error);
}

/* Checks a charge. If a restored backup has closed the epoch, all of it was authorised
 * then. */
static enum status check_charge(const struct consistency_check *inventory,
                                struct ledger *ledger, const struct charge *charge,
                                struct error *error)
{
    struct charge_info info;
    struct balance balance;
    struct ledger_entry_name entry;
    const struct charge_request *request = charge_declared(charge);
    const struct job_id holder = holder_of_charge(charge_id(charge));
    charge_read(inventory->charges, charge, &info);
    bool found = ledger_reservation(ledger, &holder, &entry);
    if (!found && info.state != CHARGE_OPEN && ledger_sealed(ledger).entry.seq > 0)
        return ST_OK;
    if (!found || ledger_balance(ledger, &request->dataset, &balance, NULL) != ST_OK)
        return wrong("charge", charge_id(charge)->text,
                     "the ledger has no such reservation", error);
    uint64_t authorised = ledger_authorised(ledger, &holder);
    if (authorised != charge_request_steps_of(request, info.blocks) &&
        authorised != charge_request_steps(request))
        return wrong("charge", charge_id(charge)->text,
                     "its blocks are not what was authorised of it", error);
    return info.state == CHARGE_OPEN
               ? check_declared(charge, ledger, balance.relation, error)
               : ST_OK;
}

/* --- open reservations --- */

/* Returns whether the holder of a reservation exists and has not ended. */
static bool is_live(const struct consistency_check *inventory,
                    const struct job_id *holder)
{
    struct charge_info info;
    const struct charge *charge = charges_find(inventory->charges, holder->text);
    if (charge != NULL) {
        charge_read(inventory->charges, charge, &info);
        return info.state == CHARGE_OPEN;
    }
    if (statistics_runs_runs(inventory->surveys, holder->text))
        return true;
    const struct job_id id = charged_job(holder);
    const struct job *job = jobs_find(inventory->jobs, id.text);
    return job != NULL && !job_state_is_terminal(job_state(inventory->jobs, job));
}

struct orphan {
    const struct consistency_check *inventory;
    bool found;
    struct job_id job;
};

static bool visit_reservation(void *context,
                              const struct ledger_open_reservation *reservation)
{
    struct orphan *orphan = context;
    orphan->found = !is_live(orphan->inventory, &reservation->job);
    orphan->job = reservation->job;
    return !orphan->found;
}

/* Checks that each open reservation has a live holder. A job, survey or charge and its
 * reservation are written in one transaction and end in one. */
static enum status check_orphans(const struct consistency_check *inventory,
                                 struct ledger *ledger, struct error *error)
{
    struct orphan orphan = {.inventory = inventory};
    ledger_open_walk(ledger, visit_reservation, &orphan);
    return orphan.found ? wrong("job", orphan.job.text,
                                "its open reservation has no live job", error)
                        : ST_OK;
}

enum status consistency_check_run(const struct consistency_check *inventory,
                                  struct ledger *ledger, struct error *error)
{
    enum status status = ST_OK;
    size_t surveys;
    const struct statistics_run_entry *survey =
        statistics_runs_read(inventory->surveys, &surveys);
    for (size_t i = 0; status == ST_OK && i < datasets_count(inventory->datasets); i++)
        status = check_dataset(inventory, ledger, datasets_at(inventory->datasets, i),
                               error);
    for (size_t i = 0; status == ST_OK && i < jobs_count(inventory->jobs); i++)
        status = check_job(inventory, ledger, jobs_at(inventory->jobs, i), error);
    for (size_t i = 0; status == ST_OK && i < models_count(inventory->models); i++)
        status = check_model(inventory, models_at(inventory->models, i), error);
    for (size_t i = 0; status == ST_OK && i < surveys; i++)
        status = check_survey(inventory, &survey[i], ledger, error);
    for (size_t i = 0; status == ST_OK && i < charges_count(inventory->charges); i++)
        status =
            check_charge(inventory, ledger, charges_at(inventory->charges, i), error);
    if (status == ST_OK)
        status = check_orphans(inventory, ledger, error);
    return status;
}
