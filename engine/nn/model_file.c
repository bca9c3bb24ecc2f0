#include "engine/nn/model_file.h"

#include <string.h>

enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_seal *seal, struct error *error)
{
    struct safetensors_content file = {
        .tensors = network_tensor(content->network, 0),
        .tensor_count = network_tensor_count(content->network),
        .parameters = content->parameters,
        .metadata = content->metadata,
        .metadata_count = content->metadata_count,
    };
    return safetensors_write(path, &file, seal, error);
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
        const struct tensor *found = find(file, wanted->name);
        if (found == NULL || !same_shape(found, wanted))
            return error_set(error, ST_CORRUPT,
                             "the file has no %s of the model's shape", wanted->name);
        status = safetensors_read(file, found, parameters + wanted->offset, error);
    }
    return status;
}

enum status model_file_read(const char *path, const struct network *network,
                            float *parameters, struct error *error)
{
    struct safetensors *file;
    enum status status = safetensors_open(&file, path, error);

    if (status != ST_OK)
        return status;
    status = read_tensors(file, network, parameters, error);
    safetensors_close(file);
    return status;
}
