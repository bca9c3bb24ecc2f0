#include "api/http/routes.h"

#include <stdio.h>
#include <string.h>

#include "api/http/request_target.h"
#include "base/check.h"

static const struct route routes[ROUTE_COUNT] = {
#define X(symbol, where, needed, ...)                                                  \
    {.name = #symbol, .run = RUN_##where, .scope = SCOPE_##needed, __VA_ARGS__},
    ROUTE_LIST(X)
#undef X
};

const struct route *route_at(size_t index)
{
    CHECK(index < ROUTE_COUNT);
    return &routes[index];
}

size_t route_index(const struct route *route)
{
    return (size_t)(route - routes);
}

int route_parameter(const struct route *route, const char *name)
{
    const char *next = route->query;
    for (int place = 0; *next != '\0'; place++) {
        size_t size = strcspn(next, " ");
        if (size == strlen(name) && memcmp(next, name, size) == 0)
            return place;
        next += size;
        next += strspn(next, " ");
    }
    return -1;
}

/* Returns whether path matches template; if so, id and name are its parameters.
 * Parameters contain neither / nor : (api.md), so that "{id}:import" and "{name}:fetch"
 * are unambiguous. */
static bool match_template(struct route_match *match, const char *template,
                           const char *path)
{
    match->id[0] = match->name[0] = '\0';
    while (*template != '\0') {
        if (*template != '{') {
            if (*template ++ != *path++)
                return false;
            continue;
        }
        bool is_id = strncmp(template, "{id}", 4) == 0;
        size_t size = strcspn(path, "/:");
        if (size == 0)
            return false;
        if (is_id)
            request_target_decode(match->id, sizeof match->id, path, size);
        else
            request_target_decode(match->name, sizeof match->name, path, size);
        path += size;
        template += strcspn(template, "}") + 1;
    }
    return *path == '\0';
}

static void allow_add(char *allow, size_t room, const char *method)
{
    size_t used = strlen(allow);
    snprintf(allow + used, room - used, "%s%s", used > 0 ? ", " : "", method);
    if (strcmp(method, "GET") == 0)
        allow_add(allow, room, "HEAD");
}

/* Lists the methods of all routes that match path; "" if there are none. */
static void allow_of(char *allow, size_t room, const char *path)
{
    struct route_match unused;
    allow[0] = '\0';
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (match_template(&unused, routes[i].path, path))
            allow_add(allow, room, routes[i].method);
}

enum status route_find(struct route_match *match, const char *method, const char *path,
                       struct error *error)
{
    struct route_match found = {0};
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (strcmp(routes[i].method, wanted) != 0 ||
            !match_template(&found, routes[i].path, path))
            continue;
        found.route = &routes[i];
        *match = found;
        return ST_OK;
    }
    allow_of(found.allow, sizeof found.allow, path);
    if (found.allow[0] == '\0')
        return error_set(error, ST_NOT_FOUND, "no such path");
    memcpy(match->allow, found.allow, sizeof match->allow);
    return error_set(error, ST_METHOD_NOT_ALLOWED, "this path takes %s", found.allow);
}
