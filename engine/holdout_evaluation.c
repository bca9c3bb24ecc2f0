#include "engine/holdout_evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/dp/unit_rows.h"
#include "engine/noise/noise.h"
#include "engine/quality/quality_count.h"
#include "engine/rounding/small_floats.h"

struct measuring {
    const struct holdout_evaluation_setup *setup;
    size_t units, portions; /* units of a portion, and number of portions */
    size_t unit_rows;       /* of a unit; 1 for records */
    size_t rows;            /* of a portion */
    struct noise_key noise_key, rows_key;
    size_t counts, outputs;
    int64_t *sums;    /* (members, counts) */
    double *outcomes; /* (members, rows, outputs) */
    uint8_t *taken;   /* (members, units) number of counted rows of each */
};

/* A member's buffers, and the rows of the current unit. */
struct placed {
    struct workspace *workspace;
    double *outcomes; /* (rows, outputs) */
    uint8_t *taken;   /* (units) */
    struct stream *stream;
    uint32_t rows[UNIT_ROWS_MAX];
};

static bool cancelled(const struct measuring *measuring)
{
    const atomic_bool *cancel = measuring->setup->cancel;
    return cancel != NULL && atomic_load(cancel);
}

/* Counts the record in this row of the workspace. */
static void count(const struct measuring *measuring, const struct placed *placed,
                  const struct quality_tally *tally, size_t row)
{
    if (tally->plan->classes > 0)
        quality_count_class(tally, workspace_classes(placed->workspace)[row],
                            placed->outcomes + row * measuring->outputs,
                            workspace_class(placed->workspace, row));
    else
        quality_count_value(tally, (double)workspace_values(placed->workspace)[row],
                            workspace_value(placed->workspace, row));
}

/* Writes the rows that are read of a unit to placed->rows, and returns how many of them
 * count. For a person, they are drawn as a step draws them; a record is read once, even
 * if a step would take several views of it. */
static size_t draw(const struct measuring *measuring, struct placed *placed,
                   uint32_t unit)
{
    const struct unit_draw draw = {measuring->rows_key.bytes, measuring->unit_rows};
    for (size_t k = 0; k < measuring->unit_rows; k++)
        placed->rows[k] = unit;
    if (measuring->setup->matrix->starts == NULL)
        return 1;
    return unit_rows_draw(placed->rows, measuring->setup->matrix, unit, draw,
                          placed->stream);
}

/* Copies a row of the matrix to one of the workspace. */
static void gather(const struct measuring *measuring, const struct placed *placed,
                   uint32_t from, size_t row)
{
    const struct matrix *matrix = measuring->setup->matrix;
    size_t stride = workspace_stride(placed->workspace);
    matrix_gather(matrix, workspace_input(placed->workspace) + row * stride, stride,
                  &from, 1);
    if (matrix->targets != NULL)
        workspace_classes(placed->workspace)[row] = matrix_target(matrix, from);
    else
        workspace_values(placed->workspace)[row] = matrix_value(matrix, from);
}

/* Every unit takes the same number of rows of the workspace, and the same number is
 * counted: rows that it lacks have weight 0. */
static void measure_portion(const struct measuring *measuring, struct placed *placed,
                            int64_t *sums, size_t portion)
{
    const struct holdout_evaluation_setup *setup = measuring->setup;
    size_t all = measuring->unit_rows, first = portion * measuring->units;
    size_t left = (size_t)setup->plan->records - first;
    size_t taken = left < measuring->units ? left : measuring->units;
    for (size_t i = 0; i < taken; i++) {
        size_t drawn = draw(measuring, placed, (uint32_t)(first + i));
        placed->taken[i] = (uint8_t)drawn;
        for (size_t k = 0; k < all; k++)
            gather(measuring, placed, placed->rows[k], i * all + k);
    }
    workspace_forward(placed->workspace, setup->parameters, taken * all);
    workspace_predict(placed->workspace, placed->outcomes);
    for (size_t i = 0; i < taken; i++)
        for (size_t k = 0; k < all; k++) {
            int64_t weight = k < placed->taken[i] ? QUALITY_ONE / placed->taken[i] : 0;
            const struct quality_tally tally = {setup->plan, sums, weight};
            count(measuring, placed, &tally, i * all + k);
        }
}

static void measure_member(void *context, unsigned member)
{
    struct measuring *measuring = context;
    const struct holdout_evaluation_setup *setup = measuring->setup;
    unsigned size = team_size(setup->team);
    struct placed placed = {.workspace = setup->workspaces[member],
                            .outcomes = measuring->outcomes +
                                        member * measuring->rows * measuring->outputs,
                            .taken = measuring->taken + member * measuring->units,
                            .stream = stream_create()};
    size_t end = measuring->portions * (member + 1) / size;
    struct small_floats before = small_floats_drop();
    for (size_t p = measuring->portions * member / size;
         p < end && !cancelled(measuring); p++)
        measure_portion(measuring, &placed,
                        measuring->sums + member * measuring->counts, p);
    small_floats_restore(before);
    stream_destroy(placed.stream);
    explicit_bzero(placed.rows, sizeof placed.rows);
}

/* Adds the members' counts to those of the first, and releases them with noise. */
static void release(const struct measuring *measuring, const struct grid *grid,
                    double *released)
{
    const struct holdout_evaluation_setup *setup = measuring->setup;
    struct noise *noise = noise_create();
    for (size_t m = 1; m < team_size(setup->team); m++)
        for (size_t j = 0; j < measuring->counts; j++)
            measuring->sums[j] += measuring->sums[m * measuring->counts + j];
    const struct noise_release to = {
        .address = {.key = &measuring->noise_key, .query = 0},
        .grid = grid,
        .divisor = QUALITY_ONE};
    noise_release_counts(noise, released, measuring->sums, measuring->counts, &to);
    noise_destroy(noise);
}

static void draw_keys(struct measuring *measuring)
{
    struct noise_source *source = noise_source_open(measuring->setup->seed);
    noise_source_next(source, &measuring->noise_key);
    noise_source_next(source, &measuring->rows_key);
    noise_source_close(source);
}

/* Counts and predictions are raw data (P9). */
static void wipe(void *memory, size_t size)
{
    if (memory != NULL)
        explicit_bzero(memory, size);
    free(memory);
}

static size_t outputs_of(const struct quality_plan *plan)
{
    return plan->classes > 0 ? plan->classes : 1;
}

size_t holdout_evaluation_size(const struct quality_plan *plan, size_t rows)
{
    return quality_counts(plan) * sizeof(int64_t) +
           rows * (outputs_of(plan) * sizeof(double) + sizeof(uint8_t));
}

enum status holdout_evaluation_run(const struct holdout_evaluation_setup *setup,
                                   double *released, struct error *error)
{
    struct grid grid;
    size_t members = team_size(setup->team);
    struct workspace *workspace = setup->workspaces[0];
    struct measuring measuring = {.setup = setup,
                                  .unit_rows = workspace_unit_rows(workspace),
                                  .units = workspace_rows(workspace) /
                                           workspace_unit_rows(workspace),
                                  .counts = quality_counts(setup->plan),
                                  .outputs = outputs_of(setup->plan)};
    measuring.rows = measuring.units * measuring.unit_rows;
    if (matrix_units(setup->matrix) != setup->plan->records ||
        setup->matrix->classes != setup->plan->classes)
        return error_set(error, ST_INVALID, "what is measured was planned for others");
    enum status status = quality_grid(&grid, setup->plan, error);
    if (status != ST_OK)
        return status;
    size_t values = members * measuring.rows * measuring.outputs;
    measuring.portions =
        ((size_t)setup->plan->records + measuring.units - 1) / measuring.units;
    measuring.sums = calloc(members * measuring.counts, sizeof *measuring.sums);
    measuring.outcomes = calloc(values, sizeof *measuring.outcomes);
    measuring.taken = calloc(members * measuring.units, sizeof *measuring.taken);
    if (measuring.sums == NULL || measuring.outcomes == NULL || measuring.taken == NULL)
        status = error_set(error, ST_NO_MEMORY, "no memory to measure");
    if (status == ST_OK)
        draw_keys(&measuring);
    if (status == ST_OK)
        team_run(setup->team,
                 &(struct team_work){.run = measure_member,
                                     .context = &measuring,
                                     .shares = measuring.portions,
                                     .flops = TEAM_FLOPS_MIN}); /* once in a job */
    if (status == ST_OK && cancelled(&measuring))
        status = error_set(error, ST_CANCELLED, "cancelled");
    if (status == ST_OK)
        release(&measuring, &grid, released);
    wipe(measuring.sums, members * measuring.counts * sizeof *measuring.sums);
    wipe(measuring.outcomes, values * sizeof *measuring.outcomes);
    wipe(measuring.taken, members * measuring.units * sizeof *measuring.taken);
    explicit_bzero(&measuring, sizeof measuring);
    return status;
}
