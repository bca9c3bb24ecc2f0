#include "engine/model_file/model_file.h"

#include <stdlib.h>
#include <string.h>

/* Turns each row of the tensor from (rows, columns) to (columns, rows). */
static void turn(const struct tensor *tensor, float *to, const float *from, size_t rows)
{
    size_t row = tensor->count / (size_t)tensor->shape[0], columns = row / rows;

    for (size_t start = 0; start < tensor->count; start += row)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                to[start + j * rows + i] = from[start + i * columns + j];
}

static bool is_turned(const struct tensor *tensor)
{
    return tensor->taps > 1;
}

/* A copy of the parameters as the file has them, to be freed; or NULL. */
static float *turned_parameters(const struct network *network, const float *parameters)
{
    size_t count = network_parameters(network);
    float *turned = calloc(count, sizeof *turned);

    if (turned == NULL)
        return NULL;
    memcpy(turned, parameters, count * sizeof *turned);
    for (size_t i = 0; i < network_tensor_count(network); i++) {
        const struct tensor *tensor = network_tensor(network, i);
        if (is_turned(tensor))
            turn(tensor, turned + tensor->offset, parameters + tensor->offset,
                 tensor->taps);
    }
    return turned;
}

static bool any_is_turned(const struct network *network)
{
    for (size_t i = 0; i < network_tensor_count(network); i++)
        if (is_turned(network_tensor(network, i)))
            return true;
    return false;
}

enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_seal *seal, struct error *error)
{
    struct safetensors_content file = {
        .tensors = network_tensor(content->network, 0),
        .tensor_count = network_tensor_count(content->network),
        .parameters = content->parameters,
        .metadata = content->metadata,
    };
    float *turned = NULL;
    enum status status;

    if (any_is_turned(content->network)) {
        turned = turned_parameters(content->network, content->parameters);
        if (turned == NULL)
            return error_set(error, ST_NO_MEMORY, "no memory to write the model");
        file.parameters = turned;
    }
    status = safetensors_write(path, &file, seal, error);
    free(turned);
    return status;
}

static const struct tensor *find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < safetensors_tensor_count(file); i++)
        if (strcmp(safetensors_tensor(file, i)->name, name) == 0)
            return safetensors_tensor(file, i);
    return NULL;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static enum status read_tensor(struct safetensors *file, const struct tensor *wanted,
                               float *to, struct error *error)
{
    const struct tensor *found = find(file, wanted->name);
    float *turned;
    enum status status;

    if (found == NULL || !same_shape(found, wanted))
        return error_set(error, ST_CORRUPT, "the file has no %s of the model's shape",
                         wanted->name);
    if (!is_turned(wanted))
        return safetensors_read(file, found, to, error);
    turned = calloc(wanted->count, sizeof *turned);
    if (turned == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to read %s", wanted->name);
    status = safetensors_read(file, found, turned, error);
    if (status == ST_OK) {
        size_t row = wanted->count / (size_t)wanted->shape[0];
        turn(wanted, to, turned, row / wanted->taps);
    }
    free(turned);
    return status;
}

static enum status read_tensors(struct safetensors *file, const struct network *network,
                                float *parameters, struct error *error)
{
    size_t count = network_tensor_count(network);
    enum status status = ST_OK;

    if (safetensors_tensor_count(file) != count)
        return error_set(error, ST_CORRUPT, "the file has not the model's %zu tensors",
                         count);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        const struct tensor *wanted = network_tensor(network, i);
        status = read_tensor(file, wanted, parameters + wanted->offset, error);
    }
    return status;
}

enum status model_file_read(const char *path, const struct file_seal *seal,
                            const struct network *network, float *parameters,
                            struct error *error)
{
    struct safetensors *file;
    enum status status = safetensors_open(&file, path, error);

    if (status != ST_OK)
        return status;
    if (seal != NULL)
        status = safetensors_check(file, seal, error);
    if (status == ST_OK)
        status = read_tensors(file, network, parameters, error);
    safetensors_close(file);
    return status;
}
