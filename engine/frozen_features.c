/* The file is made under a random name, which is removed at once. It is written block by
 * block, each by whichever member of the team comes to it, at the place of its rows, and
 * mapped when it is whole. */
#include "engine/frozen_features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/nn/workspace.h"

/* So much of the disk, and as much as the file takes, stays for others: the ledger stops
 * where the disk is full. */
static const uint64_t disk_left_min = UINT64_C(1) << 30;

struct frozen_features {
    int file;
    size_t width, size; /* floats of a row; bytes in all */
    float *rows;        /* mapped; NULL before */
};

struct work {
    const struct frozen_features_setup *setup;
    struct frozen_features *features;
    size_t step; /* rows of a block */
    atomic_size_t next;
    atomic_bool failed;
};

static bool cancelled(const struct frozen_features_setup *setup)
{
    return setup->cancel != NULL && atomic_load(setup->cancel);
}

static bool write_all(int file, const void *data, size_t size, off_t at)
{
    const char *next = data;
    while (size > 0) {
        ssize_t written = pwrite(file, next, size, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Computes and writes rows [first, first + count). */
static bool write_block(const struct work *work, struct workspace *workspace,
                        uint32_t *indices, struct row_range range)
{
    const struct frozen_features_setup *setup = work->setup;
    const struct frozen_features *features = work->features;
    size_t row_size = features->width * sizeof(float);
    for (size_t i = 0; i < range.count; i++)
        indices[i] = (uint32_t)(range.first + i);
    matrix_gather(setup->matrix, workspace_input(workspace),
                  workspace_stride(workspace), indices, range.count);
    workspace_forward_frozen(workspace, setup->parameters, range.count);
    struct rows rows = workspace_frozen_rows(workspace);
    bool good = true;
    for (size_t i = 0; i < range.count && good; i++)
        good = write_all(features->file, rows.data + i * rows.stride, row_size,
                         (off_t)((range.first + i) * row_size));
    return good;
}

static void compute_member(void *context, unsigned member)
{
    struct work *work = context;
    size_t records = (size_t)work->setup->matrix->records;
    struct workspace *workspace = stepper_workspace(work->setup->stepper, member);
    uint32_t *indices = calloc(work->step, sizeof *indices);
    CHECK(indices != NULL);
    for (size_t first; (first = atomic_fetch_add(&work->next, work->step)) < records;) {
        size_t left = records - first;
        struct row_range range = {first, left < work->step ? left : work->step};
        if (cancelled(work->setup) || atomic_load(&work->failed))
            break;
        if (!write_block(work, workspace, indices, range))
            atomic_store(&work->failed, true);
    }
    free(indices);
}

static enum status open_file(struct frozen_features *features, const char *folder,
                             struct error *error)
{
    struct statvfs disk;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/features-XXXXXX", folder);
    if (length <= 0 || (size_t)length >= sizeof path || statvfs(folder, &disk) != 0)
        return error_set(error, ST_IO, "the folder for features cannot be read");
    uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (left / 2 < features->size || left - features->size < disk_left_min)
        return error_set(error, ST_NO_MEMORY, "no room on the disk for features");
    features->file = mkstemp(path);
    if (features->file < 0)
        return error_set(error, ST_IO, "the file of features cannot be made");
    unlink(path);
    return ST_OK;
}

static enum status compute(struct frozen_features *features,
                           const struct frozen_features_setup *setup,
                           struct error *error)
{
    struct work work = {.setup = setup,
                        .features = features,
                        .step = workspace_rows(stepper_workspace(setup->stepper, 0))};
    team_run(setup->team, compute_member, &work);
    if (cancelled(setup))
        return error_set(error, ST_CANCELLED, "cancelled");
    if (atomic_load(&work.failed))
        return error_set(error, ST_IO, "the file of features cannot be written");
    void *map = mmap(NULL, features->size, PROT_READ, MAP_SHARED, features->file, 0);
    if (map == MAP_FAILED)
        return error_set(error, ST_IO, "the file of features cannot be mapped");
    madvise(map, features->size, MADV_DONTDUMP);
    features->rows = map;
    return ST_OK;
}

static bool serve(const struct frozen_features_setup *setup)
{
    const struct train_spec *spec = setup->spec;
    return train_spec_shares_features(spec) && spec->features != FEATURES_STREAMED &&
           setup->folder != NULL && setup->rows->count == 1 &&
           setup->matrix->starts == NULL;
}

enum status frozen_features_create(struct frozen_features **out,
                                   const struct frozen_features_setup *setup,
                                   struct error *error)
{
    if (!serve(setup))
        return ST_OK;
    struct frozen_features *features = calloc(1, sizeof *features);
    CHECK(features != NULL);
    features->file = -1;
    features->width = network_frozen_width(setup->spec->network);
    features->size = features->width * (size_t)setup->matrix->records * sizeof(float);
    enum status status = open_file(features, setup->folder, NULL);
    if (status == ST_OK)
        status = compute(features, setup, NULL);
    if (status != ST_OK) {
        frozen_features_destroy(features);
        return status == ST_CANCELLED ? error_set(error, status, "cancelled") : ST_OK;
    }
    stepper_use_features(setup->stepper,
                         (struct feature_rows){features->rows, features->width});
    *out = features;
    return ST_OK;
}

void frozen_features_destroy(struct frozen_features *features)
{
    if (features == NULL)
        return;
    if (features->rows != NULL)
        munmap(features->rows, features->size);
    if (features->file >= 0)
        close(features->file);
    free(features);
}
