#include "engine/predictor.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/model_file/model_file.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"
#include "engine/rounding/small_floats.h"

struct predictor {
    struct network *network;
    struct workspace *workspace;
    struct model_values values;
};

static enum status compile(struct network **network, const struct model_spec *model,
                           struct data_shape data, struct error *error)
{
    struct network_shape shape = {.features = data.features,
                                  .outputs = model_spec_outputs(model, data.classes)};
    return network_create(network, model, shape, error);
}

static enum status open_model(struct predictor *predictor,
                              const struct predictor_source *source,
                              struct error *error)
{
    enum status status =
        compile(&predictor->network, source->model, source->data, error);

    if (status != ST_OK)
        return status;
    status = workspace_create(&predictor->workspace, predictor->network, PREDICTOR_ROWS,
                              error);
    if (status != ST_OK)
        return status;
    return model_values_open(&predictor->values, &source->files, predictor->network,
                             error);
}

enum status predictor_open(struct predictor **out,
                           const struct predictor_source *source, struct error *error)
{
    struct predictor *predictor = calloc(1, sizeof *predictor);
    enum status status;

    CHECK(predictor != NULL);
    status = open_model(predictor, source, error);
    if (status != ST_OK) {
        predictor_close(predictor);
        return status;
    }
    *out = predictor;
    return ST_OK;
}

void predictor_close(struct predictor *predictor)
{
    if (predictor == NULL)
        return;
    workspace_destroy(predictor->workspace);
    model_values_close(&predictor->values);
    network_destroy(predictor->network);
    free(predictor);
}

size_t predictor_size(const struct predictor *predictor)
{
    const struct network *network = predictor->network;
    size_t floats = predictor_body(predictor) == NULL ? network_floats(network)
                                                      : network_parameters(network);
    return floats * sizeof(float) + workspace_size(network, PREDICTOR_ROWS);
}

const struct shared_body *predictor_body(const struct predictor *predictor)
{
    return predictor->values.body;
}

enum status predictor_flops(double *flops, const struct model_spec *model,
                            struct data_shape data, struct error *error)
{
    struct network *network = NULL;
    enum status status = compile(&network, model, data, error);

    if (status == ST_OK)
        *flops = network_forward_flops(network);
    network_destroy(network);
    return status;
}

float *predictor_input(struct predictor *predictor, size_t *stride)
{
    *stride = workspace_stride(predictor->workspace);
    return workspace_input(predictor->workspace);
}

void predictor_run(struct predictor *predictor, double *outputs, size_t count)
{
    CHECK(count <= PREDICTOR_ROWS);
    struct small_floats before = small_floats_drop();
    workspace_forward(predictor->workspace, predictor->values.floats, count);
    workspace_predict(predictor->workspace, outputs);
    small_floats_restore(before);
}

enum status predictor_header(char **header, const char *path, struct error *error)
{
    struct safetensors *file;
    enum status status = safetensors_open(&file, path, error);

    if (status != ST_OK)
        return status;
    *header = strdup(safetensors_header(file));
    CHECK(*header != NULL);
    safetensors_close(file);
    return ST_OK;
}
