#include "service/runs/rank_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/pricing/run_filter.h"
#include "api/requests/dataset_request.h"
#include "api/requests/job_request.h"
#include "api/requests/rank_text.h"
#include "base/check.h"
#include "base/log.h"
#include "service/config/config.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/process/daemon_state.h"
#include "service/runs/rank_launcher.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

/* Besides each other's steps, ranks wait for the daemon's own work between two orders:
 * a transaction, and an evaluation. They wait PATIENCE_S for it, or
 * PATIENCE_EVALUATING_S if the job has an evaluation. */
enum { PATIENCE_S = 120, PATIENCE_EVALUATING_S = 900, END_MS = 10000 };

struct rank_group {
    struct rank_launcher launcher;
    struct daemon_state *context;
    struct trainer *trainer;
    const atomic_bool *cancel;
    const struct job *job;
    char model[RANK_PATH_SIZE]; /* the file through which the model comes */
    bool guarded;               /* the plan's filter needs each next step */
    bool has_begun;             /* the first report has come */
    bool is_lost;
    struct rank_report report;
};

/* --- the plan --- */

/* Sets to to path and ending. The data directory may be relative to the folder where
 * the daemon was started, and ranks run elsewhere. A path that does not fit becomes "",
 * which cannot be opened. */
static void make_absolute(char to[RANK_PATH_SIZE], const char *path, const char *ending)
{
    char here[RANK_PATH_SIZE] = "";
    bool is_whole = path[0] == '/';
    if (!is_whole && getcwd(here, sizeof here) == NULL)
        here[0] = '\0';
    size_t size = strlen(here) + strlen(path) + strlen(ending) + sizeof "/";
    to[0] = '\0';
    if (size <= RANK_PATH_SIZE)
        stpcpy(stpcpy(stpcpy(stpcpy(to, here), is_whole ? "" : "/"), path), ending);
}

static char *plan_text(const struct rank_group *company,
                       const struct rank_group_setup *setup)
{
    const struct job_plan *job = job_plan(company->job);
    struct datasets *datasets = company->context->datasets;
    const struct dataset *dataset = datasets_find(datasets, job->request.dataset.text);
    struct dataset_info info;
    dataset_read(datasets, dataset, &info);
    struct rank_plan plan = {
        .dataset = dataset_spec_render(dataset_spec(dataset)),
        .request = job_request_render(&job->request),
        .records = info.detail.records,
        .noise_multiplier = job->request.train.noise_multiplier,
        .ranks = train_spec_ranks(&job->request.train),
        .threads = company->context->config->threads,
        .patience_s = job->request.has_evaluation ? PATIENCE_EVALUATING_S : PATIENCE_S,
        .matrix.seal = dataset_info_seal(&info),
    };
    make_absolute(plan.matrix.path, setup->matrix, "");
    snprintf(plan.model, sizeof plan.model, "%s", company->model);
    if (setup->weights != NULL) {
        make_absolute(plan.weights.path, setup->weights->path, "");
        plan.weights.seal = setup->weights->seal;
    }
    if (setup->weights != NULL && setup->weights->body != NULL) {
        make_absolute(plan.body.path, setup->weights->body->path, "");
        plan.body.seal = setup->weights->body->seal;
    }
    char *text = rank_plan_render(&plan);
    rank_plan_fini(&plan);
    return text;
}

static enum status send_plan(struct rank_group *company,
                             const struct rank_group_setup *setup, struct error *error)
{
    char head[RANK_HEAD_SIZE];
    char *text = plan_text(company, setup);
    rank_head_render(head, strlen(text));
    enum status status = rank_launcher_write(&company->launcher, head, strlen(head),
                                             company->cancel, error);
    if (status == ST_OK)
        status = rank_launcher_write(&company->launcher, text, strlen(text),
                                     company->cancel, error);
    free(text);
    return status;
}

/* --- reports --- */

/* Separates failures of the ranks themselves, which become ST_INTERNAL, from statuses
 * that any run may end with. Ranks that report a cancellation that was not requested
 * have lost their launcher. */
static enum status lose(struct rank_group *company, enum status status)
{
    bool any_run = (status == ST_CANCELLED && atomic_load(company->cancel)) ||
                   status == ST_NO_MEMORY || status == ST_NOT_FLOAT_SAFE ||
                   status == ST_DATASET_CORRUPT || status == ST_MODEL_CORRUPT;
    company->is_lost = !any_run;
    return any_run ? status : ST_INTERNAL;
}

static enum status read_report(struct rank_group *company, struct error *error)
{
    char line[RANK_LINE_SIZE];
    enum status status = rank_launcher_read(&company->launcher, line, sizeof line,
                                            company->cancel, error);
    if (status == ST_OK)
        status = rank_report_parse(&company->report, line, error);
    if (status != ST_OK)
        return lose(company, status);
    if (company->report.failure == ST_OK)
        return ST_OK;
    status = company->report.failure;
    error_set(error, status, "%s", company->report.detail);
    /* Once they have begun, rank 0 reports ST_INTERNAL for one reason only, as a
     * trainer does: parameters are no longer finite. */
    if (status == ST_INTERNAL && company->has_begun)
        return status;
    return lose(company, status);
}

static enum status refuse(struct rank_group *company, const char *why,
                          struct error *error)
{
    company->is_lost = true;
    return error_set(error, ST_INTERNAL, "%s", why);
}

/* Checks that the report is one of a run at that step. */
static enum status check_report(struct rank_group *company, uint64_t step,
                                bool wants_model, struct error *error)
{
    const struct rank_report *report = &company->report;
    struct released_value values[RELEASED_SERIES_MAX];
    size_t numbers = 0, count = trainer_released(company->trainer, values);
    for (size_t k = 0; k < count; k++)
        numbers += values[k].count;
    if (report->step != step || report->has_model != wants_model)
        return refuse(company, "rank 0 reports of another step", error);
    if (step > 0 && report->number_count != numbers)
        return refuse(company, "rank 0 reports of another algorithm", error);
    if (company->guarded && !report->has_next &&
        step < job_plan(company->job)->request.train.steps)
        return refuse(company, "rank 0 does not say what its next step is", error);
    return ST_OK;
}

/* --- the model --- */

static bool read_all(int file, void *to, size_t size)
{
    char *at = to;
    while (size > 0) {
        ssize_t got = read(file, at, size);
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* Creates the file, which no rank does. */
static enum status make_model_file(const struct rank_group *company,
                                   struct error *error)
{
    int file = open(company->model,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return error_set(error, ST_INTERNAL, "%s: %s", company->model, strerror(errno));
    close(file);
    return ST_OK;
}

/* Reads the model that rank 0 has written to the file. */
static enum status adopt_model(struct rank_group *company, struct error *error)
{
    size_t count;
    uint8_t digest[SHA256_SIZE];
    trainer_model(company->trainer, &count);
    float *values = malloc(count * sizeof *values);
    int file = open(company->model, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_whole =
        values != NULL && file >= 0 && read_all(file, values, count * sizeof *values);
    if (is_whole)
        sha256_of(digest, values, count * sizeof *values);
    is_whole =
        is_whole && hash_equal(digest, company->report.model_sha256, sizeof digest);
    if (file >= 0)
        close(file);
    if (is_whole)
        trainer_adopt(company->trainer, company->report.step, values);
    free(values);
    if (is_whole)
        return ST_OK;
    return refuse(company, "what rank 0 wrote of the model is not here", error);
}

/* --- from start to end --- */

enum status rank_group_open(struct rank_group **out, struct daemon_state *context,
                            const struct job *job, const struct rank_group_setup *setup,
                            struct error *error)
{
    char draft_path[BLOB_PATH_SIZE];
    struct blob_draft draft;
    const struct blob_name name = blob_of_model(job_model_id(job));
    struct rank_group *company = calloc(1, sizeof *company);
    CHECK(company != NULL);
    *company =
        (struct rank_group){.context = context,
                            .trainer = setup->trainer,
                            .cancel = setup->cancel,
                            .job = job,
                            .guarded = run_filter_guards(&job_plan(job)->mechanism)};
    *out = company;
    blob_draft_init(&draft, &name);
    blob_draft_path(context->blobs, draft_path, &draft);
    make_absolute(company->model, draft_path, ".ranks");
    char **words = rank_words(context->config->ranks_launcher,
                              train_spec_ranks(&job_plan(job)->request.train));
    enum status status = rank_launcher_start(&company->launcher, words, error);
    rank_words_free(words);
    if (status == ST_OK)
        status = make_model_file(company, error);
    if (status == ST_OK)
        status = send_plan(company, setup, error);
    if (status != ST_OK)
        return lose(company, status);
    status = read_report(company, error);
    if (status == ST_OK)
        status = check_report(company, 0, false, error);
    company->has_begun = status == ST_OK;
    return status;
}

enum status rank_group_take(struct rank_group *company, const struct rank_order *order,
                            struct error *error)
{
    char *text = rank_order_render(order);
    char line[RANK_LINE_SIZE];
    int length = snprintf(line, sizeof line, "%s\n", text);
    free(text);
    enum status status = rank_launcher_write(&company->launcher, line, (size_t)length,
                                             company->cancel, error);
    if (status != ST_OK)
        return lose(company, status);
    status = read_report(company, error);
    if (status != ST_OK)
        return status;
    trainer_adopt(company->trainer, order->until, NULL);
    status = check_report(company, order->until, order->wants_model, error);
    if (status == ST_OK && order->wants_model)
        status = adopt_model(company, error);
    return status;
}

const struct rank_report *rank_group_report(const struct rank_group *company)
{
    return &company->report;
}

bool rank_group_is_lost(const struct rank_group *company)
{
    return company->is_lost;
}

size_t rank_group_released(const struct rank_group *company,
                           struct released_value values[RELEASED_SERIES_MAX])
{
    size_t count = trainer_released(company->trainer, values), at = 0;
    for (size_t k = 0; k < count; k++) {
        values[k].numbers = company->report.numbers + at;
        at += values[k].count;
    }
    return count;
}

void rank_group_end(struct rank_group *company, bool is_complete)
{
    static const struct rank_order over = {.is_over = true};
    if (company == NULL || company->launcher.pid == 0)
        return;
    if (is_complete) {
        char *text = rank_order_render(&over);
        is_complete = rank_launcher_write(&company->launcher, text, strlen(text),
                                          company->cancel, NULL) == ST_OK &&
                      rank_launcher_write(&company->launcher, "\n", 1, company->cancel,
                                          NULL) == ST_OK;
        free(text);
    }
    bool by_themselves =
        rank_launcher_end(&company->launcher, is_complete ? END_MS : 0);
    if (is_complete && !by_themselves)
        log_event(LOG_WARNING, "ranks_ended", "job", job_id(company->job)->text,
                  "detail", "after the last step, and not as they should",
                  (char *)NULL);
    unlink(company->model);
}

void rank_group_close(struct rank_group *company)
{
    rank_group_end(company, false);
    free(company);
}
