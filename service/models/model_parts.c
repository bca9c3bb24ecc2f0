#include "service/models/model_parts.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/views/model_view.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_text.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob_name.h"
#include "store/rows/model_rows.h"

enum status model_parts_find_body(struct blob_name *name, struct file_checksum *seal,
                                  struct daemon_state *context,
                                  const struct model_row *row, struct error *error)
{
    struct certificate_base base;
    char sha256[SHA256_HEX_SIZE];
    if (!certificate_base(&base, row))
        return error_set(error, ST_NOT_FOUND, "its file is whole");
    const struct weights_row *file =
        weight_files_find(context->weight_files, base.file);
    if (file == NULL)
        return error_set(error, ST_CORRUPT, "%s, which has its frozen layers, is gone",
                         base.file);
    sha256_render(sha256, file->sha256);
    if (strcmp(sha256, base.sha256) != 0)
        return error_set(error, ST_CORRUPT, "%s is not the file of its frozen layers",
                         base.file);
    *name = blob_of_weights(&file->id);
    *seal = weights_row_seal(file);
    return ST_OK;
}

static enum status borrow(struct blob_loan *loan, const struct daemon_state *context,
                          const struct blob_name *name, struct error *error)
{
    enum status status = blob_fetch(context->blobs, loan, name, error);
    if (status == ST_NOT_FOUND)
        return error_set(error, ST_CORRUPT, "the file of %s is missing", name->id);
    if (status == ST_IO)
        return error_set(error, ST_INTERNAL, "the store of %s does not answer",
                         name->id);
    return status;
}

enum status model_parts_borrow(struct model_parts *parts, struct daemon_state *context,
                               const struct model_row *row, struct error *error)
{
    struct blob_name name = blob_of_model(&row->id);
    struct error local = {0};
    parts->seal = model_row_seal(row);
    parts->body.path = parts->other.path;
    parts->other.cancel = parts->own.cancel;
    enum status status = borrow(&parts->own, context, &name, error);
    if (status != ST_OK)
        return status;
    status = model_parts_find_body(&name, &parts->body.seal, context, row, &local);
    if (status == ST_NOT_FOUND)
        return ST_OK;
    if (status != ST_OK)
        return error_set(error, status, "%s", local.text);
    parts->has_body = true;
    return borrow(&parts->other, context, &name, error);
}

void model_parts_give_back(struct model_parts *parts,
                           const struct daemon_state *context)
{
    blob_give_back(context->blobs, &parts->own);
    blob_give_back(context->blobs, &parts->other);
}

struct model_source model_parts_files(const struct model_parts *parts,
                                      const struct daemon_state *context)
{
    return (struct model_source){.path = parts->own.path,
                                 .seal = &parts->seal,
                                 .body = parts->has_body ? &parts->body : NULL,
                                 .bodies = context->bodies};
}

bool model_parts_need(struct daemon_state *context, const char *file)
{
    struct certificate_base base;
    for (size_t i = models_count(context->models); i-- > 0;) {
        const struct model_row *row = models_at(context->models, i);
        if (!model_is_removed(context->models, row) && certificate_base(&base, row) &&
            strcmp(base.file, file) == 0)
            return true;
    }
    return false;
}

/* --- one whole file --- */

static enum status read_whole(struct model_values *values, struct network **network,
                              struct daemon_state *context, const struct model_row *row,
                              const struct model_text *text, struct error *error)
{
    struct model_parts parts = {.has_body = false};
    struct data_shape data = schema_shape(&text->schema);
    struct network_shape shape = {.features = data.features,
                                  .outputs =
                                      model_spec_outputs(text->model, data.classes)};
    enum status status = network_create(network, text->model, shape, error);
    if (status != ST_OK)
        return status;
    status = model_parts_borrow(&parts, context, row, error);
    if (status == ST_OK) {
        struct model_source files = model_parts_files(&parts, context);
        files.bodies = NULL; /* reads the file, so that damage is found */
        status = model_values_open(values, &files, *network, error);
    }
    model_parts_give_back(&parts, context);
    return status;
}

/* Writes a draft, opens it and removes its name. */
static enum status write_whole(int *file, struct file_checksum *seal,
                               struct daemon_state *context,
                               const struct model_row *row,
                               const struct model_content *content, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct blob_draft draft;
    const struct blob_name name = blob_of_model(&row->id);
    int made;
    enum status status = blob_draft_create(context->blobs, &draft, &name, &made, error);
    if (status != ST_OK)
        return error_set(error, ST_INTERNAL, "the whole file cannot be written");
    close(made);
    blob_draft_path(context->blobs, path, &draft);
    status = model_file_write(path, content, seal, error);
    *file = status == ST_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    blob_discard(context->blobs, &draft);
    if (*file < 0)
        return error_set(error, ST_INTERNAL, "the whole file cannot be written");
    return ST_OK;
}

enum status model_parts_merge(int *file, struct file_checksum *seal,
                              struct daemon_state *context, const struct model_row *row,
                              struct error *error)
{
    struct network *network = NULL;
    struct model_values values = {NULL};
    struct model_text text;
    struct error local = {0};
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    enum status status = job_check(job, error);
    if (status != ST_OK)
        return status;
    model_text_init(&text, context, &job_plan(job)->request, row->card, NULL);
    status = read_whole(&values, &network, context, row, &text, &local);
    if (status == ST_OK) {
        const struct model_content content = {
            .network = network, .parameters = values.floats, .metadata = text.metadata};
        status = write_whole(file, seal, context, row, &content, &local);
    }
    model_values_close(&values);
    network_destroy(network);
    model_text_fini(&text);
    if (status == ST_OK)
        return ST_OK;
    if (status == ST_IO || status == ST_CORRUPT || status == ST_INVALID)
        status = ST_MODEL_CORRUPT;
    return error_set(error, status, "model %s: %s", row->id.text, local.text);
}
