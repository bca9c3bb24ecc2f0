/* If one rank cannot continue before the first step, all ranks have to know, or the
 * others would wait for it. So each stage below ends with agree. From the first step
 * on, rank_run ensures this. */
#include "mpi/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/requests/dataset_request.h"
#include "api/requests/job_defaults.h"
#include "api/views/model_view.h"
#include "base/check.h"
#include "engine/trainer.h"
#include "mpi/protocol.h"
#include "mpi/rank_run.h"

struct worker {
    const struct group *group;
    struct protocol talk; /* only at rank 0 */
    uint8_t plan_sha256[SHA256_SIZE];
    struct rank_plan plan;
    struct dataset_spec dataset;
    struct job_request request;
    struct matrix matrix;
    struct rescaling rescaling;
    struct trainer *trainer;
    struct rank_order order; /* the last one received */
};

/* --- the plan --- */

/* Distributes the plan. Afterwards all ranks have the bytes that rank 0 read. */
static enum status share_plan(struct worker *member, struct error *error)
{
    const struct group *group = member->group;
    enum { PIECE = 1 << 20 };
    uint64_t size = 0;
    size_t read = 0;
    char *text = NULL;
    enum status status = ST_OK;
    if (group->rank == 0)
        status = protocol_plan(&member->talk, &text, &read, error);
    size = read;
    group_tell(group, &size, sizeof size);
    if (size == 0)
        return group->rank == 0 ? status
                                : error_set(error, ST_CANCELLED, "rank 0 has no plan");
    if (group->rank != 0)
        text = malloc(size);
    CHECK(text != NULL);
    for (size_t at = 0; at < size; at += PIECE)
        group_tell(group, text + at, size - at < PIECE ? size - at : PIECE);
    sha256_of(member->plan_sha256, text, size);
    status = rank_plan_parse(&member->plan, text, size, error);
    free(text);
    if (status == ST_OK && member->plan.ranks != group->size)
        status =
            error_set(error, ST_INVALID,
                      "the launcher started %u processes, and the job has %u ranks",
                      group->size, member->plan.ranks);
    return status;
}

/* Fills in the values that the request takes from the dataset, as the daemon does after
 * a restart. */
static enum status resolve(struct worker *member, struct error *error)
{
    struct job_request *request = &member->request;
    struct dataset_spec *dataset = &member->dataset;
    enum status status = dataset_spec_restore(dataset, member->plan.dataset, error);
    if (status == ST_OK)
        status = job_request_restore(request, member->plan.request, error);
    if (status != ST_OK)
        return status;
    const struct division *division = &dataset->grant.division;
    uint64_t records = member->plan.records;
    const struct job_dataset facts = {
        .schema = &dataset->schema,
        .records = division_count(division, records, PART_TRAIN),
        .held_out = division_count(division, records, PART_HOLDOUT),
        .division = *division,
        .is_public = dataset->is_public,
        .relation = dataset->grant.relation,
        .delta = dataset->is_public ? 0 : dataset->grant.delta,
    };
    status = job_defaults_fill(request, &facts, error);
    if (status == ST_OK)
        status = column_ranges_check(&request->scaling.ranges, facts.schema, error);
    request->train.noise_multiplier = member->plan.noise_multiplier;
    return status;
}

/* --- its records and its trainer --- */

static enum status open_matrix(struct worker *member, struct error *error)
{
    const struct rank_file *file = &member->plan.matrix;
    struct error inner = {0};
    enum status status =
        file_checksum_check_path(&file->seal, file->path, NULL, &inner);
    if (status == ST_OK)
        status = matrix_open(&member->matrix, file->path, &inner);
    if (status != ST_OK)
        return error_set(error, ST_DATASET_CORRUPT, "rank %u: the matrix: %s",
                         member->group->rank, inner.text);
    matrix_select(&member->matrix, &member->dataset.grant.division, PART_TRAIN);
    if (member->request.scaling.ranges.count == 0)
        return ST_OK;
    column_ranges_rescale(&member->rescaling, &member->request.scaling.ranges,
                          &member->dataset.schema);
    member->matrix.rescaling = &member->rescaling;
    return ST_OK;
}

static enum status make_trainer(struct worker *member, struct error *error)
{
    const struct rank_file *file = &member->plan.weights, *other = &member->plan.body;
    const struct weights_source body = {.path = other->path, .seal = other->seal};
    const struct weights_source weights = {.path = file->path,
                                           .seal = file->seal,
                                           .body =
                                               other->path[0] != '\0' ? &body : NULL};
    const struct trainer_options options = {
        .spec = &member->request.train,
        .data = &member->matrix,
        .threads = member->plan.threads,
        .group = member->group,
        .weights = file->path[0] != '\0' ? &weights : NULL,
    };
    return trainer_create(&member->trainer, &options, error);
}

static enum status prepare(struct worker *member, struct error *error)
{
    enum status status = share_plan(member, error);
    if (status == ST_OK)
        status = resolve(member, error);
    if (status == ST_OK)
        status = open_matrix(member, error);
    return status == ST_OK ? make_trainer(member, error) : status;
}

/* Returns ST_OK at all ranks, or at none. */
static enum status agree(const struct worker *member, enum status mine,
                         struct error *error)
{
    if (group_all(member->group, mine == ST_OK) || mine != ST_OK)
        return mine;
    return error_set(error, ST_INVALID,
                     "another rank cannot begin; its line in the log says why");
}

/* --- steps, at rank 0 --- */

/* Writes the model into a file that the daemon has created. It does not create the file
 * itself: if a rank outlives the launcher after the daemon has ended the run and
 * removed the file, no file is left. */
static enum status write_model(struct worker *member, uint8_t digest[SHA256_SIZE],
                               struct error *error)
{
    size_t count;
    const float *values = trainer_model(member->trainer, &count);
    const char *at = (const char *)values;
    size_t left = count * sizeof *values;
    int file = open(member->plan.model, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    sha256_of(digest, values, left);
    while (file >= 0 && left > 0) {
        ssize_t written = write(file, at, left);
        if (written <= 0)
            break;
        at += written;
        left -= (size_t)written;
    }
    if (file < 0 || (close(file) != 0 || left > 0))
        return error_set(error, ST_INVALID, "the model cannot be written to %s",
                         member->plan.model);
    return ST_OK;
}

static void add_released(struct rank_report *report, const struct trainer *trainer)
{
    struct released_value values[RELEASED_SERIES_MAX];
    size_t count = trainer_released(trainer, values);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < values[k].count; i++)
            report->numbers[report->number_count++] = values[k].numbers[i];
}

static enum status report_step(struct worker *member, uint64_t step,
                               struct error *error)
{
    struct rank_report report = {.step = step};
    struct noise_certificate noise;
    add_released(&report, member->trainer);
    report.has_next = step < member->request.train.steps &&
                      trainer_next(member->trainer, &report.next);
    if (member->order.wants_model) {
        enum status status = write_model(member, report.model_sha256, error);
        if (status != ST_OK)
            return status;
        report.has_model = true;
        if (trainer_noise_certificate(member->trainer, &noise)) {
            char *text = noise_render(&noise);
            snprintf(report.noise, sizeof report.noise, "%s", text);
            free(text);
        }
    }
    protocol_report(&report);
    return ST_OK;
}

/* Called by rank_run before each step. Returns once an order covers the step. If none
 * does, the previous order has been carried out, and is reported first. */
static enum status authorise(void *context, uint64_t step, bool *is_over,
                             struct error *error)
{
    struct worker *member = context;
    enum status status = ST_OK;
    while (status == ST_OK && !member->order.is_over && member->order.until == step) {
        status = report_step(member, step, error);
        if (status == ST_OK)
            status = protocol_order(&member->talk, &member->order, error);
    }
    /* A daemon that has ended counts as stopping the job, since it no longer
     * publishes anything. */
    if (status == ST_OK && !member->order.is_over && protocol_is_over(&member->talk))
        status = error_set(error, ST_CANCELLED, "the daemon is gone");
    bool is_of_this_run =
        member->order.is_over || (member->order.until > step &&
                                  member->order.until <= member->request.train.steps);
    if (status == ST_OK && !is_of_this_run)
        status = error_set(error, ST_INVALID, "the order is of no step of this run");
    *is_over = member->order.is_over;
    return status;
}

static enum status run(struct worker *member, struct error *error)
{
    struct start_facts facts;
    struct start_digests digests;
    memcpy(digests.plan, member->plan_sha256, sizeof digests.plan);
    memcpy(digests.matrix, member->plan.matrix.seal.sha256, sizeof digests.matrix);
    start_facts_init(&facts, &member->request.train, member->trainer, &digests);
    const struct rank_run run = {
        .group = member->group,
        .trainer = member->trainer,
        .facts = &facts,
        .authorise = authorise,
        .context = member,
        .least_ns = (int64_t)member->plan.patience_s * 1000000000,
    };
    return rank_run(&run, error);
}

static void worker_fini(struct worker *member)
{
    trainer_destroy(member->trainer);
    matrix_close(&member->matrix);
    rescaling_fini(&member->rescaling);
    job_request_fini(&member->request);
    dataset_spec_fini(&member->dataset);
    rank_plan_fini(&member->plan);
}

enum status worker_run(const struct group *group, struct error *error)
{
    struct worker member = {.group = group};
    enum status status = agree(&member, prepare(&member, error), error);
    if (status == ST_OK)
        status = run(&member, error);
    if (status != ST_OK && group->rank == 0) {
        struct rank_report report = {.failure = status};
        snprintf(report.detail, sizeof report.detail, "%s", error->text);
        protocol_report(&report);
    }
    worker_fini(&member);
    return status;
}
