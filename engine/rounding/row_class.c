/* Classes are found by trial. A workspace of BLOCKS blocks is filled with copies of one
 * random record, taken through the job's whole pipeline (forward, loss, backward,
 * measure, and the differences where the job takes them), and rows are compared bit by
 * bit in everything that a weight or a sum reads. All rows begin in one class; each
 * record that is tried splits the classes whose rows disagree on it (refine). So many are
 * tried that rows whose sums are cut into unlike trees agree on all of them with chance
 * 2^-120.
 *
 * What remains must repeat with a period of at most ROW_PERIOD_MAX rows and leave each
 * class a fourth of them, or the answer is that rows are not safe (name_classes). Blocks of
 * the rows that were asked for are tried, and of the next multiple of 48 where those leave
 * fewer classes (find_blocks).
 *
 * Products of dense layers are not the BLAS's and round all rows alike (engine/product), so
 * that they ask for no repetitions, and a network of such layers alone for no trial.
 *
 * The last functions use classes: they choose a record's class by a hash of its index,
 * and give the records of a cell rows of their classes. */
#include "engine/rounding/row_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/difference/difference.h"
#include "engine/nn/rows.h"
#include "engine/nn/workspace.h"

enum {
    BLOCKS = 2,            /* tried side by side */
    REPETITIONS_MIN = 8,   /* records tried, and outputs of each layer in all: */
    OUTPUTS_MIN = 512,     /* unlike trees agree on all with chance 2^-120 */
    ALTERNATIVE_STEP = 48, /* a multiple of 16 and of the AVX2 kernels' 12 rows */
    CLASS_SHARE_MIN = 4    /* a class must hold a fourth of the rows to be of use */
};

/* splitmix64: any fixed sequence of generic numbers will do, these are not secret. */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static float uniform(uint64_t *state) /* in [-1, 1) */
{
    return (float)((double)(mix(state) >> 11) * 0x1p-52 - 1);
}

struct row_classes row_classes_alike(size_t block)
{
    return (struct row_classes){.block = block, .count = 1, .safe = true, .period = 1};
}

static size_t alternative(size_t block)
{
    return (block + ALTERNATIVE_STEP - 1) / ALTERNATIVE_STEP * ALTERNATIVE_STEP;
}

struct row_classes row_classes_most(const struct network *network, size_t block)
{
    if (network_is_dense(network))
        return row_classes_alike(block);
    struct row_classes rows = {.block = alternative(block),
                               .count = CLASS_SHARE_MIN,
                               .safe = true,
                               .period = CLASS_SHARE_MIN};
    for (uint8_t r = 0; r < CLASS_SHARE_MIN; r++)
        rows.of[r] = r;
    return rows;
}

static void fill(struct workspace *workspace, struct network_shape shape,
                 uint32_t classes, uint64_t *state)
{
    size_t rows = workspace_rows(workspace), stride = workspace_stride(workspace);
    float *input = workspace_input(workspace);
    uint32_t target = (uint32_t)(mix(state) % classes);
    float value = uniform(state);
    for (size_t j = 0; j < shape.features; j++)
        input[j] = uniform(state);
    for (size_t r = 0; r < rows; r++) {
        memmove(input + r * stride, input, shape.features * sizeof *input);
        workspace_classes(workspace)[r] = target;
        workspace_values(workspace)[r] = value;
    }
}

/* Whether rows a and b hold the same bits in everything that a weight or a sum reads. */
static bool single_rows_agree(const struct workspace *workspace, size_t a, size_t b)
{
    if (memcmp(&workspace_norms(workspace)[a], &workspace_norms(workspace)[b],
               sizeof(double)) != 0 ||
        memcmp(&workspace_spreads(workspace)[a], &workspace_spreads(workspace)[b],
               sizeof(double)) != 0 ||
        memcmp(&workspace_losses(workspace)[a], &workspace_losses(workspace)[b],
               sizeof(double)) != 0)
        return false;
    for (size_t l = 0; l < workspace_factor_count(workspace); l++) {
        struct factors f = workspace_factors(workspace, l);
        if (memcmp(f.a + a * f.a_stride, f.a + b * f.a_stride,
                   f.inputs * sizeof *f.a) != 0 ||
            memcmp(f.b + a * f.b_stride, f.b + b * f.b_stride,
                   f.outputs * sizeof *f.b) != 0)
            return false;
    }
    return true;
}

/* The same for all rows of the units a and b. */
static bool rows_agree(const struct workspace *workspace, size_t unit_rows, size_t a,
                       size_t b)
{
    size_t k = 0;
    while (k < unit_rows &&
           single_rows_agree(workspace, a * unit_rows + k, b * unit_rows + k))
        k++;
    return k == unit_rows;
}

/* Rows are counted here as the workspace has them, but in class_of and in what is found. */
struct comparison {
    struct workspace *workspace;
    const struct network *network;
    const float *parameters;
    const struct parameter_step *step; /* NULL: the job has one point alone */
    size_t block, rows;                /* rows: of all blocks */
    size_t unit_rows;
    size_t repetitions_min;
    uint32_t *class_of; /* (rows / unit_rows) the first unit that each is like */
    uint32_t *before;   /* (rows / unit_rows) scratch */
    double *squares;    /* (rows) the record's square, as a job takes it */
};

/* Splits classes whose rows disagree on the record in the workspace, looking at the
 * first filled rows. Blocks are alike in shape: later ones follow the first where it is
 * alone. */
static void refine(const struct comparison *c, size_t filled)
{
    size_t units = c->rows / c->unit_rows, block = c->block / c->unit_rows;
    memcpy(c->before, c->class_of, units * sizeof *c->before);
    for (size_t r = 0; r < filled / c->unit_rows; r++) {
        size_t s = 0;
        while (s < r && !(c->class_of[s] == s && c->before[s] == c->before[r] &&
                          rows_agree(c->workspace, c->unit_rows, s, r)))
            s++;
        c->class_of[r] = (uint32_t)s;
    }
    for (size_t r = filled / c->unit_rows; r < units; r++)
        if (c->before[r] == c->before[r % block])
            c->class_of[r] = c->class_of[r % block];
}

/* Fewest outputs of a product of the BLAS that a comparison sees, forward of any layer or
 * backward of those above the first; an activation may hide half of them. */
static size_t outputs_min(const struct workspace *workspace)
{
    size_t layers = workspace_factor_count(workspace), least = SIZE_MAX;
    for (size_t l = 0; l < layers; l++) {
        struct factors f = workspace_factors(workspace, l);
        if (f.are_per_example || f.have_one_row)
            continue;
        size_t forward = l + 1 < layers ? f.outputs / 2 : f.outputs;
        size_t backward = l > 0 ? f.inputs / 2 : forward;
        size_t seen = backward < forward ? backward : forward;
        least = seen < least ? seen : least;
    }
    return least > 0 ? least : 1;
}

static void square_records(const struct comparison *c)
{
    size_t stride = workspace_stride(c->workspace);
    for (size_t r = 0; r < c->rows; r++)
        c->squares[r] =
            floats_square(workspace_input(c->workspace) + r * stride, stride);
}

static void compare_rows(const struct comparison *c)
{
    size_t outputs = outputs_min(c->workspace);
    size_t repetitions = OUTPUTS_MIN / outputs + (OUTPUTS_MIN % outputs != 0);
    uint64_t state = 20240229;
    if (repetitions < c->repetitions_min)
        repetitions = c->repetitions_min;
    for (size_t k = 0; k < repetitions; k++) {
        size_t filled = k < c->repetitions_min ? c->rows : c->block;
        fill(c->workspace, network_shape(c->network), network_predictions(c->network),
             &state);
        square_records(c);
        workspace_forward(c->workspace, c->parameters, filled);
        workspace_loss(c->workspace);
        workspace_backward(c->workspace, c->parameters);
        workspace_measure(c->workspace, c->squares);
        refine(c, filled);
        if (c->step == NULL)
            continue;
        workspace_difference(c->workspace, c->step, filled);
        workspace_measure(c->workspace, NULL);
        refine(c, filled);
    }
}

/* The least period with which the classes of all rows repeat, or 0 if there is none up to
 * ROW_PERIOD_MAX. */
static size_t period_of(const uint32_t *class_of, size_t rows, size_t block)
{
    for (size_t period = 1; period <= ROW_PERIOD_MAX; period++) {
        size_t r = 0;
        if (block % period != 0)
            continue;
        while (r < rows && class_of[r] == class_of[r % period])
            r++;
        if (r == rows)
            return period;
    }
    return 0;
}

/* Numbers the classes from 0 in the order of their first rows.
 *   block  in the unit of rows */
static void name_classes(struct row_classes *out, const uint32_t *class_of, size_t rows,
                         size_t block)
{
    size_t shares[ROW_PERIOD_MAX] = {0};
    out->count = 0;
    for (size_t r = 0; r < rows; r++)
        out->count += class_of[r] == r;
    out->period = period_of(class_of, rows, block);
    out->safe = out->period != 0 && out->count <= CLASS_SHARE_MIN;
    for (size_t r = 0, named = 0; out->safe && r < out->period; r++) {
        out->of[r] = class_of[r] == r ? (uint8_t)named++ : out->of[class_of[r]];
        shares[out->of[r]]++;
    }
    for (uint32_t c = 0; out->safe && c < out->count; c++)
        out->safe = shares[c] * CLASS_SHARE_MIN >= out->period;
    if (!out->safe)
        out->period = 1;
}

/* The parameters at which rows are compared: one point, or two that are far apart, so
 * that activations switch. */
struct points {
    float *parameters, *previous; /* previous and step are NULL for one point */
    struct parameter_step *step;
};

static void points_destroy(struct points *points)
{
    parameter_step_destroy(points->step);
    free(points->parameters);
    free(points->previous);
}

static enum status points_create(struct points *points, const struct network *network,
                                 bool two, struct error *error)
{
    size_t count = network_floats(network);
    *points = (struct points){.parameters = calloc(count, sizeof(float)),
                              .previous = two ? calloc(count, sizeof(float)) : NULL};
    if (points->parameters == NULL || (two && points->previous == NULL))
        return error_set(error, ST_NO_MEMORY, "no memory to compare rows");
    network_init(network, points->parameters, 1);
    if (!two)
        return ST_OK;
    network_init(network, points->previous, 2);
    enum status status = parameter_step_create(&points->step, count, error);
    if (status == ST_OK)
        parameter_step_set(points->step, points->parameters, points->previous);
    return status;
}

struct thoroughness {
    size_t blocks, repetitions_min;
};
static const struct thoroughness thorough = {BLOCKS, REPETITIONS_MIN}, quick = {1, 1};

struct search {
    const struct network *network;
    struct row_demand demand;
    struct thoroughness thoroughness;
};

static enum status workspace_for(struct workspace **out, const struct search *search,
                                 size_t rows, struct error *error)
{
    return search->demand.two_points
               ? workspace_create_two_points(out, search->network, rows, error)
               : workspace_create(out, search->network, rows, error);
}

static enum status find_at(struct row_classes *out, const struct search *search,
                           size_t block, struct error *error)
{
    size_t rows = search->thoroughness.blocks * block;
    size_t unit_rows = network_unit_rows(search->network);
    struct points points;
    enum status status =
        points_create(&points, search->network, search->demand.two_points, error);
    uint32_t *scratch = calloc(2 * (rows / unit_rows), sizeof *scratch);
    double *squares = calloc(rows, sizeof *squares);
    struct comparison c = {.network = search->network,
                           .parameters = points.parameters,
                           .step = points.step,
                           .block = block,
                           .rows = rows,
                           .unit_rows = unit_rows,
                           .repetitions_min = search->thoroughness.repetitions_min,
                           .class_of = scratch,
                           .before = scratch + rows / unit_rows,
                           .squares = squares};
    if (status == ST_OK && (scratch == NULL || squares == NULL))
        status = error_set(error, ST_NO_MEMORY, "no memory to compare rows");
    if (status == ST_OK)
        status = workspace_for(&c.workspace, search, rows, error);
    if (status == ST_OK) {
        workspace_set_block(c.workspace, block);
        compare_rows(&c);
        *out = (struct row_classes){.block = block};
        name_classes(out, c.class_of, rows / unit_rows, block / unit_rows);
    }
    workspace_destroy(c.workspace);
    free(squares);
    free(scratch);
    points_destroy(&points);
    return status;
}

static enum status find_blocks(struct row_classes *out, const struct search *search,
                               struct error *error)
{
    struct row_classes first, second;
    size_t block = search->demand.block;
    enum status status = find_at(&first, search, block, error);
    if (status != ST_OK)
        return status;
    *out = first;
    if (first.count == 1 || alternative(block) == block)
        return ST_OK;
    status = find_at(&second, search, alternative(block), error);
    if (status == ST_OK && second.safe && (!first.safe || second.count < first.count))
        *out = second;
    return status;
}

static enum status find(struct row_classes *out, const struct search *search,
                        struct error *error)
{
    if (!network_is_dense(search->network))
        return find_blocks(out, search, error);
    *out = row_classes_alike(search->demand.block);
    return ST_OK;
}

enum status row_classes_find(struct row_classes *out, const struct network *network,
                             struct row_demand demand, struct error *error)
{
    return find(out, &(struct search){network, demand, thorough}, error);
}

enum status row_classes_try(struct row_classes *out, const struct network *network,
                            struct row_demand demand, struct error *error)
{
    return find(out, &(struct search){network, demand, quick}, error);
}

static size_t share_of(const struct row_classes *rows, uint32_t class)
{
    size_t share = 0;
    for (size_t r = 0; r < rows->period; r++)
        share += rows->of[r] == class;
    return share;
}

size_t row_classes_reach(const struct row_classes *rows, size_t records)
{
    size_t least = rows->period;
    for (uint32_t c = 0; rows->period > 1 && c < rows->count; c++) {
        size_t share = share_of(rows, c);
        least = share < least ? share : least;
    }
    return (records + least - 1) / least * rows->period;
}

uint32_t row_classes_of_record(const struct row_classes *rows, uint64_t index)
{
    return rows->of[mix(&index) % rows->period];
}

struct cell_rows row_classes_place(const struct row_classes *rows, size_t first,
                                   const uint32_t *indices, size_t count,
                                   uint32_t *places)
{
    size_t next[ROW_PERIOD_MAX]; /* for each class, where its next record is put */
    struct cell_rows cell = {.first = (first + rows->period - 1) / rows->period *
                                      rows->period};
    cell.end = cell.first;
    for (uint32_t c = 0; c < ROW_PERIOD_MAX; c++)
        next[c] = cell.first;
    for (size_t k = 0; k < count; k++) {
        uint32_t class = row_classes_of_record(rows, indices[k]);
        size_t row = next[class];
        while (rows->of[row % rows->period] != class)
            row++;
        next[class] = row + 1;
        places[k] = (uint32_t)row;
        cell.end = cell.end > row + 1 ? cell.end : row + 1;
    }
    return cell;
}
