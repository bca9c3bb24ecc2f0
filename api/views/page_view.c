#include "api/views/page_view.h"

#include "api/json/json_writer.h"

char *page_render(const char *name, char *const *items, size_t count, const char *token)
{
    return page_render_archived(name, items, count, token, 0);
}

char *page_render_archived(const char *name, char *const *items, size_t count,
                           const char *token, uint64_t archived_to)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_array(&writer, name);
    for (size_t i = 0; i < count; i++)
        json_write_raw(&writer, NULL, items[i]);
    json_write_array_end(&writer);
    json_write_text(&writer, "next_page_token", token);
    if (archived_to > 0)
        json_write_count(&writer, "archived_to", archived_to);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
