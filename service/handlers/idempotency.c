#include "service/handlers/idempotency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/http/stale_read_retry.h"
#include "service/process/daemon_state.h"
#include "store/rows/idempotency_rows.h"

enum { ROUTE_SIZE = 64 };

static void route_name(const struct request *request, char name[ROUTE_SIZE])
{
    const struct route *route = request->match.route;
    CHECK(route->keyed);
    snprintf(name, ROUTE_SIZE, "%s %s", route->method, route->path);
}

static struct idempotency_name name_of(const struct request *request, const char *route)
{
    return (struct idempotency_name){
        .project = request->caller.principal.project,
        .owner = request->caller.principal.name,
        .route = route,
        .key = request_header(request, "Idempotency-Key"),
    };
}

static enum status fingerprint_of(struct request *request,
                                  uint8_t fingerprint[SHA256_SIZE], struct error *error)
{
    const struct request_line line = {.method = request->method, .path = request->path};
    return body_fingerprint(fingerprint, &line, request_text(request), error);
}

struct finding {
    struct request *request;
    const uint8_t *fingerprint;
    bool found, same, is_gone;
};

static bool visit(void *context, const struct idempotency_row *row)
{
    struct finding *finding = context;
    finding->found = true;
    finding->same = memcmp(row->fingerprint, finding->fingerprint, SHA256_SIZE) == 0;
    finding->is_gone = row->body[0] == '\0';
    if (!finding->same || finding->is_gone)
        return false;
    char *body = strdup(row->body);
    CHECK(body != NULL);
    reply_json(&finding->request->reply, MHD_HTTP_CREATED, body);
    reply_header_add(&finding->request->reply, "Location", "%s", row->location);
    reply_header_add(&finding->request->reply, "Idempotency-Replayed", "true");
    return false;
}

enum status idempotency_find(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    char route[ROUTE_SIZE];
    uint8_t fingerprint[SHA256_SIZE];
    const struct idempotency_name name = name_of(request, route);
    struct finding finding = {.request = request, .fingerprint = fingerprint};
    struct store_tx *tx = NULL;
    enum status status = fingerprint_of(request, fingerprint, error);
    if (status != ST_OK)
        return status;
    route_name(request, route);
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = idempotency_row_find(tx, &name, visit, &finding, error);
    } while (store_again(tx, &status, error));
    if (status == ST_OK && finding.found && !finding.same)
        return error_set(error, ST_IDEMPOTENCY_KEY_REUSED,
                         "this key was used with another body");
    if (status == ST_OK && finding.is_gone)
        return error_set(error, ST_GONE, "what this key made was deleted");
    return status;
}

enum status idempotency_keep(const struct daemon_state *context,
                             struct request *request, struct store_tx *tx,
                             const char *location, const char *body,
                             struct error *error)
{
    char route[ROUTE_SIZE];
    struct idempotency_row row = {
        .name = name_of(request, route),
        .location = location,
        .body = body,
        .time_ms = clock_wall_ms(),
    };
    route_name(request, route);
    enum status status = stale_read_retry_check(context, request, error);
    if (status == ST_OK)
        status = fingerprint_of(request, row.fingerprint, error);
    if (status != ST_OK)
        return status;
    struct error inner = {0};
    status = idempotency_row_insert(tx, &row, &inner);
    if (status ==
        ST_ALREADY_EXISTS) /* another daemon has inserted the row since the lookup */
        return error_set(error, ST_CONFLICT, "a request with this key came first");
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", inner.text);
}
