#include "engine/model_file/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Transposes each row of the tensor from (rows, columns) to (columns, rows). */
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

/* A copy of the parameters in the file's order, which the caller frees; or NULL. */
static float *turned_parameters(const struct network *network, const float *parameters)
{
    size_t count = network_floats(network);
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
                             struct file_checksum *seal, struct error *error)
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

enum status model_file_read(const char *path, const struct file_checksum *seal,
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

/* ---- initial weights of a training ---- */

static const char start_pointer[] = "/model/weights";

static const struct tensor *find_wanted(const struct network *network, const char *name)
{
    for (size_t i = 0; i < network_tensor_count(network); i++)
        if (strcmp(network_tensor(network, i)->name, name) == 0)
            return network_tensor(network, i);
    return NULL;
}

static enum status check_wanted(const struct safetensors *file,
                                const struct tensor *wanted, struct error *error)
{
    const struct tensor *found = find(file, wanted->name);
    if (wanted->fresh || (found != NULL && same_shape(found, wanted)))
        return ST_OK;
    if (found == NULL)
        return error_set_at(error, ST_INVALID, start_pointer, "the file has no %s",
                            wanted->name);
    return error_set_at(error, ST_INVALID, start_pointer,
                        "%s of the file has another shape than the model's",
                        wanted->name);
}

static enum status check_start(const struct safetensors *file,
                               const struct network *network, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < network_tensor_count(network) && status == ST_OK; i++)
        status = check_wanted(file, network_tensor(network, i), error);
    for (size_t i = 0; i < safetensors_tensor_count(file) && status == ST_OK; i++) {
        const char *name = safetensors_tensor(file, i)->name;
        if (find_wanted(network, name) == NULL)
            status =
                error_set_at(error, ST_INVALID, start_pointer,
                             "the file has %s, and the model has no such tensor", name);
    }
    return status;
}

enum status model_file_check_start(const char *path, const struct network *network,
                                   struct error *error)
{
    struct safetensors *file;
    enum status status = safetensors_open(&file, path, error);
    if (status != ST_OK)
        return status;
    status = check_start(file, network, error);
    safetensors_close(file);
    return status;
}

static enum status check_finite(const struct tensor *tensor, const float *values,
                                struct error *error)
{
    for (size_t j = 0; j < tensor->count; j++)
        if (!isfinite(values[j]))
            return error_set_at(error, ST_INVALID, start_pointer,
                                "%s holds a value that is not finite", tensor->name);
    return ST_OK;
}

static enum status read_start(struct safetensors *file, const struct network *network,
                              float *values, struct error *error)
{
    enum status status = check_start(file, network, error);
    for (size_t i = 0; i < network_tensor_count(network) && status == ST_OK; i++) {
        const struct tensor *wanted = network_tensor(network, i);
        if (wanted->fresh)
            continue;
        status = read_tensor(file, wanted, values + wanted->offset, error);
        if (status == ST_OK)
            status = check_finite(wanted, values + wanted->offset, error);
    }
    return status;
}

enum status model_file_read_start(const struct weights_source *source,
                                  const struct network *network, float *values,
                                  struct error *error)
{
    struct safetensors *file;
    enum status status = safetensors_open(&file, source->path, error);
    if (status != ST_OK)
        return status;
    status = safetensors_check(file, &source->seal, error);
    if (status == ST_OK)
        status = read_start(file, network, values, error);
    safetensors_close(file);
    return status;
}

static enum status check_values(struct safetensors *file, struct error *error)
{
    enum status status = ST_OK;
    size_t count = safetensors_tensor_count(file);
    if (count == 0)
        return error_set(error, ST_INVALID, "the file has no tensors");
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = safetensors_check_finite(file, safetensors_tensor(file, i), error);
    return status;
}

enum status model_file_check_public(const char *path, struct file_checksum *seal,
                                    struct error *error)
{
    struct safetensors *file;
    struct error local = {0};
    enum status status = safetensors_open(&file, path, &local);
    if (status != ST_OK)
        return error_set(error, status == ST_CORRUPT ? ST_INVALID : status,
                         "not a safetensors file to begin with: %s", local.text);
    status = check_values(file, error);
    safetensors_close(file);
    return status == ST_OK ? file_checksum_of(seal, path, error) : status;
}
