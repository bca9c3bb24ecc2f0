/* Boosted histograms: an additive model of step functions, trained by cyclic boosting
 * (papers/boosted_histograms.md; Nori et al. 2021).
 *
 * The first steps release the number of units in each cell of one shape after the other,
 * once. From these counts cells are joined to bins. Each further step is a round on one
 * shape: it releases the sum of clipped residuals in each bin, and moves the bins by
 *
 *   -rate r c / (c^2 + (shrinkage s h)^2),  c = h max(count, 2 s_c sqrt(cells))
 *
 * r is the noisy sum of the loss's gradients, s the deviation of its noise, h a bound of
 * the loss's second derivative, and s_c the deviation of the noise on the count of one of
 * the bin's cells. This is the sum over the count, made smaller where the noise is larger
 * than the count. A count that is too small would make a step too long, so it is at least
 * two deviations of its own noise. A round on all records together begins each cycle.
 *
 * Every step reads all records and releases one vector at the job's noise multiplier: the
 * mechanism is a Gaussian, and all else is post-processing. */
#include "engine/dp/algorithm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/dp/algorithms/boosted_bins.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/full_batch.h"
#include "engine/dp/stepper.h"
#include "engine/nn/layers/histograms.h"

/* A job that gives neither epochs nor steps, and no learning rate. */
enum { ROUNDS_USUAL = 500 };
static const double rate_usual = 0.3;

static const char counts_name[] = "counts";

enum bin_kind { BINS_QUANTILES, BINS_EQUAL_WIDTH };
static const char *const bin_kinds[] = {"quantiles", "equal_width", NULL};

struct state {
    const struct histograms *histograms;
    enum bin_kind kind;
    uint32_t bins_most, pair_bins_most;
    double records, clip_norm, shrinkage, curvature;
    struct noise_plan noise; /* of residuals; and of counts, by name */
    uint64_t step;
    uint32_t *bins;  /* (rows of the table) the bin of each cell of a shape */
    double *cells;   /* (rows) the released count of each cell of a column */
    double *counts;  /* (rows) the count of each bin of a shape, at least its floor */
    float *released; /* (released_count) the numbers of a round */
    uint32_t bin_counts[HISTOGRAM_SHAPES_MAX];
};

static const struct algorithm_parameter parameters[] = {
    {.name = "bins",
     .kind = PARAMETER_COUNT,
     .low = 2,
     .high = HISTOGRAM_CELLS,
     .fallback = 32,
     .about = "About how many bins a column of numbers has; words have one each."},
    {.name = "pair_bins",
     .kind = PARAMETER_COUNT,
     .low = 2,
     .high = HISTOGRAM_SIDE_CELLS,
     .fallback = 24,
     .about = "About how many bins a column of numbers has as one side of a pair."},
    {.name = "bin_kind",
     .kind = PARAMETER_CHOICE,
     .choices = bin_kinds,
     .fallback = BINS_QUANTILES,
     .about = "Whether bins hold about the same number of records, by the released "
              "counts, or have the same width in the declared range."},
    {.name = "residual_clip",
     .kind = PARAMETER_REAL,
     .low = 1e-6,
     .high = 1e6,
     .optional = true,
     .about =
         "The largest residual of a record; noise grows with it. The default is 1 "
         "for logistic, 1.4143 for softmax_cross_entropy, which clip none, and 0.3 "
         "for a regression, whose targets are in [-1, 1]."},
    {.name = "shrinkage",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1e6,
     .fallback = 6,
     .about = "How much bins are shrunk whose noise is larger than their count: 0 is "
              "not at all."},
};

static double residual_clip(const struct algorithm_inputs *inputs)
{
    double named = algorithm_value(inputs->spec, "residual_clip");
    if (!isnan(named))
        return named;
    switch (inputs->model->loss) {
    case LOSS_LOGISTIC: return 1;
    case LOSS_SOFTMAX_CROSS_ENTROPY: return 1.4143;
    case LOSS_SQUARED:
    case LOSS_HUBER: return 0.3;
    }
    return 1;
}

static enum status check_optimizer(const struct algorithm_inputs *inputs,
                                   struct error *error)
{
    const struct optimizer_spec *optimizer = inputs->optimizer;
    const char *name = inputs->spec->algorithm->name;
    if (optimizer->kind != OPTIMIZER_SGD)
        return error_set_at(error, ST_INVALID, "/optimizer/name",
                            "%s moves bins by their own rule: give sgd, or leave the "
                            "optimizer out",
                            name);
    if (optimizer->momentum != 0)
        return error_set_at(error, ST_INVALID, "/optimizer/momentum",
                            "%s moves each bin in its own round only: give 0", name);
    if (optimizer->weight_decay != 0)
        return error_set_at(error, ST_INVALID, "/optimizer/weight_decay",
                            "%s shrinks bins by their noise (shrinkage): give 0", name);
    return ST_OK;
}

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    enum status status = full_batch_check(inputs, error);
    if (status == ST_OK)
        status = check_optimizer(inputs, error);
    if (status != ST_OK)
        return status;
    return clipped_sum_charge(m, MECHANISM_GAUSSIAN, inputs, error);
}

static double learning_rate(const struct algorithm_inputs *inputs,
                            const struct algorithm_model *model, double usual)
{
    (void)inputs;
    (void)model;
    (void)usual;
    return rate_usual;
}

/* --- start --- */

/* The number of shapes whose cells are counted: not the one of all records. */
static size_t counted(const struct histograms *histograms)
{
    return histograms->shapes - 1;
}

static enum status check(const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    if (model->histograms == NULL)
        return error_set_at(error, ST_INVALID, "/model",
                            "%s makes its model from the columns of the dataset: give "
                            "the preset histograms",
                            inputs->spec->algorithm->name);
    size_t least = counted(model->histograms) + model->histograms->shapes;
    if (inputs->steps < least)
        return error_set_at(
            error, ST_INVALID, "/steps",
            "%s counts %zu columns and pairs, a step for each, and then "
            "takes a round for each: give at least %zu",
            inputs->spec->algorithm->name, counted(model->histograms), least);
    return ST_OK;
}

static enum status plan_noise(struct state *state,
                              const struct algorithm_inputs *inputs,
                              const struct algorithm_model *model, struct error *error)
{
    struct noise_grid counts = {.name = counts_name};
    struct grid_spec residuals = clipped_sum_spec(inputs, model, state->clip_norm);
    struct grid_spec ones = clipped_sum_spec(inputs, model, 1);
    enum status status = clipped_sum_plan(&state->noise, &residuals, error);
    if (status == ST_OK)
        status = grid_plan(&counts.grid, &ones, error);
    if (status == ST_OK)
        noise_plan_set(&state->noise, &counts);
    return status;
}

/* The most numbers of a round: bins of one shape, at most its cells. */
static size_t released_count(const struct histograms *histograms)
{
    return histograms_cells_max(histograms) * histograms->outputs;
}

static enum status allocate(struct state *state, struct error *error)
{
    size_t rows = state->histograms->first[state->histograms->shapes];
    state->bins = calloc(rows, sizeof *state->bins);
    state->cells = calloc(rows, sizeof *state->cells);
    state->counts = calloc(rows, sizeof *state->counts);
    state->released =
        calloc(released_count(state->histograms), sizeof *state->released);
    if (state->bins != NULL && state->cells != NULL && state->counts != NULL &&
        state->released != NULL)
        return ST_OK;
    return error_set(error, ST_NO_MEMORY, "no memory for %zu bins", rows);
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    const struct algorithm_spec *spec = inputs->spec;
    bool is_regression =
        inputs->model->loss == LOSS_SQUARED || inputs->model->loss == LOSS_HUBER;
    enum status status = full_batch_check(inputs, error);
    if (status == ST_OK)
        status = check(inputs, model, error);
    if (status != ST_OK)
        return status;
    state->histograms = model->histograms;
    state->kind = (enum bin_kind)algorithm_value(spec, "bin_kind");
    state->bins_most = (uint32_t)algorithm_value(spec, "bins");
    state->pair_bins_most = (uint32_t)algorithm_value(spec, "pair_bins");
    state->shrinkage = algorithm_value(spec, "shrinkage");
    state->clip_norm = residual_clip(inputs);
    state->curvature = is_regression ? 1 : 0.25;
    state->records = (double)inputs->records;
    status = plan_noise(state, inputs, model, error);
    return status == ST_OK ? allocate(state, error) : status;
}

static size_t allocated(const void *context)
{
    const struct state *state = context;
    const struct histograms *histograms = state->histograms;
    size_t rows = histograms->first[histograms->shapes];
    return rows * (sizeof *state->bins + sizeof *state->cells + sizeof *state->counts) +
           released_count(histograms) * sizeof *state->released;
}

static void finish(void *context)
{
    struct state *state = context;
    free(state->bins);
    free(state->cells);
    free(state->counts);
    free(state->released);
}

/* --- steps --- */

/* Releases the sum over the bins of a shape: the result is stepper_gradient, whose first
 * bin_sum_size numbers are the sum, and whose others are only noise. */
static enum status release(const struct state *state, struct stepper *stepper,
                           size_t shape, bool counts, struct error *error)
{
    const struct grid *grid = counts ? &state->noise.named[0].grid : &state->noise.grid;
    const struct bin_sum bins = {.histograms = state->histograms,
                                 .shape = shape,
                                 .bins = state->bins + state->histograms->first[shape],
                                 .bin_count = state->bin_counts[shape],
                                 .counts = counts,
                                 .clip_norm = counts ? 1 : state->clip_norm,
                                 .scale = grid->scale};
    const struct batch_sum sum = {.grid = grid, .bins = &bins};
    stepper_sample(stepper, 1);
    enum status status = stepper_sum(stepper, &sum, error);
    if (status == ST_OK)
        stepper_release(stepper, grid, 1);
    return status;
}

/* bins (cells) = bins of a column's cells, or of the cells of a side of a pair. */
static uint32_t choose_bins(const struct state *state, uint32_t *bins,
                            const double *counts, uint32_t cells, uint32_t most)
{
    if (state->kind == BINS_EQUAL_WIDTH)
        return boosted_bins_equal(bins, cells, most);
    return boosted_bins_quantiles(bins, counts, cells, state->records / most);
}

/* Two deviations of the noise on the sum of so many released counts. */
static double floor_of(const struct state *state, double cells)
{
    return 2 * GRID_NOISE_STDDEV / state->noise.named[0].grid.scale * sqrt(cells);
}

/* counts (bins) = the sums of the cells' counts, at least their floors. */
static void add_cells(const struct state *state, double *counts, const double *cells,
                      const uint32_t *bins, uint32_t cell_count)
{
    for (uint32_t k = 0, size = 0; k < cell_count; k++) {
        counts[bins[k]] += cells[k];
        size++;
        if (k + 1 < cell_count && bins[k + 1] == bins[k])
            continue;
        counts[bins[k]] = fmax(counts[bins[k]], floor_of(state, size));
        size = 0;
    }
}

static void keep_column(struct state *state, size_t column, const float *released)
{
    const struct histograms *histograms = state->histograms;
    uint32_t cells = histograms_cells(histograms, column);
    uint32_t *bins = state->bins + histograms->first[column];
    double *own = state->cells + histograms->first[column];
    for (uint32_t k = 0; k < cells; k++)
        own[k] = (double)released[k];
    if (histograms_is_number(histograms, column))
        state->bin_counts[column] =
            choose_bins(state, bins, own, cells, state->bins_most);
    add_cells(state, state->counts + histograms->first[column], own, bins, cells);
}

/* bins (side cells) = the bins of a column as a side of a pair. */
static uint32_t side_bins(const struct state *state, size_t column, uint32_t *bins)
{
    const struct histograms *histograms = state->histograms;
    const double *own = state->cells + histograms->first[column];
    double counts[HISTOGRAM_SIDE_CELLS] = {0};
    if (!histograms_is_number(histograms, column))
        return boosted_bins_cells(bins, histograms_cells(histograms, column));
    for (uint32_t k = 0; k < HISTOGRAM_CELLS; k++)
        counts[histograms_side_cell(histograms, column, k)] += own[k];
    return choose_bins(state, bins, counts, HISTOGRAM_SIDE_CELLS,
                       state->pair_bins_most);
}

/* The bins of a pair are the rectangles of the bins of its sides. */
static void join_pair(struct state *state, size_t shape)
{
    const struct histograms *histograms = state->histograms;
    const uint32_t *sides = histograms->sides[shape - histograms->columns];
    uint32_t rows = histograms_side_cells(histograms, sides[0]);
    uint32_t columns = histograms_side_cells(histograms, sides[1]);
    uint32_t *bins = state->bins + histograms->first[shape];
    uint32_t *left = calloc((size_t)rows + columns, sizeof *left);
    CHECK(left != NULL);
    uint32_t *right = left + rows;
    uint32_t left_count = side_bins(state, sides[0], left);
    uint32_t right_count = side_bins(state, sides[1], right);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            bins[(size_t)i * columns + j] = left[i] * right_count + right[j];
    free(left);
    state->bin_counts[shape] = left_count * right_count;
}

static enum status count(struct state *state, struct stepper *stepper, size_t shape,
                         struct error *error)
{
    const struct histograms *histograms = state->histograms;
    bool is_column = shape < histograms->columns;
    uint32_t *bins = state->bins + histograms->first[shape];
    if (is_column)
        state->bin_counts[shape] =
            boosted_bins_cells(bins, histograms_cells(histograms, shape));
    else
        join_pair(state, shape);
    enum status status = release(state, stepper, shape, true, error);
    if (status != ST_OK)
        return status;
    const float *released = stepper_gradient(stepper);
    if (is_column)
        keep_column(state, shape, released);
    for (uint32_t k = 0; !is_column && k < state->bin_counts[shape]; k++)
        state->counts[histograms->first[shape] + k] =
            fmax((double)released[k], floor_of(state, 1));
    return ST_OK;
}

/* What a noisy sum of residuals is multiplied by. */
static double share_of(const struct state *state, double count)
{
    double noise = GRID_NOISE_STDDEV / state->noise.grid.scale;
    double c = state->curvature * count;
    double floor = state->shrinkage * noise * state->curvature;
    return c / (c * c + floor * floor);
}

/* Turns the sums over bins into a gradient over cells. */
static void spread(struct state *state, size_t shape, float *gradient)
{
    const struct histograms *histograms = state->histograms;
    size_t outputs = histograms->outputs, first = histograms->first[shape];
    size_t size = state->bin_counts[shape] * outputs;
    memcpy(state->released, gradient, size * sizeof *gradient);
    memset(gradient, 0,
           histograms->first[histograms->shapes] * outputs * sizeof *gradient);
    for (size_t row = first; row < histograms->first[shape + 1]; row++) {
        size_t bin = state->bins[row];
        double share = share_of(state, state->counts[first + bin]);
        for (size_t o = 0; o < outputs; o++)
            gradient[row * outputs + o] =
                (float)(share * (double)state->released[bin * outputs + o]);
    }
}

static enum status boost(struct state *state, struct stepper *stepper, size_t shape,
                         struct error *error)
{
    if (shape == counted(state->histograms)) { /* n is public */
        state->bin_counts[shape] = 1;
        state->counts[state->histograms->first[shape]] = state->records;
    }
    enum status status = release(state, stepper, shape, false, error);
    if (status != ST_OK)
        return status;
    spread(state, shape, stepper_gradient(stepper));
    return stepper_update(stepper, error);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    const struct histograms *histograms = state->histograms;
    uint64_t now = state->step++, counts = counted(histograms);
    if (now < counts)
        return count(state, stepper, (size_t)now, error);
    size_t place = (size_t)((now - counts) % histograms->shapes);
    return boost(state, stepper, place == 0 ? counted(histograms) : place - 1, error);
}

const struct algorithm boosted_histograms = {
    .name = "boosted_histograms",
    .title = "Boosted histograms: an explainable boosting machine of tables",
    .paper = "Nori, Caruana, Bu, Shen, Kulkarni, Accuracy, Interpretability, and "
             "Differential Privacy via Explainable Boosting, ICML 2021",
    .charge = "Gaussian: one release of all records a step, of counts or of residuals",
    .when_to_use =
        "Tables of columns: a step function for each column, and for each "
        "declared pair, which people can read. The model is the preset "
        "histograms, with pairs of columns if you name them; batch_size is n.",
    .is_private = true,
    .full_batch = true,
    .uses_histograms = true,
    .one_rank_only = "a round is too short to be divided",
    .epochs = ROUNDS_USUAL,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .learning_rate = learning_rate,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .allocated = allocated,
    .finish = finish,
    .step = step,
};
