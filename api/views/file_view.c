#include "api/views/file_view.h"

#include "api/json/json_writer.h"

char *file_render(const struct weights_row *row)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", row->id.text);
    json_write_text(&writer, "kind", row->kind);
    json_write_text(&writer, "note", row->note);
    json_write_digest(&writer, "sha256", row->sha256);
    json_write_count(&writer, "size", row->size);
    json_write_text(&writer, "project", row->project);
    json_write_text(&writer, "created_by", row->created_by);
    json_write_time(&writer, "create_time", row->create_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
