#include "engine/predictor.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/model_file.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"

enum { PREDICTOR_ROWS = 64 };

struct predictor {
    struct network *network;
    struct workspace *workspace;
    float *parameters;
};

static enum status open_model(struct predictor *predictor,
                              const struct predictor_source *source,
                              struct error *error)
{
    struct network_shape shape = {
        .features = source->data.features,
        .outputs = model_spec_outputs(source->model, source->data.classes)};
    enum status status =
        network_create(&predictor->network, source->model, shape, error);

    if (status != ST_OK)
        return status;
    status = workspace_create(&predictor->workspace, predictor->network, PREDICTOR_ROWS,
                              error);
    if (status != ST_OK)
        return status;
    predictor->parameters =
        calloc(network_parameters(predictor->network), sizeof *predictor->parameters);
    if (predictor->parameters == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's parameters");
    return model_file_read(source->path, source->seal, predictor->network,
                           predictor->parameters, error);
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
    network_destroy(predictor->network);
    free(predictor->parameters);
    free(predictor);
}

void predictor_run(struct predictor *predictor, double *outputs, const float *features,
                   size_t count)
{
    size_t width = network_shape(predictor->network).features;
    size_t columns = network_predictions(predictor->network);
    size_t stride = workspace_stride(predictor->workspace);
    float *input = workspace_input(predictor->workspace);

    while (count > 0) {
        size_t some = count < PREDICTOR_ROWS ? count : PREDICTOR_ROWS;
        for (size_t i = 0; i < some; i++)
            memcpy(input + i * stride, features + i * width, width * sizeof *input);
        workspace_forward(predictor->workspace, predictor->parameters, some);
        workspace_predict(predictor->workspace, outputs);
        features += some * width;
        outputs += some * columns;
        count -= some;
    }
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
