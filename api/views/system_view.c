#include "api/views/system_view.h"

#include "api/json/json_writer.h"
#include "api/requests/algorithm_request.h"
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

/* The names are of things that a client may keep for a long time. Members are only ever
 * added to the list. */
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

char *readiness_render(const struct readiness *readiness)
{
    struct json_writer writer;
    bool ready = readiness->writable && !readiness->draining;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "status", ready ? "ok" : "not_ready");
    json_write_text(&writer, "ledger", readiness->writable ? "writable" : "unwritable");
    json_write_text(&writer, "chain", "verified");
    json_write_text(&writer, "disk", readiness->room ? "room" : "full");
    json_write_text(&writer, "draining", readiness->draining ? "yes" : "no");
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void write_jobs(struct json_writer *writer, const struct status_view *view)
{
    json_write_object(writer, "jobs");
    for (size_t i = 0; i < view->state_count; i++)
        json_write_count(writer, view->states[i], view->jobs[i]);
    json_write_object_end(writer);
}

char *status_render(const struct status_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "version", view->version);
    json_write_flag(&writer, "ready", view->ready);
    json_write_flag(&writer, "draining", view->draining);
    write_jobs(&writer, view);
    json_write_object(&writer, "datasets");
    json_write_count(&writer, "private", view->datasets.protected_ones);
    json_write_count(&writer, "public", view->datasets.public_ones);
    json_write_count(&writer, "waiting", view->datasets.waiting);
    json_write_object_end(&writer);
    json_write_count(&writer, "workers", view->workers);
    json_write_object(&writer, "queue");
    json_write_count(&writer, "length", view->queue_length);
    json_write_count(&writer, "limit", view->queue_length_max);
    json_write_object_end(&writer);
    json_write_object(&writer, "ledger");
    json_write_count(&writer, "seq", view->head->seq);
    json_write_digest(&writer, "hash", view->head->hash);
    json_write_object_end(&writer);
    json_write_time(&writer, "start_time", view->start_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
