/*
 * routes.h - every route of the contract, once: method, path, scope, what body and
 * which query parameters it takes, in which types it answers. openapi.yaml and this table
 * are compared by a test in both directions.
 *
 * Templates hold at most one parameter, "{id}", and a file name as a second, "{name}".
 */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define QUERY_PAGE "page_size page_token"
#define TYPE_JSON  "application/json"

#define ROUTE_LIST(X)                                                                  \
    X(DATASET_CREATE, "POST", "/v1/datasets", "datasets:admin", BODY_JSON, "",         \
      TYPE_JSON)                                                                       \
    X(DATASET_LIST, "GET", "/v1/datasets", "budgets:read", BODY_NONE, QUERY_PAGE,      \
      TYPE_JSON)                                                                       \
    X(DATASET_GET, "GET", "/v1/datasets/{id}", "budgets:read", BODY_NONE, "",          \
      TYPE_JSON)                                                                       \
    X(DATASET_DELETE, "DELETE", "/v1/datasets/{id}", "datasets:admin", BODY_NONE, "",  \
      "")                                                                              \
    X(DATASET_FILE_PUT, "PUT", "/v1/datasets/{id}/files/{name}", "datasets:admin",     \
      BODY_FILE, "", "")                                                               \
    X(DATASET_IMPORT, "POST", "/v1/datasets/{id}:import", "datasets:admin",            \
      BODY_EMPTY, "", TYPE_JSON)                                                       \
    X(DATASET_IMPORT_GET, "GET", "/v1/datasets/{id}/import", "datasets:admin",         \
      BODY_NONE, "", TYPE_JSON)                                                        \
    X(DATASET_BUDGET, "GET", "/v1/datasets/{id}/budget", "budgets:read", BODY_NONE,    \
      "", TYPE_JSON)                                                                   \
    X(DATASET_LEDGER, "GET", "/v1/datasets/{id}/ledger", "budgets:audit", BODY_NONE,   \
      QUERY_PAGE, TYPE_JSON " application/x-ndjson")                                   \
    X(LEDGER_HEAD, "GET", "/v1/ledger/head", "budgets:read", BODY_NONE, "", TYPE_JSON) \
    X(JOB_ESTIMATE, "POST", "/v1/jobs:estimate", "jobs:submit", BODY_JSON, "runs",     \
      TYPE_JSON)                                                                       \
    X(JOB_CREATE, "POST", "/v1/jobs", "jobs:submit", BODY_JSON, "", TYPE_JSON)         \
    X(JOB_LIST, "GET", "/v1/jobs", "jobs:read", BODY_NONE,                             \
      "state dataset " QUERY_PAGE, TYPE_JSON)                                          \
    X(JOB_GET, "GET", "/v1/jobs/{id}", "jobs:read", BODY_NONE, "wait", TYPE_JSON)      \
    X(JOB_CANCEL, "POST", "/v1/jobs/{id}:cancel", "jobs:cancel", BODY_EMPTY, "",       \
      TYPE_JSON)                                                                       \
    X(MODEL_LIST, "GET", "/v1/models", "models:read", BODY_NONE, QUERY_PAGE,           \
      TYPE_JSON)                                                                       \
    X(MODEL_GET, "GET", "/v1/models/{id}", "models:read", BODY_NONE, "", TYPE_JSON)    \
    X(MODEL_CONTENT, "GET", "/v1/models/{id}/content", "models:read", BODY_NONE, "",   \
      "application/octet-stream")                                                      \
    X(MODEL_PREDICT, "POST", "/v1/models/{id}/predict", "models:read", BODY_PREDICT,   \
      "", TYPE_JSON)                                                                   \
    X(ALGORITHM_LIST, "GET", "/v1/algorithms", "", BODY_NONE, "", TYPE_JSON)           \
    X(OPENAPI, "GET", "/openapi.yaml", "", BODY_NONE, "", "application/yaml")          \
    X(VERSION, "GET", "/v1/version", "", BODY_NONE, "", TYPE_JSON)                     \
    X(LIVEZ, "GET", "/livez", "", BODY_NONE, "", TYPE_JSON)                            \
    X(READYZ, "GET", "/readyz", "", BODY_NONE, "", TYPE_JSON)

enum route_body {
    BODY_NONE,    /* a body is refused */
    BODY_EMPTY,   /* none, an empty one, or {} */
    BODY_JSON,    /* application/json up to LIMIT_JSON_BODY */
    BODY_PREDICT, /* application/json up to LIMIT_PREDICT_BODY */
    BODY_FILE,    /* any type, streamed to a file */
};

enum route {
#define X(symbol, method, path, scope, body, query, types) ROUTE_##symbol,
    ROUTE_LIST(X)
#undef X
        ROUTE_COUNT
};

struct route_info {
    const char *method, *path, *scope;
    enum route_body body;
    const char *query; /* names of parameters, a blank between them; "": none */
    const char *types; /* of answers of 200, likewise, the preferred first; "": 204 */
};

const struct route_info *route_info(enum route route);

/* The place of a parameter's name among those of the route's row, from 0; -1 if it is not
 * there. */
int route_parameter(enum route route, const char *name);

struct route_match {
    enum route route;
    char id[64]; /* value of {id}; "" if the route has none or it is too long for one */
    char name[64];  /* value of {name}, likewise */
    char allow[64]; /* of ST_METHOD_NOT_ALLOWED: those of the path, "GET, POST" */
};

/* HEAD matches GET. path is as it came (api/request_target.h), without its query: what of
 * it is encoded is decoded in id and name, and nowhere means a / or : of the template.
 *   ST_NOT_FOUND           no route has this path
 *   ST_METHOD_NOT_ALLOWED  the path exists; match->allow, and nothing else of match, is
 *                          set */
enum status route_find(struct route_match *match, const char *method, const char *path,
                       struct error *error);

#endif
