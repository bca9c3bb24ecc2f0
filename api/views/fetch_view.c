#include "api/views/fetch_view.h"

#include "api/json/json_writer.h"

char *fetch_render(const struct fetch_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", view->dataset);
    json_write_text(&writer, "file", view->file);
    json_write_text(&writer, "state", view->state);
    json_write_text(&writer, "result", view->result);
    json_write_count_if(&writer, view->http_status > 0, "status", view->http_status);
    json_write_count(&writer, "bytes", view->bytes);
    json_write_count_if(&writer, view->size > 0, "size", view->size);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_time(&writer, "end_time", view->end_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
