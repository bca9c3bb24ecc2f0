#include "service/ingest/import_inputs.h"

#include <stdio.h>

#include "api/requests/dataset_request.h"
#include "base/check.h"
#include "engine/data/readers/import.h"
#include "service/config/config.h"
#include "service/ingest/upload.h"
#include "service/ingest/upload_kind.h"
#include "service/models/tokenizers.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"

enum status import_inputs_check(struct daemon_state *context,
                                const struct dataset_spec *spec,
                                struct import_failure *failure, struct error *error)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        const struct blob_name name = blob_of_dataset(&spec->id, upload_kinds[i].blob);
        if (!upload_kind_is_of(&upload_kinds[i], &spec->schema))
            continue;
        struct error found = {0};
        enum status status = blob_find(context->blobs, &name, &found);
        if (status == ST_OK)
            continue;
        if (status != ST_NOT_FOUND)
            return error_set(error, status, "%s", found.text);
        import_failure_set(failure, ST_IMPORT_FAILED, "not uploaded");
        snprintf(failure->file, sizeof failure->file, "%s", upload_kinds[i].name);
        return error_set(error, ST_IMPORT_FAILED, "%s", failure->text);
    }
    return ST_OK;
}

/* Borrows the files of the dataset, and fills in their paths. */
static enum status borrow_uploads(const struct daemon_state *context,
                                  const struct dataset_spec *spec,
                                  struct blob_loan loans[SCHEMA_FILES_MAX],
                                  struct import_files *files,
                                  struct import_failure *failure)
{
    for (size_t i = 0; i < schema_file_count(&spec->schema); i++) {
        const struct upload_kind *kind =
            upload_kind_find(&spec->schema, schema_file_name(&spec->schema, i));
        CHECK(kind != NULL);
        struct error error = {0};
        const struct blob_name name = blob_of_dataset(&spec->id, kind->blob);
        loans[i].cancel = &context->import_cancel;
        enum status status = blob_fetch(context->blobs, &loans[i], &name, &error);
        if (status != ST_OK)
            return import_failure_set(failure, status, error.text);
        files->paths[i] = loans[i].path;
    }
    return ST_OK;
}

static void give_back_uploads(const struct daemon_state *context,
                              struct blob_loan loans[SCHEMA_FILES_MAX])
{
    for (size_t i = 0; i < SCHEMA_FILES_MAX; i++)
        blob_give_back(context->blobs, &loans[i]);
}

/* Takes the tokenizer of the column of texts, if there is one. */
static enum status take_tokenizer(struct daemon_state *context,
                                  const struct schema *schema,
                                  const struct tokenizer **tokenizer,
                                  struct import_failure *failure)
{
    const struct column *text = schema_text(schema);
    struct error error = {0};
    if (text == NULL)
        return ST_OK;
    enum status status = tokenizers_take(context, text->text, NULL, tokenizer, &error);
    return status == ST_OK ? ST_OK : import_failure_set(failure, status, error.text);
}

enum status import_inputs_read(struct daemon_state *context,
                               const struct dataset_spec *spec,
                               const struct import_output *output,
                               struct import_result *result,
                               struct import_failure *failure)
{
    struct blob_loan loans[SCHEMA_FILES_MAX] = {{.is_lent = false}};
    struct import import = {
        .schema = &spec->schema,
        .is_private = !spec->is_public,
        .takes_any = output->takes_any,
        .limits = {.unpacked_size_max = context->config->unpacked_size_max,
                   .disk_room = disk_room_left(context->disk_room)},
        .report = output->report,
        .path = output->path,
        .cancel = &context->import_cancel,
    };
    if (import.limits.disk_room == 0)
        return import_failure_set(failure, ST_DISK_FULL, "the disk is nearly full");
    enum status status = borrow_uploads(context, spec, loans, &import.files, failure);
    if (status == ST_OK)
        status = take_tokenizer(context, &spec->schema, &import.tokenizer, failure);
    if (status == ST_OK)
        status = import_run(&import, result, failure);
    tokenizers_give(context, import.tokenizer);
    give_back_uploads(context, loans);
    return status;
}

void import_inputs_remove(struct daemon_state *context, const struct dataset_spec *spec)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        const struct blob_name name = blob_of_dataset(&spec->id, upload_kinds[i].blob);
        if (upload_kind_is_of(&upload_kinds[i], &spec->schema))
            upload_remove(context, &name);
    }
}
