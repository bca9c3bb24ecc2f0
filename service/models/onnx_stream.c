#include "service/models/onnx_stream.h"

#include <stdio.h>

#include "api/requests/job_request.h"
#include "api/views/model_view.h"
#include "api/views/onnx_properties.h"
#include "base/check.h"
#include "engine/data/column_ranges.h"
#include "engine/onnx_export.h"
#include "service/datasets/datasets.h"
#include "service/http/reply.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/models/verified_file.h"
#include "service/process/daemon_state.h"

void onnx_stream_tag(char tag[ONNX_TAG_SIZE], const struct model_row *row)
{
    char hex[SHA256_HEX_SIZE];
    sha256_render(hex, row->sha256);
    snprintf(tag, ONNX_TAG_SIZE, "\"%s.onnx-%s\"", hex, EPSILOND_VERSION);
}

static ssize_t pull(void *context, uint64_t position, char *to, size_t room)
{
    struct onnx_export *export = context;
    size_t read = 0;
    if (position == onnx_export_size(export))
        return STREAM_END;
    return onnx_export_read(export, position, to, room, &read, NULL) == ST_OK
               ? (ssize_t)read
               : STREAM_BROKEN;
}

static void close_export(void *context)
{
    onnx_export_close(context);
}

static enum status open_export(struct onnx_export **out, struct daemon_state *context,
                               const struct model_row *row, int file_take,
                               struct error *error)
{
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    const struct job_request *asked = &job_plan(job)->request;
    const struct schema *schema =
        &dataset_spec(datasets_find(context->datasets, asked->dataset.text))->schema;
    struct schema taken;
    struct onnx_properties properties;
    column_ranges_narrow(&taken, &asked->scaling.ranges, schema);
    onnx_properties_init(&properties, row, asked->dataset.text, &asked->train.model,
                         &taken);
    const struct onnx_source source = {
        .file_take = file_take,
        .model = &asked->train.model,
        .schema = &taken,
        .head = {EPSILOND_VERSION, properties.items, properties.count}};
    enum status status = onnx_export_open(out, &source, error);
    onnx_properties_fini(&properties);
    column_ranges_release(&taken, schema);
    return status;
}

/* Opens the model's file, or one whole file if it was written without its body. */
static enum status open_whole(int *file, struct daemon_state *context,
                              const struct model_row *row, struct error *error)
{
    struct certificate_base base;
    struct file_checksum seal;
    if (certificate_base(&base, row))
        return model_parts_merge(file, &seal, context, row, error);
    return models_open_file(context->models, context->blobs, row, CHECK_ANEW, file,
                            error);
}

enum status onnx_stream_open(struct stream *stream, struct daemon_state *context,
                             const struct model_row *row, uint8_t digest[SHA256_SIZE],
                             struct error *error)
{
    struct onnx_export *export = NULL;
    struct error local = {0};
    int file = -1;
    enum status status = job_check(jobs_find_ever(context->jobs, row->job.text), error);
    if (status == ST_OK)
        status = open_whole(&file, context, row, error);
    if (status != ST_OK)
        return status;
    status = open_export(&export, context, row, file, &local);
    if (status == ST_OK)
        status = onnx_export_digest(export, digest, &local);
    if (status != ST_OK) {
        onnx_export_close(export);
        if (status == ST_INVALID)
            return error_set_at(error, status, "?format", "%s", local.text);
        /* A model's file is not part of the ledger: its loss must not look like a
         * corrupt ledger. */
        return error_set(error, ST_MODEL_CORRUPT, "model %s: %s", row->id.text,
                         local.text);
    }
    *stream = (struct stream){.size = onnx_export_size(export),
                              .held = onnx_export_held(export),
                              .pull = pull,
                              .close = close_export,
                              .context = export};
    return ST_OK;
}
