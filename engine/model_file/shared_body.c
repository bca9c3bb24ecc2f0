#define _GNU_SOURCE /* memfd_create */
#include "engine/model_file/shared_body.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

struct shared_body {
    int file;
    size_t size; /* bytes of its floats */
};

static size_t frozen_floats(const struct network *network)
{
    return network_floats(network) - network_parameters(network);
}

static enum status read_floats(const struct shared_body *body,
                               const struct weights_source *file,
                               const struct network *network, struct error *error)
{
    float *frozen =
        mmap(NULL, body->size, PROT_READ | PROT_WRITE, MAP_SHARED, body->file, 0);
    if (frozen == MAP_FAILED)
        return error_set(error, ST_NO_MEMORY, "no memory for the frozen layers");
    enum status status = model_file_read_body(file, network, frozen, error);
    munmap(frozen, body->size);
    return status;
}

enum status shared_body_read(struct shared_body **out,
                             const struct weights_source *file,
                             const struct network *network, struct error *error)
{
    struct shared_body *body = calloc(1, sizeof *body);
    enum status status;
    CHECK(body != NULL);
    body->size = frozen_floats(network) * sizeof(float);
    CHECK(body->size > 0);
    body->file = memfd_create("body", MFD_CLOEXEC);
    /* Pages are reserved here, so that a lack of memory is an error and no signal. */
    if (body->file < 0 || posix_fallocate(body->file, 0, (off_t)body->size) != 0)
        status = error_set(error, ST_NO_MEMORY, "no memory for the frozen layers");
    else
        status = read_floats(body, file, network, error);
    if (status != ST_OK) {
        shared_body_destroy(body);
        return status;
    }
    *out = body;
    return ST_OK;
}

void shared_body_destroy(struct shared_body *body)
{
    if (body == NULL)
        return;
    if (body->file >= 0)
        close(body->file);
    free(body);
}

size_t shared_body_size(const struct shared_body *body)
{
    return body->size;
}

void shared_body_layout(uint8_t digest[SHA256_SIZE], const struct network *network)
{
    struct sha256 *hash = sha256_create();
    const uint64_t floats = frozen_floats(network);
    sha256_update(hash, &floats, sizeof floats);
    for (size_t i = 0; i < network_tensor_count(network); i++) {
        const struct tensor *tensor = network_tensor(network, i);
        if (!model_file_is_body(network, tensor))
            continue;
        const uint64_t place[] = {tensor->offset - network_parameters(network),
                                  tensor->count, tensor->rank, tensor->taps};
        sha256_update(hash, tensor->name, sizeof tensor->name);
        sha256_update(hash, place, sizeof place);
        sha256_update(hash, tensor->shape, sizeof tensor->shape);
    }
    sha256_finish(hash, digest);
    sha256_destroy(hash);
}

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

enum status shared_body_map(const struct shared_body *body,
                            const struct network *network, struct body_range *range,
                            struct error *error)
{
    size_t own = network_parameters(network) * sizeof(float), before = whole_pages(own);
    CHECK(frozen_floats(network) * sizeof(float) == body->size);
    *range = (struct body_range){.size = before + whole_pages(body->size)};
    char *start = mmap(NULL, range->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's parameters");
    range->start = start;
    if (mmap(start + before, body->size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED, body->file, 0) == MAP_FAILED) {
        body_range_unmap(range);
        return error_set(error, ST_NO_MEMORY, "no memory for the frozen layers");
    }
    range->values = (float *)(void *)(start + (before - own));
    return ST_OK;
}

void body_range_unmap(struct body_range *range)
{
    if (range->start != NULL)
        munmap(range->start, range->size);
    *range = (struct body_range){0};
}
