/* pagination.h has what the lists of jobs, datasets and models have in common. Each
 * list here says what it lists, in which order, and at which version: its tag is
 * made of counters that grow with every visible change, and the tag is read before
 * anything else, so a tag is never newer than the contents that it names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "api/http/query.h"
#include "api/requests/dataset_request.h"
#include "base/check.h"
#include "engine/dp/algorithms/registry.h"
#include "service/access/access.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_json.h"
#include "service/datasets/datasets.h"
#include "service/handlers/cold_account.h"
#include "service/handlers/handlers.h"
#include "service/handlers/list_query.h"
#include "service/http/cached_response.h"
#include "service/http/pagination.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_score.h"
#include "service/models/model_json.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

enum { TAG_SIZE = 80 };

enum view { VIEW_FULL, VIEW_SUMMARY };
static const char *const views[] = {
    [VIEW_FULL] = "full", [VIEW_SUMMARY] = "summary", NULL};

static bool has_bit(unsigned bits, unsigned place)
{
    return (bits >> place & 1) != 0;
}

/* --- jobs --- */

enum { JOBS_BY_TIME, JOBS_BY_EPSILON, JOBS_BY_QUALITY };
static const char *const job_orders[] = {[JOBS_BY_TIME] = "create_time",
                                         [JOBS_BY_EPSILON] = "epsilon",
                                         [JOBS_BY_QUALITY] = "quality",
                                         NULL};
static const bool job_orders_ascend[] = {
    [JOBS_BY_EPSILON] = true, [JOBS_BY_QUALITY] = false};

static const unsigned every_job_state = (1u << JOB_STATE_COUNT) - 1;
static const unsigned active_job_states =
    1u << JOB_QUEUED | 1u << JOB_RUNNING | 1u << JOB_CANCELLING;

struct job_list {
    struct access_question question; /* whether an item is listed */
    struct jobs *jobs;
    unsigned view, states;
    struct caption_search search;
    const char *dataset, *algorithm, *owner; /* NULL: any */
    int64_t after_ms;                        /* only those created since; INT64_MIN:
                                                all */
    bool scored;                             /* only those with a score */
    bool ascending;
};

static bool job_seen(void *context, size_t place)
{
    const struct job_list *list = context;
    return access_sees_job(&list->question, jobs_at(list->jobs, place));
}

/* *quality = the job's figure. A figure that is not a number comes last in either
 * direction.
 *   false  it has none */
static bool read_quality(struct jobs *jobs, const struct job *job, bool ascending,
                         double *quality)
{
    bool exists = job_figure(jobs, job, quality);
    if (exists && isnan(*quality))
        *quality = ascending ? INFINITY : -INFINITY;
    return exists;
}

static bool job_wanted(void *context, size_t place)
{
    double unused;
    const struct job_list *list = context;
    const struct job *job = jobs_at(list->jobs, place);
    if (job_is_removed(job))
        return false;
    if (list->dataset != NULL && strcmp(job_dataset(job)->text, list->dataset) != 0)
        return false;
    if (list->algorithm != NULL &&
        strcmp(job_algorithm(job)->name, list->algorithm) != 0)
        return false;
    if (list->owner != NULL && !person_equal(job_owner(job), list->owner))
        return false;
    if (job_create_ms(job) <= list->after_ms)
        return false;
    if (list->states != every_job_state &&
        !has_bit(list->states, job_state(list->jobs, job)))
        return false;
    if (list->scored && !read_quality(list->jobs, job, list->ascending, &unused))
        return false;
    return caption_search_is_any(&list->search) ||
           job_fits(list->jobs, job, &list->search);
}

static char *job_line(void *context, size_t place)
{
    const struct job_list *list = context;
    struct job *job = jobs_at(list->jobs, place);
    if (job_check(job, NULL) != ST_OK)
        return NULL;
    if (list->view == VIEW_SUMMARY)
        return job_summary_text(list->jobs, job);
    struct cached_response *answer = cached_response(list->jobs, job);
    char *text = strdup(answer->text);
    CHECK(text != NULL);
    cached_response_drop(answer);
    return text;
}

static uint64_t number_of_job(void *context, size_t place)
{
    const struct job_list *list = context;
    return job_number(jobs_at(list->jobs, place));
}

static struct pagination_key job_epsilon(void *context, size_t place)
{
    const struct job_list *list = context;
    const struct job *job = jobs_at(list->jobs, place);
    return (struct pagination_key){
        .number = job_is_private(job) ? job_epsilon_planned(job) : 0};
}

static struct pagination_key job_quality(void *context, size_t place)
{
    const struct job_list *list = context;
    struct pagination_key key = {.number = -INFINITY};
    read_quality(list->jobs, jobs_at(list->jobs, place), list->ascending, &key.number);
    return key;
}

/* Times are written in whole seconds, so "after" begins with the next second. */
static bool read_created_after(struct job_list *list, const struct request *request,
                               struct error *error)
{
    enum { REST_OF_SECOND_MS = 999 };
    const char *text = request_query(request, "created_after");
    list->after_ms = INT64_MIN;
    if (query_time(&list->after_ms, "created_after", text, error) != ST_OK)
        return false;
    if (text != NULL)
        list->after_ms += REST_OF_SECOND_MS;
    return true;
}

static bool read_algorithm(struct job_list *list, const struct request *request,
                           struct error *error)
{
    list->algorithm = request_query(request, "algorithm");
    return list->algorithm == NULL || algorithm_find(list->algorithm) != NULL ||
           query_refuse("algorithm", "must be a name of GET /v1/algorithms", error) ==
               ST_OK;
}

static bool read_job_list(struct job_list *list, struct pagination_source *source,
                          const struct request *request, struct error *error)
{
    static const struct list_order order = {job_orders, job_orders_ascend};
    bool good = query_choice(&list->view, "view", request_query(request, "view"), views,
                             error) == ST_OK;
    good = list_query_search(&list->search, request, error) && good;
    good = query_choices(&list->states, "state", request_query(request, "state"),
                         job_state_names, error) == ST_OK &&
           good;
    good = list_query_dataset(&list->dataset, request, error) && good;
    good = read_algorithm(list, request, error) && good;
    list->owner = request_query(request, "created_by");
    good = read_created_after(list, request, error) && good;
    good = list_query_order(source, request, &order, error) && good;
    list->scored = source->order == JOBS_BY_QUALITY;
    list->ascending = source->ascending;
    return good;
}

enum status handle_job_list(struct daemon_state *context, struct request *request,
                            struct error *error)
{
    char tag[TAG_SIZE];
    const struct jobs_tally tally = jobs_tally(context->jobs);
    struct job_list list = {.question = handler_question(request),
                            .jobs = context->jobs,
                            .states = every_job_state};
    struct pagination_source source = {
        .name = "jobs",
        .count = jobs_count(context->jobs),
        .seen = job_seen,
        .wanted = job_wanted,
        .text = job_line,
        .number = number_of_job,
        .context = &list,
        .tag = tag,
    };
    if (!read_job_list(&list, &source, request, error))
        return ST_INVALID;
    if (source.order == JOBS_BY_EPSILON)
        source.key = job_epsilon;
    if (source.order == JOBS_BY_QUALITY)
        source.key = job_quality;
    if ((list.states & ~active_job_states) == 0)
        source.first = tally.oldest_active;
    snprintf(tag, sizeof tag, "\"%s-%llu\"", context->nonce,
             (unsigned long long)tally.version);
    return pagination_reply(request, &source, error);
}

/* --- datasets --- */

enum { DATASETS_BY_TIME, DATASETS_BY_ID, DATASETS_BY_LEFT };
static const char *const dataset_orders[] = {[DATASETS_BY_TIME] = "create_time",
                                             [DATASETS_BY_ID] = "id",
                                             [DATASETS_BY_LEFT] = "left",
                                             NULL};
static const bool dataset_orders_ascend[] = {
    [DATASETS_BY_ID] = true, [DATASETS_BY_LEFT] = true};

enum { PRIVATE, PUBLIC };
static const char *const privacies[] = {
    [PRIVATE] = "private", [PUBLIC] = "public", NULL};
static const unsigned every_privacy = 1u << PRIVATE | 1u << PUBLIC;
static const unsigned every_dataset_state = (1u << DATASET_STATE_COUNT) - 1;

struct dataset_list {
    struct request *request; /* of the principal that asks */
    struct daemon_state *context;
    unsigned view, states, privacies;
    struct caption_search search;
};

static bool dataset_seen(void *context, size_t place)
{
    const struct dataset_list *list = context;
    const struct access_question question = handler_question(list->request);
    return access_sees_dataset(&question, datasets_at(list->context->datasets, place));
}

static bool dataset_wanted(void *context, size_t place)
{
    struct dataset_info info;
    const struct dataset_list *list = context;
    struct datasets *datasets = list->context->datasets;
    const struct dataset *dataset = datasets_at(datasets, place);
    const struct dataset_spec *spec = dataset_spec(dataset);
    if (!has_bit(list->privacies, spec->is_public ? PUBLIC : PRIVATE) ||
        !dataset_fits(datasets, dataset, &list->search))
        return false;
    if (list->states == every_dataset_state)
        return true;
    dataset_read_as(datasets, dataset, NULL, &info);
    return has_bit(list->states, info.state);
}

static char *dataset_line(void *context, size_t place)
{
    const struct dataset_list *list = context;
    struct datasets *datasets = list->context->datasets;
    const struct dataset *dataset = datasets_at(datasets, place);
    if (cold_account_awaits(list->context, list->request, dataset))
        return NULL;
    return list->view == VIEW_SUMMARY
               ? dataset_summary_text(list->context, dataset)
               : dataset_json(datasets, dataset, list->context->ledger, NULL);
}

/* Public datasets have no budget: they sort as if all of it were left. */
static struct pagination_key dataset_left_key(void *context, size_t place)
{
    const struct dataset_list *list = context;
    const struct dataset *dataset = datasets_at(list->context->datasets, place);
    struct budget_share share = {.left = INFINITY};
    if (!dataset_spec(dataset)->is_public &&
        !cold_account_awaits(list->context, list->request, dataset))
        ledger_share(list->context->ledger,
                     &(struct ledger_part){&dataset_spec(dataset)->id, PART_TRAIN},
                     &share, NULL);
    return (struct pagination_key){.number = share.left};
}

static struct pagination_key dataset_id_key(void *context, size_t place)
{
    const struct dataset_list *list = context;
    const struct dataset *dataset = datasets_at(list->context->datasets, place);
    return (struct pagination_key){.text = dataset_spec(dataset)->id.text};
}

static bool read_dataset_list(struct dataset_list *list,
                              struct pagination_source *source,
                              const struct request *request, struct error *error)
{
    static const struct list_order order = {dataset_orders, dataset_orders_ascend};
    bool good = query_choice(&list->view, "view", request_query(request, "view"), views,
                             error) == ST_OK;
    good = list_query_search(&list->search, request, error) && good;
    good = query_choices(&list->states, "state", request_query(request, "state"),
                         dataset_state_names, error) == ST_OK &&
           good;
    good = query_choices(&list->privacies, "privacy", request_query(request, "privacy"),
                         privacies, error) == ST_OK &&
           good;
    return list_query_order(source, request, &order, error) && good;
}

enum status handle_dataset_list(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    char tag[TAG_SIZE];
    struct ledger_entry_name head; /* the ledger has each dataset's budget */
    struct dataset_list list = {.request = request,
                                .context = context,
                                .states = every_dataset_state,
                                .privacies = every_privacy};
    uint64_t version = datasets_version(context->datasets);
    ledger_head(context->ledger, &head);
    struct pagination_source source = {
        .name = "datasets",
        .count = datasets_count(context->datasets),
        .seen = dataset_seen,
        .wanted = dataset_wanted,
        .text = dataset_line,
        .context = &list,
        .tag = tag,
    };
    if (!read_dataset_list(&list, &source, request, error))
        return ST_INVALID;
    source.by_text = source.order == DATASETS_BY_ID;
    if (source.by_text)
        source.key = dataset_id_key;
    if (source.order == DATASETS_BY_LEFT)
        source.key = dataset_left_key;
    snprintf(tag, sizeof tag, "\"%s-%llu-%llu\"", context->nonce,
             (unsigned long long)version, (unsigned long long)head.seq);
    enum status status = pagination_reply(request, &source, error);
    return status == ST_OK ? cold_account_status(request, error) : status;
}

/* --- models --- */

enum { MODELS_BY_TIME, MODELS_BY_QUALITY };
static const char *const model_orders[] = {
    [MODELS_BY_TIME] = "create_time", [MODELS_BY_QUALITY] = "quality", NULL};
static const bool model_orders_ascend[] = {[MODELS_BY_QUALITY] = false};

struct model_list {
    struct access_question question; /* whether an item is listed */
    struct daemon_state *context;
    struct caption_search search;
    const char *dataset, *job; /* NULL: any */
    bool scored;               /* only those whose job has a score */
    bool ascending;
};

static const struct job *job_of_model(const struct model_list *list, size_t place)
{
    const struct model_row *row = models_at(list->context->models, place);
    const struct job *job = jobs_find_ever(list->context->jobs, row->job.text);
    CHECK(job != NULL);
    return job;
}

static bool model_seen(void *context, size_t place)
{
    const struct model_list *list = context;
    return access_sees_model(list->context, &list->question,
                             models_at(list->context->models, place));
}

static bool model_wanted(void *context, size_t place)
{
    double unused;
    const struct model_list *list = context;
    const struct model_row *row = models_at(list->context->models, place);
    if (model_is_removed(list->context->models, row) ||
        !model_fits(list->context->models, row, &list->search))
        return false;
    if (list->job != NULL && strcmp(row->job.text, list->job) != 0)
        return false;
    const struct job *job = job_of_model(list, place);
    if (list->scored &&
        !read_quality(list->context->jobs, job, list->ascending, &unused))
        return false;
    return list->dataset == NULL || strcmp(job_dataset(job)->text, list->dataset) == 0;
}

static struct pagination_key model_quality(void *context, size_t place)
{
    const struct model_list *list = context;
    struct pagination_key key = {.number = -INFINITY};
    read_quality(list->context->jobs, job_of_model(list, place), list->ascending,
                 &key.number);
    return key;
}

static char *model_line(void *context, size_t place)
{
    const struct model_list *list = context;
    return model_json(list->context, models_at(list->context->models, place));
}

static uint64_t number_of_model(void *context, size_t place)
{
    const struct model_list *list = context;
    return models_at(list->context->models, place)->number;
}

static bool read_job(struct model_list *list, const struct request *request,
                     struct error *error)
{
    struct job_id id;
    list->job = request_query(request, "job");
    return list->job == NULL || job_id_parse(&id, list->job) ||
           query_refuse("job", "must be the id of a job", error) == ST_OK;
}

static bool read_model_list(struct model_list *list, struct pagination_source *source,
                            const struct request *request, struct error *error)
{
    static const struct list_order order = {model_orders, model_orders_ascend};
    bool good = list_query_dataset(&list->dataset, request, error);
    good = read_job(list, request, error) && good;
    good = list_query_search(&list->search, request, error) && good;
    good = list_query_order(source, request, &order, error) && good;
    list->scored = source->order == MODELS_BY_QUALITY;
    list->ascending = source->ascending;
    if (list->scored)
        source->key = model_quality;
    return good;
}

enum status handle_model_list(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    char tag[TAG_SIZE];
    struct model_list list = {.question = handler_question(request),
                              .context = context};
    uint64_t version = models_version(context->models);
    const struct jobs_tally tally = jobs_tally(context->jobs);
    struct pagination_source source = {
        .name = "models",
        .count = models_count(context->models),
        .seen = model_seen,
        .wanted = model_wanted,
        .text = model_line,
        .number = number_of_model,
        .context = &list,
        .tag = tag,
    };
    if (!read_model_list(&list, &source, request, error))
        return ST_INVALID;
    /* A model exists a moment before its job's end, which shows its evaluation. */
    snprintf(tag, sizeof tag, "\"%s-%llu-%llu-%llu\"", context->nonce,
             (unsigned long long)version,
             (unsigned long long)tally.by_state[JOB_SUCCEEDED],
             (unsigned long long)tally.later_scores);
    return pagination_reply(request, &source, error);
}
