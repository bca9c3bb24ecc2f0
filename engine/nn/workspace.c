/* This file creates and destroys a workspace, and computes predictions (predict, value,
 * class). The passes over its nodes are in node_walk.c (forward, loss, backward),
 * gradients.c (measure, scale, sum) and engine/difference (two points). buffers.c
 * allocates its memory. */
#include "engine/nn/workspace.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/random.h"
#include "engine/nn/buffers.h"

static struct extent extent_at_one_point(const struct network *network, size_t rows)
{
    return (struct extent){.network = network, .rows = rows};
}

static struct extent extent_keeping(const struct network *network, size_t rows)
{
    return (struct extent){.network = network, .rows = rows, .keeps_all = true};
}

static struct extent extent_at_two_points(const struct network *network, size_t rows)
{
    return (struct extent){
        .network = network, .rows = rows, .two_points = true, .keeps_all = true};
}

size_t workspace_size(const struct network *network, size_t rows)
{
    return buffers_size(extent_at_one_point(network, rows));
}

size_t workspace_keeping_size(const struct network *network, size_t rows)
{
    return buffers_size(extent_keeping(network, rows));
}

size_t workspace_two_points_size(const struct network *network, size_t rows)
{
    return buffers_size(extent_at_two_points(network, rows));
}

static enum status create(struct workspace **out, struct extent extent,
                          struct error *error)
{
    struct workspace *workspace = calloc(1, sizeof *workspace);
    size_t rows = extent.rows;

    CHECK(workspace != NULL);
    CHECK(rows > 0 && rows <= WORKSPACE_ROWS_MAX && rows % WORKSPACE_ROWS_STEP == 0);
    workspace->network = extent.network;
    workspace->two_points = extent.two_points;
    workspace->keeps_all = extent.keeps_all;
    workspace->rows = rows;
    if (network_drops(extent.network))
        workspace->drop_stream = stream_create();
    if (!buffers_allocate(workspace)) {
        workspace_destroy(workspace);
        return error_set(error, ST_NO_MEMORY, "no memory for a micro-batch of %zu rows",
                         rows);
    }
    *out = workspace;
    return ST_OK;
}

enum status workspace_create(struct workspace **out, const struct network *network,
                             size_t rows, struct error *error)
{
    return create(out, extent_at_one_point(network, rows), error);
}

enum status workspace_create_keeping(struct workspace **out,
                                     const struct network *network, size_t rows,
                                     struct error *error)
{
    return create(out, extent_keeping(network, rows), error);
}

enum status workspace_create_two_points(struct workspace **out,
                                        const struct network *network, size_t rows,
                                        struct error *error)
{
    return create(out, extent_at_two_points(network, rows), error);
}

void workspace_destroy(struct workspace *workspace)
{
    if (workspace == NULL)
        return;
    buffers_free(workspace);
    stream_destroy(workspace->drop_stream);
    free(workspace);
}

size_t workspace_rows(const struct workspace *workspace)
{
    return workspace->rows;
}

size_t workspace_unit_rows(const struct workspace *workspace)
{
    return workspace->network->unit_rows;
}

float *workspace_input(struct workspace *workspace)
{
    return workspace->activations[0];
}

size_t workspace_stride(const struct workspace *workspace)
{
    return workspace->network->values[0].stride;
}

uint32_t *workspace_classes(struct workspace *workspace)
{
    return workspace->classes;
}

float *workspace_values(struct workspace *workspace)
{
    return workspace->values;
}

static void softmax(double *out, const float *z, size_t width)
{
    double greatest = (double)z[0], sum = 0.0;
    for (size_t j = 1; j < width; j++)
        greatest = fmax(greatest, (double)z[j]);
    for (size_t j = 0; j < width; j++)
        sum += out[j] = exp((double)z[j] - greatest);
    for (size_t j = 0; j < width; j++)
        out[j] /= sum;
}

static double sigmoid(double z)
{
    double e = exp(-fabs(z));
    return (z >= 0.0 ? 1.0 : e) / (1.0 + e);
}

void workspace_predict(const struct workspace *workspace, double *outputs)
{
    const struct network *network = workspace->network;
    struct rows z = rows_of(workspace->activations, workspace, network->output);

    for (size_t i = 0; i < workspace->count; i++) {
        const float *row = z.data + i * z.stride;
        double *out = outputs + i * network_predictions(network);
        switch (network->loss) {
        case LOSS_SOFTMAX_CROSS_ENTROPY:
            softmax(out, row, network->shape.outputs);
            break;
        case LOSS_LOGISTIC:
            out[0] = sigmoid(-(double)row[0]);
            out[1] = sigmoid((double)row[0]);
            break;
        case LOSS_SQUARED:
        case LOSS_HUBER: out[0] = (double)row[0]; break;
        }
    }
}

double workspace_value(const struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;
    struct rows z = rows_of(workspace->activations, workspace, network->output);

    CHECK(record < workspace->count);
    return (double)z.data[record * z.stride];
}

uint32_t workspace_class(const struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;
    struct rows z = rows_of(workspace->activations, workspace, network->output);
    const float *row = z.data + record * z.stride;
    uint32_t best = 0;

    CHECK(record < workspace->count);
    if (network->loss == LOSS_LOGISTIC)
        return row[0] > 0.0F;
    for (uint32_t j = 1; j < network->shape.outputs; j++)
        if (row[j] > row[best])
            best = j;
    return best;
}
