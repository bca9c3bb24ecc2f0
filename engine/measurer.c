#include "engine/measurer.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/noise/noise.h"
#include "engine/quality/quality_count.h"

struct measuring {
    const struct measurer_setup *setup;
    size_t rows, portions; /* records at once, and how often */
    size_t counts, outputs;
    int64_t *sums;    /* (members, counts) */
    double *outcomes; /* (members, rows, outputs) */
    uint32_t *places; /* (members, rows) */
};

static bool cancelled(const struct measuring *measuring)
{
    const atomic_bool *cancel = measuring->setup->cancel;
    return cancel != NULL && atomic_load(cancel);
}

/* Counts a record that stands in that row of the workspace. */
static void count(const struct measuring *measuring, struct workspace *workspace,
                  const double *outcomes, int64_t *sums, size_t row)
{
    const struct quality_plan *plan = measuring->setup->plan;
    if (plan->classes > 0)
        quality_count_class(plan, sums, workspace_classes(workspace)[row],
                            outcomes + row * measuring->outputs,
                            workspace_class(workspace, row));
    else
        quality_count_value(plan, sums, (double)workspace_values(workspace)[row],
                            workspace_value(workspace, row));
}

static void measure_portion(struct measuring *measuring, unsigned member,
                            size_t portion)
{
    const struct measurer_setup *setup = measuring->setup;
    const struct matrix *matrix = setup->matrix;
    struct workspace *workspace = stepper_workspace(setup->stepper, member);
    double *outcomes =
        measuring->outcomes + member * measuring->rows * measuring->outputs;
    uint32_t *places = measuring->places + member * measuring->rows;
    size_t first = portion * measuring->rows, left = (size_t)matrix->records - first;
    size_t taken = left < measuring->rows ? left : measuring->rows;
    for (size_t i = 0; i < taken; i++) {
        places[i] = (uint32_t)(first + i);
        if (matrix->targets != NULL)
            workspace_classes(workspace)[i] = matrix_target(matrix, places[i]);
        else
            workspace_values(workspace)[i] = matrix_value(matrix, places[i]);
    }
    matrix_gather(matrix, workspace_input(workspace), workspace_stride(workspace),
                  places, taken);
    workspace_forward(workspace, setup->parameters, taken);
    workspace_predict(workspace, outcomes);
    for (size_t i = 0; i < taken; i++)
        count(measuring, workspace, outcomes,
              measuring->sums + member * measuring->counts, i);
}

static void measure_member(void *context, unsigned member)
{
    struct measuring *measuring = context;
    unsigned size = team_size(measuring->setup->team);
    size_t end = measuring->portions * (member + 1) / size;
    for (size_t p = measuring->portions * member / size;
         p < end && !cancelled(measuring); p++)
        measure_portion(measuring, member, p);
}

/* Adds the members' counts to those of the first, and lets them out with noise. */
static void release(const struct measuring *measuring, const struct grid *grid,
                    double *released)
{
    const struct measurer_setup *setup = measuring->setup;
    struct noise_source *source = noise_source_open(setup->seed);
    struct noise *noise = noise_create();
    struct noise_key key;
    noise_source_next(source, &key);
    for (size_t m = 1; m < team_size(setup->team); m++)
        for (size_t j = 0; j < measuring->counts; j++)
            measuring->sums[j] += measuring->sums[m * measuring->counts + j];
    const struct noise_release to = {
        .address = {.key = &key, .query = 0}, .grid = grid, .divisor = QUALITY_ONE};
    noise_release_counts(noise, released, measuring->sums, measuring->counts, &to);
    explicit_bzero(&key, sizeof key);
    noise_destroy(noise);
    noise_source_close(source);
}

/* What was counted and predicted is raw data (P9). */
static void wipe(void *memory, size_t size)
{
    if (memory != NULL)
        explicit_bzero(memory, size);
    free(memory);
}

enum status measurer_run(const struct measurer_setup *setup, double *released,
                         struct error *error)
{
    struct grid grid;
    size_t members = team_size(setup->team);
    struct measuring measuring = {
        .setup = setup,
        .rows = workspace_rows(stepper_workspace(setup->stepper, 0)),
        .counts = quality_counts(setup->plan),
        .outputs = setup->plan->classes > 0 ? setup->plan->classes : 1};
    if (setup->matrix->records != setup->plan->records ||
        setup->matrix->classes != setup->plan->classes)
        return error_set(error, ST_INVALID, "what is measured was planned for others");
    enum status status = quality_grid(&grid, setup->plan, error);
    if (status != ST_OK)
        return status;
    size_t values = members * measuring.rows * measuring.outputs;
    measuring.portions =
        ((size_t)setup->matrix->records + measuring.rows - 1) / measuring.rows;
    measuring.sums = calloc(members * measuring.counts, sizeof *measuring.sums);
    measuring.outcomes = calloc(values, sizeof *measuring.outcomes);
    measuring.places = calloc(members * measuring.rows, sizeof *measuring.places);
    if (measuring.sums == NULL || measuring.outcomes == NULL ||
        measuring.places == NULL)
        status = error_set(error, ST_NO_MEMORY, "no memory to measure");
    if (status == ST_OK)
        team_run(setup->team, measure_member, &measuring);
    if (status == ST_OK && cancelled(&measuring))
        status = error_set(error, ST_CANCELLED, "cancelled");
    if (status == ST_OK)
        release(&measuring, &grid, released);
    wipe(measuring.sums, members * measuring.counts * sizeof *measuring.sums);
    wipe(measuring.outcomes, values * sizeof *measuring.outcomes);
    free(measuring.places);
    return status;
}
