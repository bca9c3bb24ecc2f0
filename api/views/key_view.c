#include "api/views/key_view.h"

#include <stdio.h>

#include "api/http/roles.h"
#include "api/json/json_writer.h"
#include "base/clock.h"

const char *key_state(int64_t now_ms, int64_t expire_ms, int64_t revoke_ms)
{
    if (revoke_ms != 0)
        return "REVOKED";
    return now_ms >= expire_ms ? "EXPIRED" : "ACTIVE";
}

static void write_scopes(struct json_writer *writer, uint64_t scopes)
{
    json_write_array(writer, "scopes");
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
        if ((scopes & SCOPE_BIT(i)) != 0)
            json_write_text(writer, NULL, scope_name((enum scope)i));
    json_write_array_end(writer);
}

/* Writes a day as 2026-01-31, and 0 as null. */
static void write_day(struct json_writer *writer, const char *name, int64_t day)
{
    enum { DAY_LENGTH = 10 };
    char text[CLOCK_TEXT_SIZE];
    clock_render(text, day * 86400000);
    text[DAY_LENGTH] = '\0';
    json_write_text(writer, name, day != 0 ? text : NULL);
}

static void write_proposed(struct json_writer *writer, const struct key_view *view)
{
    if (view->proposed == NULL) {
        json_write_null(writer, "policy_proposed");
        return;
    }
    json_write_object(writer, "policy_proposed");
    key_policy_write(writer, "policy", view->proposed);
    json_write_text(writer, "proposed_by", view->proposed_by);
    json_write_time(writer, "propose_time", view->propose_ms);
    json_write_object_end(writer);
}

char *key_render(const struct key_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    if (view->secret != NULL)
        json_write_text(&writer, "key", view->secret);
    json_write_text(&writer, "id", view->id);
    json_write_text(&writer, "state",
                    key_state(view->now_ms, view->expire_ms, view->revoke_ms));
    json_write_text(&writer, "owner", view->principal->name);
    json_write_text(&writer, "project", view->principal->project);
    json_write_text(&writer, "role", role_name(view->principal->role));
    write_scopes(&writer, view->principal->scopes);
    key_policy_write(&writer, "policy", view->policy);
    write_proposed(&writer, view);
    json_write_time(&writer, "create_time", view->create_ms);
    json_write_time(&writer, "expire_time", view->expire_ms);
    json_write_time(&writer, "revoke_time", view->revoke_ms);
    write_day(&writer, "last_used", view->used_day);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
