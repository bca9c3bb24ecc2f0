#include "api/views/login_view.h"

#include "api/http/roles.h"
#include "api/json/json_writer.h"

char *login_render(const struct login_view *view)
{
    const struct principal *principal = view->principal;
    bool is_somebody = principal->role != ROLE_NOBODY;
    uint64_t scopes = principal_scopes(principal);
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_flag(&writer, "authenticated", is_somebody);
    json_write_text(&writer, "name", is_somebody ? principal->name : NULL);
    json_write_text(&writer, "project", is_somebody ? principal->project : NULL);
    json_write_text(&writer, "role", is_somebody ? role_name(principal->role) : NULL);
    json_write_array(&writer, "scopes");
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++)
        if ((scopes & SCOPE_BIT(i)) != 0)
            json_write_text(&writer, NULL, scope_name((enum scope)i));
    json_write_array_end(&writer);
    json_write_text(&writer, "via", is_somebody ? via_name(principal->via) : NULL);
    json_write_text(&writer, "key", principal->key[0] != '\0' ? principal->key : NULL);
    json_write_time(&writer, "expire_time", view->expire_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
