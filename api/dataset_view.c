#include "api/dataset_view.h"

#include <stdio.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/json_writer.h"

char *dataset_render(const struct dataset_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    dataset_spec_write(&writer, view->spec);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "reason", view->reason);
    json_write_count_if(&writer, view->records > 0, "records", view->records);
    json_write_count_if(&writer, view->size > 0, "size", view->size);
    json_write_digest(&writer, "sha256", view->spec->is_public ? view->sha256 : NULL);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_time(&writer, "import_time", view->import_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *dataset_detail_render(const struct dataset_detail *detail)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "records", detail->records);
    json_write_count(&writer, "size", detail->size);
    json_write_text(&writer, "reason", detail->reason);
    json_write_count(&writer, "import_ms", (uint64_t)detail->import_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error)
{
    struct dataset_detail read = {0};
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, text, strlen(text), error) == ST_OK) {
        read.records = json_read_count(json_member(&root, "records"), 0, INT64_MAX);
        read.size = json_read_count(json_member(&root, "size"), 0, INT64_MAX);
        snprintf(read.reason, sizeof read.reason, "%s",
                 json_read_text(json_member(&root, "reason")));
        read.import_ms =
            (int64_t)json_read_count(json_member(&root, "import_ms"), 0, INT64_MAX);
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *detail = read;
    return status;
}
