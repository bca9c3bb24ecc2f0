#include "api/views/webhook_view.h"

#include <stdio.h>
#include <string.h>

static void write_secret(struct json_writer *writer, const uint8_t *secret)
{
    static const char prefix[] = "whsec_";
    char text[sizeof prefix + SHA256_BASE64_SIZE];
    memcpy(text, prefix, sizeof prefix);
    sha256_render_base64(text + strlen(prefix), secret);
    json_write_text(writer, "secret", text);
    hash_zero(text, sizeof text);
}

/* Writes the blank-separated names as an array. */
static void write_events(struct json_writer *writer, const char *names)
{
    enum { NAME_SIZE = 32 };
    json_write_array(writer, "events");
    while (*names != '\0') {
        char name[NAME_SIZE];
        size_t size = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)size, names);
        json_write_text(writer, NULL, name);
        names += size;
        names += strspn(names, " ");
    }
    json_write_array_end(writer);
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

void webhook_write(struct json_writer *writer, const char *name,
                   const struct webhook_row *row, const uint8_t *secret)
{
    json_write_object(writer, name);
    json_write_text(writer, "id", row->id.text);
    json_write_text(writer, "url", row->url);
    write_events(writer, row->events);
    json_write_text(writer, "dataset", or_null(row->dataset));
    json_write_text(writer, "state", row->state);
    json_write_text(writer, "state_reason", or_null(row->reason));
    json_write_time(writer, "failing_since", row->failing_ms);
    json_write_time(writer, "create_time", row->create_ms);
    if (secret != NULL)
        write_secret(writer, secret);
    json_write_object_end(writer);
}

char *webhook_render(const struct webhook_row *row, const uint8_t *secret)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    webhook_write(&writer, NULL, row, secret);
    return json_writer_close(&writer);
}

void delivery_write(struct json_writer *writer, const char *name,
                    const struct delivery_row *row)
{
    json_write_object(writer, name);
    json_write_text(writer, "id", row->id.text);
    json_write_text(writer, "type", row->type);
    json_write_text(writer, "state", row->state);
    json_write_count(writer, "attempts", row->attempts);
    json_write_text(writer, "result", or_null(row->result));
    json_write_count_if(writer, row->http_status > 0, "status", row->http_status);
    json_write_time(writer, "create_time", row->create_ms);
    json_write_time(writer, "attempt_time", row->attempts > 0 ? row->update_ms : 0);
    json_write_time(writer, "next_attempt_time",
                    strcmp(row->state, "WAITING") == 0 ? row->next_ms : 0);
    json_write_object_end(writer);
}
