#include "service/request.h"

#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "base/check.h"

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct lookup {
    const char *name, *value;
};

static enum MHD_Result match_argument(void *context, enum MHD_ValueKind kind,
                                      const char *key, const char *value)
{
    struct lookup *lookup = context;
    (void)kind;
    if (strcmp(key, lookup->name) != 0)
        return MHD_YES;
    lookup->value = value != NULL ? value : "";
    return MHD_NO;
}

const char *request_query(const struct request *request, const char *name)
{
    struct lookup lookup = {.name = name};
    CHECK(route_parameter(request->match.route, name) >= 0);
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND,
                              match_argument, &lookup);
    return lookup.value;
}

void request_fini(struct request *request)
{
    reply_fini(&request->reply);
    free(request->body);
    request->body = NULL;
}
