#include "engine/nn/layers/table.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/sequence.h"
#include "engine/nn/weight_work.h"

enum status table_check(const struct builder *builder, const struct layer_spec *spec,
                        size_t width)
{
    return builder_check_parameters(builder, (uint64_t)spec->rows * width);
}

void table_build(struct builder *builder, struct node *node,
                 const struct layer_spec *spec, struct table table)
{
    struct table *plan = node->plan;
    const struct tensor weight = {
        .rank = 2, .shape = {spec->rows, table.width}, .taps = 1};

    *plan = table;
    plan->rows = (struct row_layer){.inputs = table.width, .outputs = spec->rows};
    struct weight_layer *layer =
        builder_weights(builder, node, &plan->rows, table.width);
    layer->positions = 0; /* no row of the table is multiplied */
    layer->per_example = PER_EXAMPLE_ON_BACKWARD;
    layer->per_example_floats = rows_stride(table.slots) + table.slots * table.width;
    builder_parameters(builder, &plan->rows, weight, false);
}

enum status table_build_sum(struct builder *builder, const struct node_kind *kind,
                            const struct layer_spec *spec, size_t slots, size_t first)
{
    size_t width = builder->view.image.channels;
    enum status status = sequence_check(builder);

    if (status == ST_OK)
        status = table_check(builder, spec, width);
    if (status != ST_OK)
        return status;
    table_build(builder, builder_node_over(builder, kind), spec,
                (struct table){.width = width, .slots = slots, .first = first});
    return ST_OK;
}

struct rows table_output(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows y = activations_of(work, node->to);
    if (node->from != node->to)
        rows_copy(y, activations_of(work, node->from));
    return y;
}

/* Where a row of the table is among the slots: 1 + the slot, or 0. */
size_t table_scratch(const struct node *node)
{
    return ((const struct table *)node->plan)->rows.outputs;
}

static struct table_gradient gradient_in(const struct table *table, float *stored)
{
    return (struct table_gradient){.numbers = stored,
                                   .rows = stored + rows_stride(table->slots),
                                   .slots = table->slots,
                                   .width = table->width};
}

static struct table_gradient gradient_at(const struct weight_work *work, size_t row)
{
    struct rows stored = per_example_of(work->workspace, work->layer);
    return gradient_in(weights_of(work)->plan, stored.data + row * stored.stride);
}

struct table_gradient table_gradient_begin(const struct node_work *work, size_t i)
{
    struct rows stored = per_example_at(work);
    struct table_gradient gradient =
        gradient_in(node_of(work)->plan, stored.data + i * stored.stride);

    for (size_t slot = 0; slot < gradient.slots; slot++)
        gradient.numbers[slot] = -1.0F;
    memset(gradient.rows, 0, gradient.slots * gradient.width * sizeof(float));
    return gradient;
}

void table_gradient_add(const struct table_gradient *gradient, size_t slot,
                        size_t number, const float *b)
{
    size_t width = gradient->width;
    gradient->numbers[slot] = (float)number;
    rows_add((struct rows){gradient->rows + slot * width, width, 1}, b, width);
}

void table_backward_sum(const struct node_work *work,
                        void (*form)(const struct table *table,
                                     const struct table_gradient *gradient,
                                     const float *b, const float *ids,
                                     size_t positions))
{
    const struct node *node = node_of(work);
    struct rows b = gradients_of(work, node->to), ids = sequence_ids(work);

    for (size_t i = 0; i < b.count && !layer_of(work)->frozen; i++) {
        struct table_gradient gradient = table_gradient_begin(work, i);
        form(node->plan, &gradient, b.data + i * b.stride, ids.data + i * ids.stride,
             width_of(work, 0));
    }
    if (!layer_of(work)->frozen)
        reset_clip_factors(work);
    if (node->from != node->to && has_gradient(work, node->from))
        rows_copy(gradients_of(work, node->from), b);
}

/* Moves the gradient of a slot to the slot of the same number of an earlier record. */
static void move(const struct table_gradient *to, size_t to_slot,
                 const struct table_gradient *from, size_t slot)
{
    size_t width = from->width;
    table_gradient_add(to, to_slot, (size_t)from->numbers[slot],
                       from->rows + slot * width);
    memset(from->rows + slot * width, 0, width * sizeof *from->rows);
    from->numbers[slot] = -1.0F;
}

/* Leaves each number in one slot of the unit, the first that has it.
 *   place  (rows of the table) zeros, and zeros again afterwards */
static void gather_unit(const struct weight_work *work, struct row_range unit,
                        float *place)
{
    for (size_t k = 0; k < unit.count; k++) {
        struct table_gradient own = gradient_at(work, unit.first + k);
        for (size_t slot = 0; slot < own.slots; slot++) {
            if (own.numbers[slot] < 0.0F)
                continue;
            float *known = &place[(size_t)own.numbers[slot]];
            if (*known == 0.0F) {
                *known = (float)(k * own.slots + slot + 1);
                continue;
            }
            size_t at = (size_t)*known - 1;
            struct table_gradient to = gradient_at(work, unit.first + at / own.slots);
            move(&to, at % own.slots, &own, slot);
        }
    }
    for (size_t k = 0; k < unit.count; k++) {
        struct table_gradient own = gradient_at(work, unit.first + k);
        for (size_t slot = 0; slot < own.slots; slot++)
            if (own.numbers[slot] >= 0.0F)
                place[(size_t)own.numbers[slot]] = 0.0F;
    }
}

static double square_of(const struct weight_work *work, struct row_range unit)
{
    double square = 0.0;
    for (size_t k = 0; k < unit.count; k++) {
        struct table_gradient own = gradient_at(work, unit.first + k);
        square += floats_square(own.rows, own.slots * own.width);
    }
    return square <= NORM_SQUARE_MAX ? square : (double)INFINITY;
}

static void measure(const struct weight_work *work, struct record_squares to,
                    const double *input_squares)
{
    size_t rows = active_rows(work->workspace);
    size_t unit = work->workspace->network->unit_rows;
    float *place = work->workspace->node_scratch;
    (void)input_squares;

    memset(place, 0, weights_of(work)->rows->outputs * sizeof *place);
    for (size_t i = 0; i < rows; i += unit) {
        struct row_range range = {i, unit};
        if (unit > 1)
            gather_unit(work, range, place);
        to.squares[i] = to.spreads[i] = square_of(work, range);
    }
}

static bool has(const struct weight_tile *tile, float number)
{
    return number >= (float)tile->row && number < (float)(tile->row + tile->rows);
}

static void sum(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block)
{
    const float *clip_factors = work->workspace->clip_factors[work->layer];

    memset(block, 0, tile->place.count * sizeof *block);
    for (size_t i = range.first; i < range.first + range.count; i++) {
        struct table_gradient own = gradient_at(work, i);
        for (size_t slot = 0; slot < own.slots; slot++) {
            if (!has(tile, own.numbers[slot]))
                continue;
            size_t row = (size_t)own.numbers[slot] - tile->row;
            per_example_gradients_add(block + row * own.width,
                                      own.rows + slot * own.width, clip_factors[i],
                                      own.width);
        }
    }
}

const struct weight_kind table_weights = {
    .has_positions = true, .measure = measure, .sum = sum};

void table_onnx_sum(const struct translation *t, const char *rows, const int64_t *order,
                    size_t rank)
{
    const struct table *table = t->node->plan;
    rows = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{rows}});
    onnx_attribute_ints(t->graph, "perm", order, rank);
    const struct onnx_inputs ends = {{sequence_columns(t, t->node->from), rows}};
    sequence_give(t, onnx_node(t->graph, "Add", ends), table->width);
}
