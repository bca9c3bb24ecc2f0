#include "engine/start_point.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/initial_values.h"
#include "engine/parallel/span.h"

/* The chunks in which a vector is divided among threads, and the cost of a value,
 * counted as in team.h: it is drawn, and its page is touched for the first time. */
enum { CHUNK = 1024, VALUE_FLOPS = 100 };

struct drawing {
    const struct network *network;
    float *values;
    uint64_t seed;
    unsigned members;
};

static void draw_member(void *context, unsigned member)
{
    const struct drawing *drawing = context;
    size_t count = network_floats(drawing->network);
    network_init_span(drawing->network, drawing->values, drawing->seed,
                      span_of_member(member, drawing->members, count, CHUNK));
}

static void draw(float *values, const struct network *network, uint64_t seed,
                 struct team *team)
{
    struct drawing drawing = {network, values, seed, team_size(team)};
    size_t count = network_floats(network);
    team_run(team, &(struct team_work){.run = draw_member,
                                       .context = &drawing,
                                       .shares = span_shares(count, CHUNK),
                                       .flops = VALUE_FLOPS * (double)count});
}

void feature_scale_init(struct feature_scale *scale, size_t features)
{
    scale->features = features;
    scale->weight = calloc(features, sizeof *scale->weight);
    scale->bias = calloc(features, sizeof *scale->bias);
    CHECK(scale->weight != NULL && scale->bias != NULL);
    for (size_t j = 0; j < features; j++)
        scale->weight[j] = 1;
}

void feature_scale_fini(struct feature_scale *scale)
{
    free(scale->weight);
    free(scale->bias);
    *scale = (struct feature_scale){0};
}

static void give(float *values, const struct network *network,
                 const struct feature_scale *scale)
{
    size_t layer = network_constant_layer(network);
    CHECK(layer < network_layers(network));
    const struct layer_tensors tensors = network_layer_tensors(network, layer);
    CHECK(tensors.weight->count == scale->features);
    memcpy(values + tensors.weight->offset, scale->weight,
           scale->features * sizeof *values);
    memcpy(values + tensors.bias->offset, scale->bias,
           scale->features * sizeof *values);
}

enum status start_point_make(float **values, const struct network *network,
                             const struct start_point *start, struct team *team,
                             struct error *error)
{
    struct error local = {0};
    size_t count = network_floats(network);
    *values = calloc(count, sizeof **values);
    if (*values == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", count);
    draw(*values, network, start->seed, team);
    if (start->scale != NULL)
        give(*values, network, start->scale);
    if (start->weights == NULL)
        return ST_OK;
    enum status status =
        model_file_read_start(start->weights, network, *values, &local);
    if (status == ST_OK || status == ST_NO_MEMORY)
        return status == ST_OK ? ST_OK : error_set(error, status, "%s", local.text);
    return error_set_at(error, ST_MODEL_CORRUPT, "/model/weights", "%s", local.text);
}
