#include "api/system_view.h"

#include "api/algorithm_request.h"
#include "api/json_writer.h"
#include "engine/dp/algorithms/registry.h"

char *algorithms_render(void)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_array(&writer, "algorithms");
    for (size_t i = 0; algorithms[i] != NULL; i++)
        algorithm_view_write(&writer, algorithms[i]);
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* These names are of what a client may hold on to for long. The list only ever gains
 * members. */
char *version_render(const char *version, const char *kernel)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "version", version);
    json_write_text(&writer, "api", "v1");
    json_write_text(&writer, "certificate", "epsilond/1");
    json_write_text(&writer, "grid", "g1");
    json_write_text(&writer, "kernel", kernel);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
