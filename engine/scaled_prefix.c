#include "engine/scaled_prefix.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/frozen_prefix.h"
#include "engine/nn/workspace.h"
#include "engine/parallel/team.h"
#include "engine/predictor.h"
#include "engine/rounding/blas.h"
#include "engine/rounding/small_floats.h"
#include "engine/start_point.h"

enum { ROWS = PREDICTOR_ROWS }; /* read at a time */
_Static_assert((int)ROWS >= (int)MATRIX_SLOTS_MAX, "a person is read at a time");

/* --- the digest --- */

/* Returns whether a layer of the prefix has weights, and sets *draws if init_seed
 * changes them. */
static bool has_weights(const struct network *network, bool *draws)
{
    size_t constant = network_constant_layer(network);
    *draws = false;
    for (size_t l = 0; l < constant; l++) {
        const struct layer_tensors tensors = network_layer_tensors(network, l);
        *draws |= tensors.weight->initial != INITIAL_ONES &&
                  tensors.weight->initial != INITIAL_ZEROS;
    }
    return constant > 0;
}

void scaled_prefix_digest(const struct model_spec *model, const struct network *network,
                          const char *weights_sha256, uint8_t digest[SHA256_SIZE])
{
    static const uint64_t none = 0;
    struct sha256 *hash = sha256_create();
    size_t list = network_scaled_input(network).list;
    bool draws, weighs = has_weights(network, &draws);
    sha256_update(hash, &model->input, sizeof model->input);
    frozen_prefix_feed_layers(hash, model, list);
    const char *file = weighs ? weights_sha256 : "";
    sha256_update(hash, file, strlen(file) + 1);
    sha256_update(hash, file[0] == '\0' && draws ? &model->init_seed : &none,
                  sizeof none);
    sha256_finish(hash, digest);
    sha256_destroy(hash);
}

/* --- the numbers --- */

struct scaled_prefix {
    struct network *network;
    struct scaled_input input;
    float *parameters; /* (network_floats) */
    struct team *team;
    struct workspace **workspaces; /* (team_size) */
};

static enum status create_workspaces(struct scaled_prefix *prefix, struct error *error)
{
    enum status status = ST_OK;
    unsigned size = team_size(prefix->team);
    prefix->workspaces = calloc(size, sizeof *prefix->workspaces);
    CHECK(prefix->workspaces != NULL);
    for (unsigned m = 0; status == ST_OK && m < size; m++)
        status = workspace_create(&prefix->workspaces[m], prefix->network, ROWS, error);
    return status;
}

static enum status load(struct scaled_prefix *prefix,
                        const struct scaled_prefix_setup *setup, struct error *error)
{
    const struct network_shape shape = {
        setup->data.features, model_spec_outputs(setup->model, setup->data.classes)};
    const struct start_point start = {setup->model->init_seed, setup->weights, NULL};
    enum status status = network_create(&prefix->network, setup->model, shape, error);
    if (status != ST_OK)
        return status;
    prefix->input = network_scaled_input(prefix->network);
    CHECK(prefix->input.is_fixed);
    status = team_create(&prefix->team, setup->threads, error);
    if (status == ST_OK)
        status = start_point_make(&prefix->parameters, prefix->network, &start,
                                  prefix->team, error);
    return status == ST_OK ? create_workspaces(prefix, error) : status;
}

enum status scaled_prefix_open(struct scaled_prefix **out,
                               const struct scaled_prefix_setup *setup,
                               struct error *error)
{
    struct scaled_prefix *prefix = calloc(1, sizeof *prefix);
    CHECK(prefix != NULL);
    blas_use_one_thread();
    enum status status =
        blas_rounding_is_exact()
            ? load(prefix, setup, error)
            : error_set(error, ST_NOT_FLOAT_SAFE, "floats are not rounded to nearest");
    if (status == ST_OK)
        *out = prefix;
    else
        scaled_prefix_close(prefix);
    return status;
}

void scaled_prefix_close(struct scaled_prefix *prefix)
{
    if (prefix == NULL)
        return;
    for (unsigned m = 0; prefix->workspaces != NULL && m < team_size(prefix->team); m++)
        workspace_destroy(prefix->workspaces[m]);
    free(prefix->workspaces);
    team_destroy(prefix->team);
    network_destroy(prefix->network);
    free(prefix->parameters);
    free(prefix);
}

/* numbers (2 channels) = the means of x and of x^2 over the positions. */
static void average(double *numbers, const float *row, struct scaled_input input)
{
    size_t d = input.channels;
    memset(numbers, 0, 2 * d * sizeof *numbers);
    for (size_t t = 0; t < input.positions; t++)
        for (size_t c = 0; c < d; c++) {
            double x = (double)row[t * d + c];
            numbers[c] += x;
            numbers[d + c] += x * x;
        }
    for (size_t j = 0; j < 2 * d; j++)
        numbers[j] /= (double)input.positions;
}

static void read_rows(void *context, unsigned member, const struct matrix *matrix,
                      const uint32_t *indices, size_t count, double *numbers)
{
    const struct scaled_prefix *prefix = context;
    struct workspace *workspace = prefix->workspaces[member];
    struct small_floats before = small_floats_drop();
    matrix_gather(matrix, workspace_input(workspace), workspace_stride(workspace),
                  indices, count);
    workspace_forward_scaled(workspace, prefix->parameters, count);
    const struct rows rows = workspace_scaled_rows(workspace);
    for (size_t i = 0; i < count; i++)
        average(numbers + 2 * i * prefix->input.channels, rows.data + i * rows.stride,
                prefix->input);
    small_floats_restore(before);
}

struct moments_source scaled_prefix_source(struct scaled_prefix *prefix)
{
    return (struct moments_source){prefix, prefix->team, ROWS, read_rows};
}
