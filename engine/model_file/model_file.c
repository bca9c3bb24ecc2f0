#include "engine/model_file/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/model_file/name_map.h"

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

size_t model_file_copy_size(const struct network *network)
{
    return any_is_turned(network) ? network_floats(network) * sizeof(float) : 0;
}

/* A tensor of the body was neither trained nor given by the job. */
bool model_file_is_body(const struct network *network, const struct tensor *tensor)
{
    size_t layer = network_constant_layer(network);
    if (tensor->offset < network_parameters(network))
        return false;
    if (layer == network_layers(network))
        return true;
    const struct layer_tensors constant = network_layer_tensors(network, layer);
    return tensor != constant.weight && tensor != constant.bias;
}

bool model_file_has_body(const struct network *network)
{
    for (size_t i = 0; i < network_tensor_count(network); i++)
        if (model_file_is_body(network, network_tensor(network, i)))
            return true;
    return false;
}

/* The tensors that the file will have, which the caller frees. */
static struct tensor *stored_tensors(const struct network *network, bool with_body,
                                     size_t *count)
{
    size_t all = network_tensor_count(network);
    struct tensor *stored = calloc(all + 1, sizeof *stored);
    CHECK(stored != NULL);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct tensor *tensor = network_tensor(network, i);
        if (with_body || !model_file_is_body(network, tensor))
            stored[(*count)++] = *tensor;
    }
    return stored;
}

static enum status write_model(const char *path, const struct model_content *content,
                               bool with_body, struct file_checksum *seal,
                               struct error *error)
{
    struct safetensors_content file = {
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
    struct tensor *stored =
        stored_tensors(content->network, with_body, &file.tensor_count);
    file.tensors = stored;
    status = safetensors_write(path, &file, seal, error);
    free(stored);
    free(turned);
    return status;
}

enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_checksum *seal, struct error *error)
{
    return write_model(path, content, true, seal, error);
}

enum status model_file_write_without_body(const char *path,
                                          const struct model_content *content,
                                          struct file_checksum *seal,
                                          struct error *error)
{
    return write_model(path, content, false, seal, error);
}

/* An open file and the names that its tensors have in the model. */
struct source {
    struct safetensors *file;
    const struct name_map *map;
    char (*names)[TENSOR_NAME_SIZE]; /* (tensors of the file) ours */
};

static void source_close(struct source *source)
{
    safetensors_close(source->file);
    free(source->names);
}

/* map: NULL: the file has the model's own names. On failure nothing is open. */
static enum status source_open(struct source *source, const char *path,
                               const struct name_map *map, struct error *error)
{
    *source = (struct source){.map = map};
    enum status status = safetensors_open(&source->file, path, error);
    if (status != ST_OK)
        return status;
    size_t count = safetensors_tensor_count(source->file);
    source->names = calloc(count + 1, sizeof *source->names);
    CHECK(source->names != NULL);
    for (size_t i = 0; i < count; i++)
        name_map_ours(map, safetensors_tensor(source->file, i)->name, source->names[i]);
    return ST_OK;
}

/* Returns the file's first tensor of this name. */
static const struct tensor *find(const struct source *source, const char *name)
{
    for (size_t i = 0; i < safetensors_tensor_count(source->file); i++)
        if (strcmp(source->names[i], name) == 0)
            return safetensors_tensor(source->file, i);
    return NULL;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static enum status read_tensor(const struct source *source, const struct tensor *wanted,
                               float *to, struct error *error)
{
    const struct tensor *found = find(source, wanted->name);
    float *turned;
    enum status status;

    if (found == NULL || !same_shape(found, wanted))
        return error_set(error, ST_CORRUPT, "the file has no %s of the model's shape",
                         wanted->name);
    if (!is_turned(wanted))
        return safetensors_read(source->file, found, to, error);
    turned = calloc(wanted->count, sizeof *turned);
    if (turned == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to read %s", wanted->name);
    status = safetensors_read(source->file, found, turned, error);
    if (status == ST_OK) {
        size_t row = wanted->count / (size_t)wanted->shape[0];
        turn(wanted, to, turned, row / wanted->taps);
    }
    free(turned);
    return status;
}

/* Reads the tensors that the source must have: all; those of the body; or the others. */
enum part { PART_ALL, PART_BODY, PART_OWN };

static bool is_part(const struct network *network, size_t index, enum part part)
{
    return part == PART_ALL ||
           model_file_is_body(network, network_tensor(network, index)) ==
               (part == PART_BODY);
}

/* values: of the whole network, or for PART_BODY only the frozen floats. */
static enum status read_tensors(const struct source *source, enum part part,
                                const struct network *network, float *values,
                                struct error *error)
{
    size_t first = part == PART_BODY ? network_parameters(network) : 0, count = 0;
    enum status status = ST_OK;

    for (size_t i = 0; i < network_tensor_count(network); i++)
        count += is_part(network, i, part);
    if (part != PART_BODY && safetensors_tensor_count(source->file) != count)
        return error_set(error, ST_CORRUPT, "the file has not the model's %zu tensors",
                         count);
    for (size_t i = 0; i < network_tensor_count(network) && status == ST_OK; i++) {
        const struct tensor *wanted = network_tensor(network, i);
        if (is_part(network, i, part))
            status =
                read_tensor(source, wanted, values + (wanted->offset - first), error);
    }
    return status;
}

/* seal: NULL: not checked. */
static enum status read_part(const char *path, const struct file_checksum *seal,
                             enum part part, const struct network *network,
                             float *values, struct error *error)
{
    const struct name_map *map = part == PART_BODY ? name_map_of(network) : NULL;
    struct source source;
    enum status status = source_open(&source, path, map, error);

    if (status != ST_OK)
        return status;
    if (seal != NULL)
        status = safetensors_check(source.file, seal, error);
    if (status == ST_OK)
        status = read_tensors(&source, part, network, values, error);
    source_close(&source);
    return status;
}

enum status model_file_read(const char *path, const struct file_checksum *seal,
                            const struct network *network, float *parameters,
                            struct error *error)
{
    return model_file_read_on(path, seal, NULL, network, parameters, error);
}

enum status model_file_read_on(const char *path, const struct file_checksum *seal,
                               const struct weights_source *body,
                               const struct network *network, float *parameters,
                               struct error *error)
{
    if (body == NULL)
        return read_part(path, seal, PART_ALL, network, parameters, error);
    enum status status = model_file_read_own(path, seal, network, parameters, error);
    if (status != ST_OK)
        return status;
    return model_file_read_body(body, network, parameters + network_parameters(network),
                                error);
}

enum status model_file_read_own(const char *path, const struct file_checksum *seal,
                                const struct network *network, float *parameters,
                                struct error *error)
{
    return read_part(path, seal, PART_OWN, network, parameters, error);
}

enum status model_file_read_body(const struct weights_source *body,
                                 const struct network *network, float *frozen,
                                 struct error *error)
{
    return read_part(body->path, &body->seal, PART_BODY, network, frozen, error);
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

/* The open files of initial weights: the file, and that of its body, if it has one. */
struct start_files {
    struct source items[2];
    size_t count;
    bool has_adapter; /* a tensor of the network's adapters */
};

static void start_files_close(struct start_files *files)
{
    while (files->count > 0)
        source_close(&files->items[--files->count]);
}

/* Returns the first file that has a tensor of this name, else the first one. */
static const struct source *holder(const struct start_files *files, const char *name)
{
    for (size_t k = 0; k < files->count; k++)
        if (find(&files->items[k], name) != NULL)
            return &files->items[k];
    return &files->items[0];
}

static bool has_adapter(const struct start_files *files, const struct network *network)
{
    for (size_t i = 0; i < network_tensor_count(network); i++) {
        const struct tensor *tensor = network_tensor(network, i);
        if (tensor->is_adapter &&
            find(holder(files, tensor->name), tensor->name) != NULL)
            return true;
    }
    return false;
}

static enum status start_files_open(struct start_files *files,
                                    const struct weights_source *weights,
                                    const struct network *network, struct error *error)
{
    enum status status = ST_OK;
    *files = (struct start_files){0};
    for (; weights != NULL && status == ST_OK; weights = weights->body) {
        CHECK(files->count < sizeof files->items / sizeof *files->items);
        status = source_open(&files->items[files->count], weights->path,
                             name_map_of(network), error);
        files->count += status == ST_OK;
    }
    if (status == ST_OK)
        files->has_adapter = has_adapter(files, network);
    else
        start_files_close(files);
    return status;
}

/* Returns whether a training starts with the tensor of the files. */
static bool is_read(const struct start_files *files, const struct tensor *wanted)
{
    return !wanted->fresh && (files->has_adapter || !wanted->is_adapter);
}

static enum status check_wanted(const struct start_files *files,
                                const struct tensor *wanted, struct error *error)
{
    const struct tensor *found = find(holder(files, wanted->name), wanted->name);
    if (!is_read(files, wanted))
        return ST_OK;
    if (found == NULL)
        return error_set_at(error, ST_INVALID, start_pointer,
                            "the file has no %s; a layer that is in \"fresh\" starts "
                            "without it",
                            wanted->name);
    if (!same_shape(found, wanted))
        return error_set_at(error, ST_INVALID, start_pointer,
                            "%s of the file has another shape than the model's",
                            found->name);
    if (!safetensors_is_readable(found))
        return error_set_at(error, ST_INVALID, start_pointer,
                            "%s of the file has values of %s, not F32, F16 or BF16",
                            found->name, safetensors_dtype(found));
    return ST_OK;
}

/* Checks a tensor of the file: the model has it, by no second name, or needs no such
 * tensor. */
static enum status check_found(const struct source *source, size_t index,
                               const struct network *network, struct error *error)
{
    const char *ours = source->names[index];
    const struct tensor *found = safetensors_tensor(source->file, index);
    if (find_wanted(network, ours) == NULL) {
        if (name_map_ignores(source->map, ours))
            return ST_OK;
        return error_set_at(error, ST_INVALID, start_pointer,
                            "the file has %s, and the model has no such tensor",
                            found->name);
    }
    const struct tensor *first = find(source, ours);
    if (first != found)
        return error_set_at(error, ST_INVALID, start_pointer,
                            "the file has %s and %s, which are one tensor of the model",
                            first->name, found->name);
    return ST_OK;
}

static enum status check_start(const struct start_files *files,
                               const struct network *network, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < network_tensor_count(network) && status == ST_OK; i++)
        status = check_wanted(files, network_tensor(network, i), error);
    for (size_t k = 0; k < files->count; k++) {
        const struct source *source = &files->items[k];
        size_t count = safetensors_tensor_count(source->file);
        for (size_t i = 0; i < count && status == ST_OK; i++)
            status = check_found(source, i, network, error);
    }
    return status;
}

enum status model_file_check_start(const struct weights_source *weights,
                                   const struct network *network, struct error *error)
{
    struct start_files files;
    enum status status = start_files_open(&files, weights, network, error);
    if (status != ST_OK)
        return status;
    status = check_start(&files, network, error);
    start_files_close(&files);
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

static enum status read_start(const struct start_files *files,
                              const struct network *network, float *values,
                              struct error *error)
{
    enum status status = check_start(files, network, error);
    for (size_t i = 0; i < network_tensor_count(network) && status == ST_OK; i++) {
        const struct tensor *wanted = network_tensor(network, i);
        float *to = values + wanted->offset;
        if (!is_read(files, wanted))
            continue;
        status = read_tensor(holder(files, wanted->name), wanted, to, error);
        if (status == ST_OK)
            status = check_finite(wanted, to, error);
    }
    return status;
}

enum status model_file_read_start(const struct weights_source *weights,
                                  const struct network *network, float *values,
                                  struct error *error)
{
    struct start_files files;
    enum status status = start_files_open(&files, weights, network, error);
    const struct weights_source *checked = weights;
    if (status != ST_OK)
        return status;
    for (size_t k = 0; k < files.count && status == ST_OK; k++) {
        status = safetensors_check(files.items[k].file, &checked->seal, error);
        checked = checked->body;
    }
    if (status == ST_OK)
        status = read_start(&files, network, values, error);
    start_files_close(&files);
    return status;
}

/* Tensors that cannot be read may be in the file: a map may ignore them. */
static enum status check_values(struct safetensors *file, struct error *error)
{
    enum status status = ST_OK;
    size_t count = safetensors_tensor_count(file), readable = 0;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        const struct tensor *tensor = safetensors_tensor(file, i);
        if (!safetensors_is_readable(tensor))
            continue;
        readable++;
        status = safetensors_check_finite(file, tensor, error);
    }
    if (status == ST_OK && readable == 0)
        return error_set(error, ST_INVALID,
                         "the file has no tensors of F32, F16 or BF16");
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
