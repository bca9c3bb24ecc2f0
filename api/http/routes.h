/*
 * routes.h - every route of the API contract, a row each. Everything that differs from
 * route to route is in the row; only the row and the route's functions
 * (service/handlers/handlers.h) name a route.
 *
 * Three files define a route: its row here; its functions, which
 * service/handlers/handlers.h declares from the row, in one of service/..._handlers.c;
 * and its operation in openapi.yaml, which tests compare with the row in both
 * directions.
 *
 * Pure.
 */
#ifndef API_HTTP_ROUTES_H
#define API_HTTP_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/roles.h"
#include "base/status.h"

#define QUERY_PAGE  "page_size page_token"
#define TYPE_JSON   "application/json"
#define TYPE_EVENTS "text/event-stream"

/* A row is X(name, run, scope, members...): the operationId of openapi.yaml, an enum
 * route_run and an enum scope (api/http/roles.h) without their prefixes, and members of
 * struct route. A member that a row does not set is "", false or BODY_NONE. A row
 * without a scope does not compile. */
/* clang-format off */
#define ROUTE_LIST(X)                                                                  \
    X(dataset_create, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "POST",                \
      .path = "/v1/datasets", .act = "dataset.create", .keyed = true,                  \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(dataset_check, ON_COLD_READ_POOL, DATASETS_ADMIN, .method = "POST",              \
      .path = "/v1/datasets:check", .body = BODY_JSON, .types = TYPE_JSON)             \
    X(dataset_list, AT_ONCE, BUDGETS_READ, .method = "GET", .path = "/v1/datasets",    \
      .query = "view q tag state privacy order_by order " QUERY_PAGE,                  \
      .types = TYPE_JSON)                                                              \
    X(dataset_get, AT_ONCE, BUDGETS_READ, .method = "GET",                             \
      .path = "/v1/datasets/{id}", .types = TYPE_JSON)                                 \
    X(dataset_put, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "PUT",                    \
      .path = "/v1/datasets/{id}", .act = "dataset.create", .body = BODY_JSON,         \
      .types = TYPE_JSON)                                                              \
    X(dataset_patch, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "PATCH",                \
      .path = "/v1/datasets/{id}", .act = "dataset.rename", .body = BODY_PATCH,        \
      .types = TYPE_JSON)                                                              \
    X(dataset_delete, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "DELETE",              \
      .path = "/v1/datasets/{id}", .act = "dataset.delete")                            \
    X(dataset_file_put, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "PUT",               \
      .path = "/v1/datasets/{id}/files/{name}", .act = "dataset.upload",               \
      .body = BODY_FILE)                                                               \
    X(dataset_file_get, ON_COLD_READ_POOL, DATASETS_ADMIN, .method = "GET",            \
      .path = "/v1/datasets/{id}/files/{name}", .types = TYPE_JSON)                    \
    X(dataset_file_fetch, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "POST",            \
      .path = "/v1/datasets/{id}/files/{name}:fetch", .act = "dataset.fetch",          \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(dataset_fetch_get, AT_ONCE, DATASETS_ADMIN, .method = "GET",                     \
      .path = "/v1/datasets/{id}/files/{name}/fetch", .types = TYPE_JSON)              \
    X(dataset_fetch_delete, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "DELETE",        \
      .path = "/v1/datasets/{id}/files/{name}/fetch", .act = "dataset.fetch_cancel")   \
    X(dataset_regrant, ON_WRITE_QUEUE, GRANTS_PROPOSE, .method = "POST",               \
      .path = "/v1/datasets/{id}:regrant", .act = "dataset.regrant",                   \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(dataset_import, ON_WRITE_QUEUE_THEN_LONG_POLL, DATASETS_ADMIN, .method = "POST", \
      .path = "/v1/datasets/{id}:import", .act = "dataset.import",                     \
      .body = BODY_OPTIONAL, .types = TYPE_JSON)                                       \
    X(dataset_import_get, AT_ONCE, DATASETS_ADMIN, .method = "GET",                    \
      .path = "/v1/datasets/{id}/import", .types = TYPE_JSON)                          \
    X(dataset_budget, AT_ONCE, BUDGETS_READ, .method = "GET",                          \
      .path = "/v1/datasets/{id}/budget", .types = TYPE_JSON)                          \
    X(dataset_budget_history, ON_COLD_READ_POOL, BUDGETS_READ, .method = "GET",        \
      .path = "/v1/datasets/{id}/budget/history", .query = "points part",              \
      .types = TYPE_JSON)                                                              \
    X(dataset_ledger, ON_COLD_READ_POOL, BUDGETS_AUDIT, .method = "GET",               \
      .path = "/v1/datasets/{id}/ledger", .query = QUERY_PAGE " order view",           \
      .streamed = true, .types = TYPE_JSON " application/x-ndjson")                    \
    X(ledger_head, AT_ONCE, BUDGETS_READ, .method = "GET", .path = "/v1/ledger/head",  \
      .types = TYPE_JSON)                                                              \
    X(job_schema, ON_COLD_READ_POOL, JOBS_SUBMIT, .method = "GET",                     \
      .path = "/v1/job-schema",                                                        \
      .query = "dataset", .types = TYPE_JSON)                                          \
    X(job_estimate, ON_PRICERS, JOBS_SUBMIT, .method = "POST",                         \
      .path = "/v1/jobs:estimate", .body = BODY_JSON, .query = "runs",                 \
      .types = TYPE_JSON)                                                              \
    X(job_create, ON_WRITE_QUEUE_PRICED, JOBS_SUBMIT, .method = "POST",                \
      .path = "/v1/jobs",                                                              \
      .act = "job.create", .keyed = true, .together = true, .body = BODY_JSON,         \
      .types = TYPE_JSON)                                                              \
    X(job_list, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/jobs",               \
      .query = "view q tag state dataset algorithm created_by created_after order_by " \
               "order " QUERY_PAGE,                                                    \
      .types = TYPE_JSON)                                                              \
    X(job_get, AS_LONG_POLL, JOBS_READ, .method = "GET", .path = "/v1/jobs/{id}",      \
      .query = "wait", .types = TYPE_JSON, .timed = true)                              \
    X(job_patch, ON_WRITE_QUEUE, JOBS_EDIT, .method = "PATCH",                         \
      .path = "/v1/jobs/{id}",                                                         \
      .act = "job.rename", .body = BODY_PATCH, .types = TYPE_JSON)                     \
    X(job_delete, ON_WRITE_QUEUE, JOBS_EDIT, .method = "DELETE",                       \
      .path = "/v1/jobs/{id}",                                                         \
      .act = "job.delete")                                                             \
    X(job_logs, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/jobs/{id}/logs",     \
      .query = QUERY_PAGE " order", .streamed = true,                                  \
      .types = TYPE_JSON " application/x-ndjson")                                      \
    X(job_cancel, ON_WRITE_QUEUE, JOBS_CANCEL, .method = "POST",                       \
      .path = "/v1/jobs/{id}:cancel", .act = "job.cancel", .body = BODY_EMPTY,         \
      .types = TYPE_JSON)                                                              \
    X(job_events, AT_ONCE, JOBS_READ, .method = "GET",                                 \
      .path = "/v1/jobs/{id}/events", .query = "histograms", .streamed = true,         \
      .types = TYPE_EVENTS)                                                            \
    X(events, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/events",               \
      .query = "dataset", .streamed = true, .types = TYPE_EVENTS)                      \
    X(statistics_estimate, ON_PRICERS, JOBS_SUBMIT, .method = "POST",                  \
      .path = "/v1/statistics:estimate", .body = BODY_JSON, .types = TYPE_JSON)        \
    X(statistics_create, ON_WRITE_QUEUE, JOBS_SUBMIT, .method = "POST",                \
      .path = "/v1/statistics", .act = "statistics.create", .keyed = true,             \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(statistics_list, ON_COLD_READ_POOL, JOBS_READ, .method = "GET",                  \
      .path = "/v1/statistics",                                                        \
      .query = "dataset order " QUERY_PAGE, .types = TYPE_JSON)                        \
    X(statistics_get, ON_COLD_READ_POOL, JOBS_READ, .method = "GET",                   \
      .path = "/v1/statistics/{id}", .types = TYPE_JSON)                               \
    X(charge_create, ON_WRITE_QUEUE_PRICED, CHARGES_SUBMIT, .method = "POST",          \
      .path = "/v1/charges", .act = "charge.create", .keyed = true, .body = BODY_JSON, \
      .types = TYPE_JSON)                                                              \
    X(charge_estimate, ON_PRICERS, CHARGES_SUBMIT, .method = "POST",                   \
      .path = "/v1/charges:estimate", .body = BODY_JSON, .types = TYPE_JSON)           \
    X(charge_list, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/charges",         \
      .query = "dataset state order " QUERY_PAGE, .types = TYPE_JSON)                  \
    X(charge_get, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/charges/{id}",     \
      .types = TYPE_JSON)                                                              \
    X(charge_block, ON_WRITE_QUEUE, CHARGES_SUBMIT, .method = "POST",                  \
      .path = "/v1/charges/{id}/blocks", .act = "charge.authorise", .keyed = true,     \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(charge_settle, ON_WRITE_QUEUE, CHARGES_SUBMIT, .method = "POST",                 \
      .path = "/v1/charges/{id}:settle", .act = "charge.settle", .body = BODY_EMPTY,   \
      .types = TYPE_JSON)                                                              \
    X(sweep_create, ON_WRITE_QUEUE_PRICED, JOBS_SUBMIT, .method = "POST",              \
      .path = "/v1/sweeps",                                                            \
      .act = "sweep.create", .keyed = true, .body = BODY_JSON, .types = TYPE_JSON)     \
    X(sweep_estimate, ON_PRICERS, JOBS_SUBMIT, .method = "POST",                       \
      .path = "/v1/sweeps:estimate", .body = BODY_JSON, .types = TYPE_JSON)            \
    X(sweep_list, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/sweeps",           \
      .query = "dataset order " QUERY_PAGE, .types = TYPE_JSON)                        \
    X(sweep_get, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/sweeps/{id}",       \
      .types = TYPE_JSON)                                                              \
    X(sweep_cancel, ON_WRITE_QUEUE, JOBS_CANCEL, .method = "POST",                     \
      .path = "/v1/sweeps/{id}:cancel", .act = "sweep.cancel", .body = BODY_EMPTY,     \
      .types = TYPE_JSON)                                                              \
    X(sweep_delete, ON_WRITE_QUEUE, JOBS_EDIT, .method = "DELETE",                     \
      .path = "/v1/sweeps/{id}", .act = "sweep.delete")                                \
    X(model_list, AT_ONCE, CERTIFICATES_READ, .method = "GET", .path = "/v1/models",   \
      .query = "q tag dataset job order_by order " QUERY_PAGE, .types = TYPE_JSON)              \
    X(model_get, AT_ONCE, CERTIFICATES_READ, .method = "GET",                          \
      .path = "/v1/models/{id}", .types = TYPE_JSON)                                   \
    X(model_patch, ON_WRITE_QUEUE, MODELS_EDIT, .method = "PATCH",                     \
      .path = "/v1/models/{id}", .act = "model.rename", .body = BODY_PATCH,            \
      .types = TYPE_JSON)                                                              \
    X(model_delete, ON_WRITE_QUEUE, MODELS_EDIT, .method = "DELETE",                   \
      .path = "/v1/models/{id}", .act = "model.delete")                                \
    X(model_content, ON_COST_QUEUE, MODELS_READ, .method = "GET",                      \
      .path = "/v1/models/{id}/content", .act = "model.download", .query = "format merged",   \
      .streamed = true, .types = "application/octet-stream")                           \
    X(model_predict, ON_COST_QUEUE, MODELS_READ, .method = "POST",                     \
      .path = "/v1/models/{id}/predict", .body = BODY_PREDICT, .types = TYPE_JSON)     \
    X(model_predict_file, ON_FILE_PREDICTORS, MODELS_READ, .method = "POST",           \
      .path = "/v1/models/{id}:predict-file", .body = BODY_ROWS, .streamed = true,     \
      .types = "text/csv")                                                             \
    X(model_evaluate, ON_WRITE_QUEUE, JOBS_SUBMIT, .method = "POST",                   \
      .path = "/v1/models/{id}:evaluate", .act = "model.evaluate", .keyed = true,      \
      .body = BODY_JSON, .types = TYPE_JSON)                                           \
    X(model_estimate, ON_PRICERS, JOBS_SUBMIT, .method = "POST",                       \
      .path = "/v1/models/{id}:estimate", .body = BODY_JSON, .types = TYPE_JSON)       \
    X(evaluation_list, ON_COLD_READ_POOL, JOBS_READ, .method = "GET",                  \
      .path = "/v1/evaluations", .query = "dataset model order " QUERY_PAGE,           \
      .types = TYPE_JSON)                                                              \
    X(evaluation_get, ON_COLD_READ_POOL, JOBS_READ, .method = "GET",                   \
      .path = "/v1/evaluations/{id}", .types = TYPE_JSON)                              \
    X(file_create, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "POST",                   \
      .path = "/v1/files",                                                             \
      .query = "kind note", .act = "file.create", .body = BODY_FILE, .types = TYPE_JSON)    \
    X(file_list, AT_ONCE, CERTIFICATES_READ, .method = "GET", .path = "/v1/files",     \
      .query = QUERY_PAGE, .types = TYPE_JSON)                                         \
    X(file_get, AT_ONCE, CERTIFICATES_READ, .method = "GET", .path = "/v1/files/{id}", \
      .types = TYPE_JSON)                                                              \
    X(file_delete, ON_WRITE_QUEUE, DATASETS_ADMIN, .method = "DELETE",                 \
      .path = "/v1/files/{id}", .act = "file.delete")                                  \
    X(webhook_create, ON_WRITE_QUEUE, WEBHOOKS_ADMIN, .method = "POST",                \
      .path = "/v1/webhooks", .act = "webhook.create", .body = BODY_JSON,              \
      .types = TYPE_JSON)                                                              \
    X(webhook_list, AT_ONCE, WEBHOOKS_ADMIN, .method = "GET", .path = "/v1/webhooks",  \
      .types = TYPE_JSON)                                                              \
    X(webhook_get, AT_ONCE, WEBHOOKS_ADMIN, .method = "GET",                           \
      .path = "/v1/webhooks/{id}", .types = TYPE_JSON)                                 \
    X(webhook_delete, ON_WRITE_QUEUE, WEBHOOKS_ADMIN, .method = "DELETE",              \
      .path = "/v1/webhooks/{id}", .act = "webhook.delete")                            \
    X(webhook_deliveries, ON_COLD_READ_POOL, WEBHOOKS_ADMIN, .method = "GET",          \
      .path = "/v1/webhooks/{id}/deliveries", .types = TYPE_JSON)                      \
    X(webhook_test, ON_WRITE_QUEUE, WEBHOOKS_ADMIN, .method = "POST",                  \
      .path = "/v1/webhooks/{id}:test", .act = "webhook.test", .body = BODY_EMPTY,     \
      .types = TYPE_JSON)                                                              \
    X(webhook_rotate, ON_WRITE_QUEUE, WEBHOOKS_ADMIN, .method = "POST",                \
      .path = "/v1/webhooks/{id}:rotate", .act = "webhook.rotate", .body = BODY_EMPTY, \
      .types = TYPE_JSON)                                                              \
    X(status, AT_ONCE, JOBS_READ, .method = "GET", .path = "/v1/status",               \
      .types = TYPE_JSON)                                                              \
    X(key_create, ON_WRITE_QUEUE, KEYS_ADMIN, .method = "POST", .path = "/v1/keys",    \
      .act = "key.create", .body = BODY_JSON, .types = TYPE_JSON)                      \
    X(key_list, AT_ONCE, KEYS_ADMIN, .method = "GET", .path = "/v1/keys",              \
      .query = "order " QUERY_PAGE, .types = TYPE_JSON)                                \
    X(key_get, AT_ONCE, KEYS_ADMIN, .method = "GET", .path = "/v1/keys/{id}",          \
      .types = TYPE_JSON)                                                              \
    X(key_revoke, ON_WRITE_QUEUE, KEYS_ADMIN, .method = "POST",                        \
      .path = "/v1/keys/{id}:revoke", .act = "key.revoke", .body = BODY_EMPTY,         \
      .types = TYPE_JSON)                                                              \
    X(key_rotate, ON_WRITE_QUEUE, KEYS_ADMIN, .method = "POST",                        \
      .path = "/v1/keys/{id}:rotate", .act = "key.rotate", .body = BODY_EMPTY,         \
      .types = TYPE_JSON)                                                              \
    X(key_policy, ON_WRITE_QUEUE, KEYS_ADMIN, .method = "POST",                        \
      .path = "/v1/keys/{id}:policy", .act = "key.policy", .body = BODY_JSON,          \
      .types = TYPE_JSON)                                                              \
    X(key_policy_approve, ON_WRITE_QUEUE, GRANTS_APPROVE, .method = "POST",            \
      .path = "/v1/keys/{id}:approve", .act = "key.policy.approve", .body = BODY_JSON, \
      .types = TYPE_JSON)                                                              \
    X(key_policy_reject, ON_WRITE_QUEUE, GRANTS_APPROVE, .method = "POST",             \
      .path = "/v1/keys/{id}:reject", .act = "key.policy.reject", .body = BODY_JSON,   \
      .types = TYPE_JSON)                                                              \
    X(login_create, ON_WRITE_QUEUE, EVERYBODY, .method = "POST",                       \
      .path = "/v1/session",                                                           \
      .act = "session.create", .body = BODY_LOGIN, .types = TYPE_JSON)                 \
    X(login_get, AT_ONCE, EVERYBODY, .method = "GET", .path = "/v1/session",           \
      .types = TYPE_JSON)                                                              \
    X(login_delete, ON_WRITE_QUEUE, EVERYBODY, .method = "DELETE",                     \
      .path = "/v1/session",                                                           \
      .act = "session.delete")                                                         \
    X(algorithm_list, AT_ONCE, EVERYBODY, .method = "GET", .path = "/v1/algorithms",   \
      .types = TYPE_JSON, .timed = true)                                               \
    X(grant_list, AT_ONCE, BUDGETS_READ, .method = "GET", .path = "/v1/grants",        \
      .query = "state order " QUERY_PAGE, .types = TYPE_JSON)                          \
    X(grant_get, AT_ONCE, BUDGETS_READ, .method = "GET", .path = "/v1/grants/{id}",    \
      .types = TYPE_JSON)                                                              \
    X(grant_approve, ON_WRITE_QUEUE, GRANTS_APPROVE, .method = "POST",                 \
      .path = "/v1/grants/{id}:approve", .act = "grant.approve", .body = BODY_JSON,    \
      .types = TYPE_JSON)                                                              \
    X(grant_reject, ON_WRITE_QUEUE, GRANTS_APPROVE, .method = "POST",                  \
      .path = "/v1/grants/{id}:reject", .act = "grant.reject", .body = BODY_JSON,      \
      .types = TYPE_JSON)                                                              \
    X(audit_list, ON_COLD_READ_POOL, AUDIT_READ, .method = "GET", .path = "/v1/audit", \
      .query = "actor action object result after order " QUERY_PAGE,                   \
      .streamed = true, .types = TYPE_JSON " application/x-ndjson")                    \
    X(root, AT_ONCE, EVERYBODY, .method = "GET", .path = "/")                          \
    X(dashboard, AT_ONCE, EVERYBODY, .method = "GET", .path = "/ui/",                  \
      .types = "text/html")                                                            \
    X(dashboard_page, AT_ONCE, EVERYBODY, .method = "GET", .path = "/ui/{id}",         \
      .query = "q tag dataset jobs state algorithm from next actor action object "     \
               "result",                                                               \
      .types = "text/html")                                                            \
    X(dashboard_item, AT_ONCE, EVERYBODY, .method = "GET", .path = "/ui/{id}/{name}",  \
      .types = "text/html text/css text/javascript image/svg+xml application/yaml",    \
      .timed = true)                                                                   \
    X(docs, AT_ONCE, EVERYBODY, .method = "GET", .path = "/docs",                      \
      .types = "text/html")                                                            \
    X(openapi, AT_ONCE, EVERYBODY, .method = "GET", .path = "/openapi.yaml",           \
      .any_host = true, .types = "application/yaml", .timed = true)                    \
    X(version, AT_ONCE, EVERYBODY, .method = "GET", .path = "/v1/version",             \
      .any_host = true, .types = TYPE_JSON, .timed = true)                             \
    X(livez, AT_ONCE, EVERYBODY, .method = "GET", .path = "/livez", .any_host = true,  \
      .types = TYPE_JSON, .timed = true)                                               \
    X(readyz, AT_ONCE, EVERYBODY, .method = "GET", .path = "/readyz",                  \
      .query = "verbose", .any_host = true, .types = TYPE_JSON, .timed = true)         \
    X(metrics, AT_ONCE, OPS_READ, .method = "GET", .path = "/metrics",                 \
      .types = "text/plain")
/* clang-format on */

#define ROUTE_ONE(name, ...) +1
enum { ROUTE_COUNT = ROUTE_LIST(ROUTE_ONE) };
#undef ROUTE_ONE

/* The thread on which the functions of a route run (architecture.md 4). */
enum route_run {
    RUN_AT_ONCE,        /* on the connection's own HTTP thread, from memory */
    RUN_AS_LONG_POLL,   /* also there, and may wait for a change first */
    RUN_ON_WRITE_QUEUE, /* on the write queue's thread, which writes to the store */
    RUN_ON_WRITE_QUEUE_PRICED, /* also there, after a pricer has computed its price */
    RUN_ON_WRITE_QUEUE_THEN_LONG_POLL, /* also there, and then waits for the result */
    RUN_ON_COLD_READ_POOL,             /* on a thread that only reads the store */
    RUN_ON_PRICERS,         /* on a thread that computes prices, and writes nothing */
    RUN_ON_COST_QUEUE,      /* on a thread that runs models, small before large */
    RUN_ON_FILE_PREDICTORS, /* also while its body arrives, on a thread that predicts
                             * files */
};

enum route_body {
    BODY_NONE,     /* a body is refused */
    BODY_EMPTY,    /* none, an empty one, or {} */
    BODY_OPTIONAL, /* none, an empty one, or JSON up to LIMIT_JSON_BODY */
    BODY_JSON,     /* application/json up to LIMIT_JSON_BODY */
    BODY_PATCH,    /* application/merge-patch+json up to LIMIT_JSON_BODY */
    BODY_LOGIN,    /* application/json up to LIMIT_LOGIN_BODY, without a key */
    BODY_PREDICT,  /* application/json up to LIMIT_PREDICT_BODY */
    BODY_FILE,     /* any type, written to a file as it arrives */
    BODY_ROWS,     /* any type: csv, read as it arrives (predict_file.h) */
};

struct route {
    char name[24], method[8];
    char path[40]; /* may contain {id} once, and {name} after it */
    enum scope scope;
    char act[24]; /* name of its action in the audit trail; "": none */
    enum route_run run;
    enum route_body body;
    bool keyed;    /* it creates something and takes an Idempotency-Key */
    bool any_host; /* it contains no data, and probes use any Host */
    bool streamed; /* its response may be produced while it is sent */
    /* waiting requests may be handled together (service/handlers/write_queue.h) */
    bool together;
    bool timed;      /* its duration may be published (service/process/counters.h) */
    char query[112]; /* names of parameters, separated by a blank; "": none */
    char types[96];  /* of a 200 response, blank-separated, preferred first; "": 204 */
};

/* Return the row at index, which must be below ROUTE_COUNT, and the index of a row. */
const struct route *route_at(size_t index);
size_t route_index(const struct route *route);

/* Returns the index, from 0, of a parameter's name among those of the row; -1 if the
 * row does not have it. */
int route_parameter(const struct route *route, const char *name);

struct route_match {
    const struct route *route;
    char id[64]; /* value of {id}; "" if the route has none or it is too long for one */
    char name[64];  /* the same for {name} */
    char allow[64]; /* ST_METHOD_NOT_ALLOWED: the methods of the path, "GET, POST" */
};

/* Finds the route of a request. HEAD matches GET. path must be the result of
 * request_target_path (api/http/request_target.h): characters that are still encoded in
 * it are decoded in id and name, and never match a / or : of the template.
 *   ST_NOT_FOUND           no route has this path
 *   ST_METHOD_NOT_ALLOWED  the path exists; only match->allow is set */
enum status route_find(struct route_match *match, const char *method, const char *path,
                       struct error *error);

#endif
