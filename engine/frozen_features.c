/* Features are computed block by block. Each member of the team takes the next free
 * block, and writes it at the place of its rows. */
#include "engine/frozen_features.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/frozen_prefix.h"
#include "engine/nn/workspace.h"
#include "engine/rounding/small_floats.h"

struct work {
    const struct frozen_features_setup *setup;
    struct feature_file *file;
    size_t step; /* rows of a block */
    atomic_size_t next;
    atomic_bool failed;
};

static bool cancelled(const struct frozen_features_setup *setup)
{
    return setup->cancel != NULL && atomic_load(setup->cancel);
}

/* Computes and writes rows [first, first + count). */
static bool write_block(const struct work *work, struct workspace *workspace,
                        uint32_t *indices, struct row_range range)
{
    const struct frozen_features_setup *setup = work->setup;
    for (size_t i = 0; i < range.count; i++)
        indices[i] = (uint32_t)(range.first + i);
    matrix_gather(setup->matrix, workspace_input(workspace),
                  workspace_stride(workspace), indices, range.count);
    workspace_forward_frozen(workspace, setup->parameters, range.count);
    struct rows rows = workspace_frozen_rows(workspace);
    bool good = true;
    for (size_t i = 0; i < range.count && good; i++)
        good = feature_file_write(work->file, range.first + i,
                                  rows.data + i * rows.stride);
    return good;
}

static void compute_member(void *context, unsigned member)
{
    struct work *work = context;
    size_t records = (size_t)work->setup->matrix->records;
    struct workspace *workspace = stepper_workspace(work->setup->stepper, member);
    uint32_t *indices = calloc(work->step, sizeof *indices);
    CHECK(indices != NULL);
    struct small_floats before = small_floats_drop();
    for (size_t first; (first = atomic_fetch_add(&work->next, work->step)) < records;) {
        size_t left = records - first;
        struct row_range range = {first, left < work->step ? left : work->step};
        if (cancelled(work->setup) || atomic_load(&work->failed))
            break;
        if (!write_block(work, workspace, indices, range))
            atomic_store(&work->failed, true);
    }
    small_floats_restore(before);
    free(indices);
}

static size_t step_of(const struct frozen_features_setup *setup)
{
    return workspace_rows(stepper_workspace(setup->stepper, 0));
}

static enum status compute(struct feature_file *file,
                           const struct frozen_features_setup *setup,
                           struct error *error)
{
    struct work work = {.setup = setup, .file = file, .step = step_of(setup)};
    team_run(setup->team,
             &(struct team_work){.run = compute_member,
                                 .context = &work,
                                 .shares = team_size(setup->team),
                                 .flops = TEAM_FLOPS_MIN}); /* once in a job */
    if (cancelled(setup))
        return error_set(error, ST_CANCELLED, "cancelled");
    if (atomic_load(&work.failed))
        return error_set(error, ST_IO, "the file of features cannot be written");
    return feature_file_map(file, error);
}

static bool asks(const struct frozen_features_setup *setup)
{
    return network_frozen_width(setup->spec->network) > 0 &&
           setup->spec->features != FEATURES_STREAMED && setup->matrix->starts == NULL;
}

bool frozen_features_serve(const struct frozen_features_setup *setup)
{
    return asks(setup) && train_spec_shares_features(setup->spec);
}

bool frozen_features_serve_evaluation(const struct frozen_features_setup *setup)
{
    return asks(setup) && network_unit_rows(setup->spec->network) == 1;
}

static enum status make(struct feature_file **out,
                        const struct frozen_features_setup *setup)
{
    size_t width = network_frozen_width(setup->spec->network);
    size_t records = (size_t)setup->matrix->records;
    struct feature_file *file = NULL;
    enum status status =
        feature_file_create(&file, setup->place.folder, records, width, NULL);
    if (status == ST_OK)
        status = compute(file, setup, NULL);
    if (status == ST_OK)
        *out = file;
    else
        feature_file_let_go(file);
    return status;
}

/* The name of the features in the cache. */
static struct feature_name name_of(const struct frozen_features_setup *setup)
{
    struct feature_name name = {.dataset = setup->place.dataset};
    const struct frozen_prefix prefix = {
        .spec = setup->spec, .parameters = setup->parameters, .matrix = setup->matrix};
    frozen_prefix_digest(&prefix, name.digest);
    return name;
}

enum status frozen_features_make(struct feature_file **out,
                                 const struct frozen_features_setup *setup,
                                 struct error *error)
{
    struct feature_file *file = NULL;
    struct feature_name name = {0};
    if (setup->place.folder == NULL)
        return ST_OK;
    if (setup->place.cache != NULL) {
        name = name_of(setup);
        file = feature_cache_find(setup->place.cache, &name);
    }
    if (file == NULL) {
        enum status status = make(&file, setup);
        if (status == ST_CANCELLED)
            return error_set(error, status, "cancelled");
        if (status == ST_OK && setup->place.cache != NULL)
            feature_cache_keep(setup->place.cache, &name, file);
    }
    if (file != NULL)
        *out = file;
    return ST_OK;
}
