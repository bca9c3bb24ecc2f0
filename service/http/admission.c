#include "service/http/admission.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <microhttpd.h>

#include "api/http/accept.h"
#include "api/http/query.h"
#include "api/limits.h"
#include "base/access_key.h"
#include "service/config/config.h"
#include "service/config/daemon_role.h"
#include "service/http/field_rules.h"

enum { EMPTY_BODY_MAX = 64 }; /* room for `{}` and blanks */

bool host_is_loopback(const char *value)
{
    char host[64];
    struct in_addr four;
    struct in6_addr six;
    const char *start = value, *end = value + strcspn(value, ":");
    if (value[0] == '[') {
        start = value + 1;
        end = start + strcspn(start, "]");
        if (*end != ']')
            return false;
    }
    const char *port = value[0] == '[' ? end + 1 : end;
    if (*port == ':')
        port += 1 + strspn(port + 1, "0123456789");
    if (*port != '\0' || (size_t)(end - start) >= sizeof host)
        return false;
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool origin_is(const char *origin, const char *scheme, const char *host)
{
    return strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(origin + strlen(scheme), host) == 0;
}

/* Our own origin is our scheme with the Host of the request. Behind a proxy, the scheme
 * is the proxy's. */
static bool origin_is_ours(const char *origin, const char *host,
                           const struct config *config)
{
    if (config->tls_certificate[0] != '\0')
        return origin_is(origin, "https://", host);
    return origin_is(origin, "http://", host) ||
           (config->behind_proxy && origin_is(origin, "https://", host));
}

static enum status check_origin(const struct request *request,
                                const struct config *config, bool asks_for_keys,
                                struct error *error)
{
    const char *host = request_header(request, "Host");
    const char *origin = request_header(request, "Origin");
    if (host == NULL || (!asks_for_keys && !host_is_loopback(host)))
        return error_set(error, ST_FORBIDDEN_ORIGIN,
                         "Host must be a loopback address or localhost");
    if (origin != NULL && !origin_is_ours(origin, host, config))
        return error_set(error, ST_FORBIDDEN_ORIGIN, "a foreign Origin");
    return ST_OK;
}

/* The parameters read so far, and the first failure. */
struct query {
    struct query_seen seen;
    enum status status;
    struct error *error;
};

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind,
                                      const char *name, const char *value)
{
    struct query *query = context;
    (void)kind, (void)value;
    if (query_take(&query->seen, name, query->error) != ST_OK)
        query->status = ST_INVALID;
    return MHD_YES;
}

static enum status check_query(const struct request *request, struct error *error)
{
    struct query query = {.seen = {.route = request->match.route}, .error = error};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND,
                              take_parameter, &query);
    return query.status;
}

/* Clients that are generated from openapi.yaml send only one of the types that a route
 * may answer with, and prefer JSON. If a route's success is not JSON, that leaves the
 * type of its problems. */
static bool asks_for_problems(const char *accept)
{
    return strcasecmp(accept, "application/problem+json") == 0;
}

static enum status check_accept(struct request *request, struct error *error)
{
    const char *types = request->match.route->types;
    const char *accept = request_header(request, "Accept");
    request->type = accept_choose(types, accept);
    if (request->type < 0 && asks_for_problems(accept))
        request->type = 0;
    if (request->type < 0)
        return error_set(error, ST_NOT_ACCEPTABLE, "this route answers in %s", types);
    return ST_OK;
}

/* Returns the type that a body must have, or NULL if any will do. */
static const char *body_type(enum route_body body)
{
    switch (body) {
    case BODY_JSON:
    case BODY_LOGIN:
    case BODY_PREDICT: return "application/json";
    case BODY_PATCH: return "application/merge-patch+json";
    case BODY_NONE:
    case BODY_EMPTY:
    case BODY_OPTIONAL:
    case BODY_FILE:
    case BODY_ROWS: return NULL;
    }
    return NULL;
}

/* Returns whether the header names the type, with any parameters. */
static bool is_type(const char *header, const char *type)
{
    size_t length = strlen(type);
    return header != NULL && strncasecmp(header, type, length) == 0 &&
           (header[length] == '\0' || strchr(" \t;", header[length]) != NULL);
}

bool admission_is_json(const char *type)
{
    return is_type(type, "application/json");
}

/* JSON is UTF-8 (RFC 8259, 8.1), so another charset is refused; a type without charset
 * is taken as UTF-8. */
static bool is_utf8(const char *type)
{
    static const char name[] = "charset=";
    const char *at = type + strcspn(type, ";");
    for (; *at == ';'; at += strcspn(at, ";")) {
        at++;
        at += strspn(at, " \t");
        if (strncasecmp(at, name, strlen(name)) != 0)
            continue;
        const char *set = at + strlen(name);
        set += *set == '"';
        size_t size = strcspn(set, "\"; \t");
        return (size == 5 && strncasecmp(set, "utf-8", size) == 0) ||
               (size == 8 && strncasecmp(set, "us-ascii", size) == 0);
    }
    return true;
}

/* Returns whether the body is an envelope around the file. */
static bool is_envelope(const char *type)
{
    return type != NULL && (strncasecmp(type, "multipart/", 10) == 0 ||
                            strncasecmp(type, "message/", 8) == 0);
}

uint64_t admission_body_max(enum route_body body, const struct config *config)
{
    switch (body) {
    case BODY_NONE: return 0;
    case BODY_EMPTY: return EMPTY_BODY_MAX;
    case BODY_OPTIONAL:
    case BODY_JSON:
    case BODY_PATCH: return LIMIT_JSON_BODY;
    case BODY_LOGIN: return LIMIT_LOGIN_BODY;
    case BODY_PREDICT: return LIMIT_PREDICT_BODY;
    case BODY_FILE:
    case BODY_ROWS: return config->upload_size_max;
    }
    return 0;
}

bool body_is_empty(const char *body, size_t size)
{
    static const char braces[] = "{}";
    size_t found = 0;
    for (size_t i = 0; i < size; i++) {
        bool blank = body[i] != '\0' && strchr(" \t\r\n", body[i]) != NULL;
        if (!blank && (found == 2 || body[i] != braces[found]))
            return false;
        found += !blank;
    }
    return size == 0 || found == 2;
}

static enum status check_body(const struct request *request,
                              const struct config *config, struct error *error)
{
    enum route_body body = request->match.route->body;
    uint64_t max = admission_body_max(body, config);
    const char *type = body_type(body);
    const char *given = request_header(request, "Content-Type");
    if (type != NULL && !is_type(given, type))
        return error_set(error, ST_UNSUPPORTED_MEDIA_TYPE, "the body must be %s", type);
    if (type != NULL && !is_utf8(given))
        return error_set(error, ST_UNSUPPORTED_MEDIA_TYPE, "the body must be UTF-8");
    if (body == BODY_ROWS && given != NULL && !is_utf8(given))
        return error_set(error, ST_UNSUPPORTED_MEDIA_TYPE, "the body must be UTF-8");
    if ((body == BODY_FILE || body == BODY_ROWS) && is_envelope(given))
        return error_set(error, ST_UNSUPPORTED_MEDIA_TYPE,
                         "the body must be the file's own bytes, as curl -T FILE "
                         "sends them, and not a form or a message that contains it");
    const char *length = request_header(request, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > max)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the body may have at most %llu bytes",
                         (unsigned long long)max);
    return ST_OK;
}

static enum status check_key(const struct request *request, struct error *error)
{
    if (!request->match.route->keyed)
        return ST_OK;
    const char *key = request_header(request, "Idempotency-Key");
    size_t length = key != NULL ? strlen(key) : 0;
    bool usable = length > 0 && length <= LIMIT_IDEMPOTENCY_KEY;
    for (size_t i = 0; i < length && usable; i++)
        usable = key[i] >= ' ' && key[i] <= '~';
    if (!usable)
        return error_set(error, ST_IDEMPOTENCY_KEY_MISSING,
                         "this request needs an Idempotency-Key of 1 to %d printable "
                         "ASCII characters",
                         LIMIT_IDEMPOTENCY_KEY);
    return ST_OK;
}

static enum MHD_Result find_key(void *context, enum MHD_ValueKind kind,
                                const char *name, const char *value)
{
    bool *found = context;
    (void)kind, (void)name;
    if (value != NULL && strstr(value, access_key_prefix) != NULL)
        *found = true;
    return *found ? MHD_NO : MHD_YES;
}

static enum status check_no_key(const struct request *request, struct error *error)
{
    bool found = false;
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, find_key,
                              &found);
    if (found)
        return error_set(error, ST_KEY_IN_QUERY,
                         "a key stands in the query, which is kept in histories and "
                         "logs");
    return ST_OK;
}

/* A worker's socket serves only probes and scrapers. */
static enum status check_role(const struct request *request,
                              const struct config *config, struct error *error)
{
    const struct route *route = request->match.route;
    if (daemon_role_answers(config->role) || route->any_host ||
        route->scope == SCOPE_OPS_READ)
        return ST_OK;
    return error_set(error, ST_NOT_FOUND,
                     "this daemon is a worker, which answers probes and metrics alone: "
                     "ask one whose role is api");
}

enum status admission_find(struct request *request, const struct config *config,
                           bool asks_for_keys, struct error *error)
{
    enum status status =
        route_find(&request->match, request->method, request->path, error);
    bool any_host = status == ST_OK && request->match.route->any_host;
    if (!any_host && (status == ST_OK || status == ST_NOT_FOUND ||
                      status == ST_METHOD_NOT_ALLOWED)) {
        struct error foreign = {0};
        if (check_origin(request, config, asks_for_keys, &foreign) != ST_OK) {
            *error = foreign;
            return foreign.status;
        }
    }
    if (status == ST_OK)
        status = check_role(request, config, error);
    return status == ST_OK ? check_no_key(request, error) : status;
}

enum status admission_check(struct request *request, const struct config *config,
                            struct error *error)
{
    enum status status = check_query(request, error);
    if (status == ST_OK)
        status = check_accept(request, error);
    if (status == ST_OK)
        status = field_rules_check(request, error);
    if (status == ST_OK)
        status = check_body(request, config, error);
    if (status == ST_OK)
        status = check_key(request, error);
    return status;
}
