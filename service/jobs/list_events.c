#include "service/jobs/list_events.h"

#include <stdio.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "api/views/event_view.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/http/event_batches.h"
#include "service/http/event_feed.h"
#include "service/jobs/job.h"
#include "service/jobs/job_changes.h"
#include "service/jobs/jobs.h"
#include "service/jobs/sweeps.h"
#include "service/process/daemon_state.h"
#include "service/threads/epoch_reclaim.h"

enum { JOBS_MAX = 64 }; /* per batch: some 400 bytes each */

/* --- versions and cursors --- */

static void read_version(void *context, const struct changed_jobs *changed)
{
    uint64_t *version = context;
    *version = changed->version;
}

static uint64_t version_of(const struct event_feed *feed)
{
    uint64_t version = 0;
    jobs_look(feed->context->jobs, read_version, &version);
    return version;
}

struct event_cursor list_events_cursor(const struct event_feed *feed, const char *id)
{
    struct event_cursor cursor = {0};
    uint64_t version;
    if (event_id_parse(&version, id, feed->context->nonce) &&
        version <= version_of(feed))
        cursor = (struct event_cursor){.begun = true, .version = version};
    return cursor;
}

/* --- composing --- */

struct composing {
    const struct event_feed *feed;
    uint64_t after, to; /* versions */
    struct event_writer writer;
    struct dataset_id charged[JOBS_MAX]; /* datasets with changed charges, each once */
    size_t charged_count;
    struct sweep_id sweeps[JOBS_MAX]; /* sweeps whose runs have changed state, each
                                         once */
    size_t sweep_count;
    struct dataset_id changed[DATASET_CHANGES_KEPT];
    size_t changed_count;
    bool is_lost; /* changes were lost: clients must read the lists again */
};

static void add_charged(struct composing *composing, const struct dataset_id *dataset)
{
    for (size_t i = 0; i < composing->charged_count; i++)
        if (strcmp(composing->charged[i].text, dataset->text) == 0)
            return;
    composing->charged[composing->charged_count++] = *dataset;
}

static void add_sweep(struct composing *composing, const struct sweep_id *id)
{
    for (size_t i = 0; i < composing->sweep_count; i++)
        if (strcmp(composing->sweeps[i].text, id->text) == 0)
            return;
    composing->sweeps[composing->sweep_count++] = *id;
}

static bool is_wanted(const char *wanted, const char *text)
{
    return wanted[0] == '\0' || strcmp(wanted, text) == 0;
}

static void write_job(struct composing *composing, const struct job *job)
{
    const struct dataset_id *dataset = &job->dataset;
    if (!is_wanted(composing->feed->dataset.text, dataset->text) ||
        !is_wanted(composing->feed->project, job->project))
        return;
    if (!job_text_check(job->kept))
        return;
    struct job_view view = job_view_of(job, &job->now);
    if (job->changes.state > composing->after)
        event_write(&composing->writer, "state", event_state_render(&view));
    if (job->changes.progress > composing->after)
        event_write(&composing->writer, "progress", event_progress_render(&view));
    if (job_changes_otherwise(job, composing->after))
        event_write(&composing->writer, "change", event_change_render(&view));
    if (job->changes.charge > composing->after && job->ledger_seq > 0)
        add_charged(composing, dataset);
    if (job->changes.state > composing->after && job->sweep.text[0] != '\0')
        add_sweep(composing, &job->sweep);
}

/* Writes the first jobs that have changed since, oldest change first, and notes which
 * datasets have changed up to there. */
static void write_jobs(void *context, const struct changed_jobs *changed)
{
    struct composing *composing = context;
    const struct job *next = NULL;
    size_t count = 0;
    composing->is_lost = dataset_changes_are_lost(&changed->datasets, composing->after);
    composing->to = changed->version;
    if (composing->is_lost)
        return;
    for (const struct job *job = changed->newest;
         job != NULL && job->changes.any > composing->after; job = job->changes.older)
        next = job;
    composing->to = composing->after;
    for (; next != NULL && count < JOBS_MAX; next = next->changes.newer, count++) {
        write_job(composing, next);
        composing->to = next->changes.any;
    }
    if (next == NULL)
        composing->to = changed->version;
    composing->changed_count = dataset_changes_between(
        &changed->datasets, composing->after, composing->to, composing->changed);
}

static void write_datasets(struct composing *composing)
{
    struct reclaim_reader visit;
    struct dataset_info info;
    const struct event_feed *feed = composing->feed;
    struct datasets *datasets = feed->context->datasets;
    datasets_enter(datasets, &visit);
    for (size_t i = 0; i < composing->changed_count; i++) {
        const char *id = composing->changed[i].text;
        const struct dataset *dataset = datasets_find(datasets, id);
        if (dataset == NULL || !is_wanted(feed->dataset.text, id) ||
            !is_wanted(feed->project, dataset_owner(dataset)->project))
            continue;
        dataset_read_as(datasets, dataset, NULL, &info);
        event_write(&composing->writer, "dataset",
                    event_dataset_render(id, dataset_state_names[info.state]));
    }
    datasets_leave(datasets, &visit);
}

static void write_sweeps(struct composing *composing)
{
    size_t by_state[JOB_STATE_COUNT];
    struct daemon_state *context = composing->feed->context;
    for (size_t i = 0; i < composing->sweep_count; i++) {
        const struct sweep_id *id = &composing->sweeps[i];
        const struct sweep *sweep = sweeps_find(context->sweeps, id->text);
        if (sweep == NULL)
            continue;
        struct event_sweep shown = {.id = id,
                                    .state_names = job_state_names,
                                    .by_state = by_state,
                                    .state_count = JOB_STATE_COUNT};
        shown.ended = sweep_count_states(sweep, context->jobs, by_state);
        event_write(&composing->writer, "sweep", event_sweep_render(&shown));
    }
}

/* Skips budgets whose account has not been loaded since the start: nothing of them has
 * changed. */
static void write_budgets(struct composing *composing)
{
    struct balance balance;
    for (size_t i = 0; i < composing->charged_count; i++)
        if (ledger_in_memory(composing->feed->context->ledger,
                             &composing->charged[i]) &&
            ledger_balance(composing->feed->context->ledger, &composing->charged[i],
                           &balance, NULL) == ST_OK)
            event_write(&composing->writer, "budget",
                        event_budget_render(&composing->charged[i], &balance));
}

static struct event_batch *compose(const struct event_feed *feed,
                                   const struct event_key *key)
{
    size_t size;
    struct composing composing = {
        .feed = feed, .after = key->from.version, .to = key->version};
    event_writer_open(&composing.writer);
    if (key->from.begun)
        jobs_look(feed->context->jobs, write_jobs, &composing);
    write_sweeps(&composing);
    write_datasets(&composing);
    write_budgets(&composing);
    if (!key->from.begun || composing.is_lost)
        event_write(&composing.writer, "snapshot",
                    event_lists_render(
                        feed->dataset.text[0] != '\0' ? feed->dataset.text : NULL));
    if (composing.writer.open)
        event_write_id(&composing.writer, feed->context->nonce, composing.to);
    char *text = event_writer_close(&composing.writer, &size);
    struct event_batch *batch = event_batch_create(key, text, size);
    batch->to = (struct event_cursor){.begun = true, .version = composing.to};
    return batch;
}

struct event_feed list_events_feed(struct daemon_state *context,
                                   const struct dataset *dataset, const char *project)
{
    static const struct event_feed_kind kind = {version_of, compose};
    struct event_feed feed = {.kind = &kind,
                              .context = context,
                              .order = UINT64_MAX}; /* after those of jobs */
    if (dataset != NULL)
        feed.dataset = dataset_spec(dataset)->id;
    snprintf(feed.project, sizeof feed.project, "%s", project);
    return feed;
}
