#include "api/requests/webhook_event.h"

#include <string.h>

#include "api/json/json_writer.h"

enum { MS_PER_S = 1000 };

static const char *const names[] = {
#define X(symbol, name) name,
    WEBHOOK_EVENT_LIST(X)
#undef X
};

const char *webhook_event_name(enum webhook_event_type type)
{
    return names[type];
}

bool webhook_event_parse(enum webhook_event_type *type, const char *text)
{
    for (unsigned i = 0; i < EVENT_TEST; i++) {
        if (strcmp(names[i], text) == 0) {
            *type = (enum webhook_event_type)i;
            return true;
        }
    }
    return false;
}

char *webhook_event_render(const struct webhook_event *event)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "type", names[event->type]);
    json_write_time(&writer, "timestamp", event->second * MS_PER_S);
    json_write_text(&writer, "id", event->id);
    json_write_text(&writer, "state", event->state);
    if (event->type == EVENT_BUDGET_LOW)
        json_write_real(&writer, "left", event->left);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
