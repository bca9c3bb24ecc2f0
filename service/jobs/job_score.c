#include "service/jobs/job_score.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/evaluation_request.h"
#include "base/check.h"
#include "service/jobs/job_table.h"
#include "service/jobs/jobs.h"
#include "store/rows/statistics_rows.h"

/* Returns the job on that dataset that made the model; NULL: there is none. */
static struct job *job_of(const struct jobs *jobs, const char *model,
                          const char *dataset)
{
    const struct job_of_model *item = registry_find(&jobs->models, model);
    return item != NULL && strcmp(item->job->dataset.text, dataset) == 0 ? item->job
                                                                         : NULL;
}

bool job_score(struct jobs *jobs, const struct job *job, struct holdout_score *score)
{
    pthread_rwlock_rdlock(&jobs->lock);
    const struct holdout_score *shown = job_score_of(job, &job->now);
    *score = shown != NULL ? *shown : (struct holdout_score){.score = {false}};
    pthread_rwlock_unlock(&jobs->lock);
    return shown != NULL;
}

bool job_figure(struct jobs *jobs, const struct job *job, double *figure)
{
    struct holdout_score holdout;
    struct evaluation_point point;
    if (job_score(jobs, job, &holdout)) {
        *figure = holdout.score.value;
        return true;
    }
    bool is_evaluated = job_evaluation(jobs, job, &point);
    if (is_evaluated)
        *figure = point.quality;
    return is_evaluated;
}

static bool is_newer(const struct job *job, int64_t end_ms, const struct survey_id *id)
{
    if (end_ms != job->later_ms)
        return end_ms > job->later_ms;
    return strcmp(id->text, job->later_score.evaluation.text) > 0;
}

/* --- one score --- */

struct showing { /* of a score, until its transaction ends */
    struct jobs *jobs;
    struct job *job;
    struct holdout_score score;
    int64_t end_ms;
};

static void show(const struct showing *showing)
{
    struct jobs *jobs = showing->jobs;
    struct job *job = showing->job;
    pthread_rwlock_wrlock(&jobs->lock);
    bool shows = is_newer(job, showing->end_ms, &showing->score.evaluation);
    if (shows) {
        job->later_score = showing->score;
        job->later_ms = showing->end_ms;
        job->now.version++;
        jobs->later_scores++;
        changed_jobs_touch(&jobs->changed, job);
    }
    pthread_rwlock_unlock(&jobs->lock);
    if (shows)
        long_polls_wake(jobs->base.long_polls, job);
}

static void durable(void *context)
{
    show(context);
    free(context);
}

/* Returns false if there is no such job. */
static bool prepare(struct showing *showing, struct jobs *jobs,
                    const struct later_score *later)
{
    pthread_rwlock_rdlock(&jobs->lock);
    struct job *job = job_of(jobs, later->model->text, later->dataset->text);
    pthread_rwlock_unlock(&jobs->lock);
    *showing = (struct showing){
        .jobs = jobs,
        .job = job,
        .score = {quality_score_read(later->quality), *later->evaluation},
        .end_ms = later->end_ms};
    return job != NULL;
}

void job_scores_add(struct jobs *jobs, struct store_tx *tx,
                    const struct later_score *later)
{
    struct showing *showing = malloc(sizeof *showing);
    CHECK(showing != NULL);
    if (prepare(showing, jobs, later))
        store_tx_on_end(tx, durable, free, showing);
    else
        free(showing);
}

/* --- rows --- */

struct reading {
    struct jobs *jobs;
    struct showing showing; /* of the row that was read, if is_found */
    bool is_found;
    enum status status;
    struct error *error;
};

/* Returns whether the row is of an evaluation on a holdout that has a result. */
static bool has_score(struct reading *reading, const struct statistics_row *row,
                      struct model_evaluation_kept *kept)
{
    struct survey_id id;
    if (!survey_id_parse(&id, row->id.text) || !survey_id_is_evaluation(&id) ||
        strcmp(row->state, "SUCCEEDED") != 0 || row->guarantee[0] == '\0')
        return false;
    if (model_evaluation_kept_parse(kept, row->spec, NULL) == ST_OK)
        return true;
    reading->status =
        error_set(reading->error, ST_CORRUPT,
                  "table survey, row %.64s: its request does not read back", id.text);
    return false;
}

static bool read_row(void *context, const struct statistics_row *row)
{
    struct reading *reading = context;
    struct model_evaluation_kept kept = {0};
    struct dataset_id dataset;
    if (has_score(reading, row, &kept) && dataset_id_parse(&dataset, row->dataset))
        reading->is_found =
            prepare(&reading->showing, reading->jobs,
                    &(struct later_score){&row->id, &kept.model, &dataset, row->answers,
                                          row->end_ms});
    return false;
}

enum status job_scores_renew(struct jobs *jobs, struct store_tx *tx, const char *id,
                             struct error *error)
{
    struct reading reading = {.jobs = jobs, .status = ST_OK, .error = error};
    enum status status = statistics_row_find(tx, id, read_row, &reading, error);
    if (status == ST_OK)
        status = reading.status;
    if (status == ST_OK && reading.is_found)
        show(&reading.showing);
    return status;
}

/* --- all rows, at a start: first which evaluation is the newest of each job, then its
 * answers, which a walk does not have --- */

static bool note_row(void *context, const struct statistics_row *row)
{
    struct reading *reading = context;
    struct model_evaluation_kept kept = {0};
    if (!has_score(reading, row, &kept))
        return reading->status == ST_OK;
    struct job *job = job_of(reading->jobs, kept.model.text, row->dataset);
    if (job != NULL && is_newer(job, row->end_ms, &row->id)) {
        job->later_score.evaluation = row->id;
        job->later_ms = row->end_ms;
    }
    return true;
}

static bool read_score(void *context, const struct statistics_row *row)
{
    struct quality_score *score = context;
    *score = quality_score_read(row->answers);
    return false;
}

enum status job_scores_load(struct jobs *jobs, struct store_tx *tx, struct error *error)
{
    const struct survey_range evaluations = {.kind = SURVEY_EVALUATION};
    struct reading reading = {.jobs = jobs, .status = ST_OK, .error = error};
    enum status status =
        statistics_rows_walk(tx, &evaluations, note_row, &reading, error);
    if (status == ST_OK)
        status = reading.status;
    for (size_t i = 0; i < jobs->registry.count && status == ST_OK; i++) {
        struct holdout_score *later =
            &((struct job *)jobs->registry.items[i])->later_score;
        if (later->evaluation.text[0] != '\0')
            status = statistics_row_find(tx, later->evaluation.text, read_score,
                                         &later->score, error);
    }
    return status;
}
