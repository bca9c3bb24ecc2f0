/* Embeds columns of words: each column's group of features (named_columns.h) becomes
 * `out` numbers, a row of a table, and all other features stay as they are:
 *
 *   record   x_1 [0 0 1 0] x_2 [0 1]
 *   output   x_1 W[2]      x_2 W[4 + 1]
 *
 * The table has a row for each word of each column, column after column. The word is the
 * last feature of the group above 1/2; a group without one gives zeros. All features of
 * a group are read, so the time does not tell the word.
 *
 * A record reads one row of the table a column, and two columns share no row. So its
 * gradient has a slot a column (table.h): the gradient at the column's outputs.
 *
 * It begins a model, or follows the layer that standardises, which leaves words as they
 * are. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/table.h"

struct group {
    size_t first, words; /* features of the input */
    size_t row;          /* of the table, of its first word */
    size_t at;           /* of the output, its first number */
};

struct plan {
    struct table table; /* first: the weight's functions read it */
    size_t features, count;
    struct group *groups; /* (count) in the order of features, owned */
};

/* Returns the row of the table for a record's group, or the number of rows. */
static size_t row_of(const struct plan *plan, const struct group *group, const float *x)
{
    const float *own = x + group->first;
    int32_t word = -1;
    for (int32_t j = 0; j < (int32_t)group->words; j++)
        word = own[j] > 0.5F ? j : word;
    return word < 0 ? plan->table.rows.outputs : group->row + (size_t)word;
}

/* y = the outputs of the record x. */
static void embed(const struct node_work *work, float *y, const float *x)
{
    const struct plan *plan = node_of(work)->plan;
    size_t width = plan->table.width, from = 0, to = 0;

    for (size_t g = 0; g < plan->count; g++) {
        const struct group *group = &plan->groups[g];
        size_t row = row_of(plan, group, x);
        memcpy(y + to, x + from, (group->first - from) * sizeof *y);
        if (row < plan->table.rows.outputs)
            memcpy(y + group->at, table_row(work, row), width * sizeof *y);
        else
            memset(y + group->at, 0, width * sizeof *y);
        from = group->first + group->words;
        to = group->at + width;
    }
    memcpy(y + to, x + from, (plan->features - from) * sizeof *y);
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows x = activations_of(work, node->from),
                y = activations_of(work, node->to);

    for (size_t i = 0; i < y.count; i++)
        embed(work, y.data + i * y.stride, x.data + i * x.stride);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows x = activations_of(work, node->from), b = gradients_of(work, node->to);

    if (layer_of(work)->frozen)
        return;
    for (size_t i = 0; i < b.count; i++) {
        struct table_gradient gradient = table_gradient_begin(work, i);
        for (size_t g = 0; g < plan->count; g++) {
            const struct group *group = &plan->groups[g];
            size_t row = row_of(plan, group, x.data + i * x.stride);
            if (row < plan->table.rows.outputs)
                table_gradient_add(&gradient, g, row,
                                   b.data + i * b.stride + group->at);
        }
    }
    reset_clip_factors(work);
}

static void release(void *plan)
{
    free(((struct plan *)plan)->groups);
}

/* ---- ONNX: a product of each group with its part of the table ---- */

static const char *slice(const struct translation *t, const char *name, size_t first,
                         size_t end, int64_t axis)
{
    const int64_t from = (int64_t)first, to = (int64_t)end;
    const char *inputs[] = {name, onnx_int64s(t->graph, &from, 1),
                            onnx_int64s(t->graph, &to, 1),
                            onnx_int64s(t->graph, &axis, 1)};
    return onnx_node_of_many(t->graph, "Slice", inputs, 4);
}

static void onnx(const struct translation *t)
{
    const struct plan *plan = t->node->plan;
    const struct onnx_dimensions own = {0};
    const char *x = onnx_value_as(t->graph, t->node->from, onnx_vector);
    const char *table = translation_tensor(t, plan->table.rows.weight, own);
    const char **parts = calloc(2 * plan->count + 1, sizeof *parts);
    size_t count = 0, from = 0;

    CHECK(parts != NULL);
    for (size_t g = 0; g < plan->count; g++) {
        const struct group *group = &plan->groups[g];
        if (group->first > from)
            parts[count++] = slice(t, x, from, group->first, 1);
        from = group->first + group->words;
        parts[count++] =
            onnx_node(t->graph, "MatMul",
                      (struct onnx_inputs){
                          {slice(t, x, group->first, from, 1),
                           slice(t, table, group->row, group->row + group->words, 0)}});
    }
    if (from < plan->features)
        parts[count++] = slice(t, x, from, plan->features, 1);
    const char *all = onnx_node_of_many(t->graph, "Concat", parts, count);
    onnx_attribute_int(t->graph, "axis", 1);
    onnx_give(t->graph, t->node->to, all, onnx_vector);
    free(parts);
}

static const struct node_kind embed_columns_node = {.plan_size = sizeof(struct plan),
                                                    .weights = &table_weights,
                                                    .scratch = table_scratch,
                                                    .forward = forward,
                                                    .backward = backward,
                                                    .release = release,
                                                    .onnx = onnx};

/* ---- building ---- */

/* Returns whether the current value has the record's features, words as they are. */
static bool reads_the_record(const struct builder *builder)
{
    const struct layer_spec *layers = builder->model->layers;
    return builder->depth == 0 && builder->view.image.channels == 0 &&
           (builder->index == 0 ||
            (builder->index == 1 && layers[0].kind == &layer_standardise));
}

static int by_place(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* Fills in the groups; returns the rows of the table. */
static size_t place_groups(const struct named_columns *columns, struct group *groups,
                           size_t width)
{
    size_t rows = 0, words = 0;
    for (size_t g = 0; g < columns->count; g++)
        groups[g] = (struct group){.first = columns->list[g].first,
                                   .words = columns->list[g].words};
    qsort(groups, columns->count, sizeof *groups, by_place);
    for (size_t g = 0; g < columns->count; g++) {
        groups[g].row = rows;
        groups[g].at = groups[g].first + g * width - words;
        rows += groups[g].words;
        words += groups[g].words;
    }
    return rows;
}

static enum status check(const struct builder *builder, const struct layer_spec *spec,
                         size_t rows)
{
    const struct named_columns *columns = &builder->model->embedded;
    size_t features = builder_width(builder);
    enum status status = builder_check_out(builder, spec->out);

    if (status != ST_OK)
        return status;
    if (!reads_the_record(builder))
        return builder_refuse(builder, "/type",
                              "must be the first layer: it reads the columns of a "
                              "record");
    if (columns->count == 0 || rows > MODEL_VOCABULARY_MAX)
        return builder_refuse(builder, "/columns",
                              "must name columns with 1 to %d words in all",
                              MODEL_VOCABULARY_MAX);
    status = builder_check_width(builder, features - rows + columns->count * spec->out);
    return status == ST_OK
               ? builder_check_parameters(builder, (uint64_t)rows * spec->out)
               : status;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct named_columns *columns = &builder->model->embedded;
    size_t features = builder_width(builder), count = columns->count;
    struct group *groups = calloc(count + 1, sizeof *groups);
    struct layer_spec sized = *spec;

    CHECK(groups != NULL);
    size_t rows = place_groups(columns, groups, spec->out);
    enum status status = check(builder, spec, rows);
    if (status != ST_OK) {
        free(groups);
        return status;
    }
    sized.rows = (uint32_t)rows;
    struct node *node =
        builder_node(builder, &embed_columns_node, features - rows + count * spec->out);
    table_build(builder, node, &sized,
                (struct table){.width = spec->out, .slots = count});
    struct plan *plan = node->plan;
    plan->features = features;
    plan->count = count;
    plan->groups = groups;
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "columns", .kind = MEMBER_COLUMNS, .optional = true},
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
};

const struct layer_kind layer_embed_columns = {
    .name = "embed_columns",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
