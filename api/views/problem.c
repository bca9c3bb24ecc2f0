#include "api/views/problem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "api/json/fault.h"
#include "api/json/json_writer.h"
#include "api/views/import_report_view.h"

/* clang-format off */
unsigned problem_http_status(enum status status)
{
    switch (status) {
    case ST_OK:
        return 200;
    case ST_INVALID: case ST_IDEMPOTENCY_KEY_MISSING: case ST_JOB_TOO_LARGE:
    case ST_NOT_FLOAT_SAFE: case ST_UNIT_UNSUPPORTED: case ST_ONE_RANK_ONLY: case ST_KEY_IN_QUERY:
    case ST_UNTRUSTED_PROXY:
        return 400;
    case ST_KEY_MISSING: case ST_KEY_MALFORMED: case ST_KEY_UNKNOWN: case ST_KEY_EXPIRED:
    case ST_KEY_REVOKED: case ST_SESSION_ENDED:
        return 401;
    case ST_FORBIDDEN_ORIGIN: case ST_POLICY_VIOLATION: case ST_FORBIDDEN:
    case ST_SECOND_PERSON:
        return 403;
    case ST_NOT_FOUND: return 404;
    case ST_METHOD_NOT_ALLOWED: return 405;
    case ST_NOT_ACCEPTABLE: return 406;
    case ST_KEY_ENDED: case ST_BUDGET_EXHAUSTED: case ST_BUDGET_HELD:
    case ST_GRANT_PENDING: case ST_GRANT_DECIDED: case ST_ALREADY_EXISTS: case ST_CONFLICT:
    case ST_DATASET_NOT_READY: case ST_DATASET_BUSY: case ST_DATASET_IMMUTABLE:
    case ST_DATASET_IN_USE: case ST_FILE_IN_USE: case ST_DATASET_PRIVATE: case ST_DATASET_PUBLIC:
    case ST_DATASET_FROZEN: case ST_DATASET_NOT_FROZEN: case ST_DATASET_UNAVAILABLE:
    case ST_DATASET_ORDER:
    case ST_DUPLICATE_CONTENT: case ST_CHARGE_ENDED: case ST_BLOCK_GRANTED:
    case ST_BLOCK_OUT_OF_ORDER: case ST_UPLOAD_BUSY: case ST_UPLOAD_OFFSET:
    case ST_UPLOAD_LENGTH: case ST_WEBHOOK_LIMIT: case ST_JOB_TERMINAL:
    case ST_JOB_ACTIVE: case ST_JOB_HAS_MODEL: case ST_CANCELLED:
        return 409;
    case ST_GONE: return 410;
    case ST_PRECONDITION_FAILED: return 412;
    case ST_BODY_TOO_LARGE: return 413;
    case ST_URI_TOO_LONG: return 414;
    case ST_UNSUPPORTED_MEDIA_TYPE: return 415;
    case ST_RANGE_NOT_SATISFIABLE: return 416;
    case ST_EXPECTATION_FAILED: return 417;
    case ST_IDEMPOTENCY_KEY_REUSED: case ST_IMPORT_FAILED: case ST_NO_ANSWER:
        return 422;
    case ST_PRECONDITION_REQUIRED: return 428;
    case ST_WRONG_KEYS: return 429;
    case ST_HEAD_TOO_LARGE: return 431;
    case ST_INTERNAL: case ST_MODEL_CORRUPT: case ST_DATASET_CORRUPT:
        return 500;
    case ST_QUEUE_FULL: case ST_DISK_FULL: case ST_DRAINING: case ST_NO_MEMORY:
    case ST_NEEDS_REFRESH: case ST_CORRUPT: case ST_IO:
        return 503;
    }
    return 500;
}
/* clang-format on */

/* Returns about how many seconds the reason lasts, or 0 if waiting does not help. */
unsigned problem_retry_after(enum status status)
{
    if (status == ST_BUDGET_HELD || status == ST_DATASET_IN_USE)
        return 10;
    if (status == ST_DATASET_BUSY || status == ST_UPLOAD_BUSY ||
        status == ST_QUEUE_FULL || status == ST_NO_MEMORY || status == ST_NEEDS_REFRESH)
        return 5;
    if (status == ST_WRONG_KEYS)
        return 60;
    if (status == ST_DRAINING || status == ST_DISK_FULL || status == ST_IO)
        return 30;
    return 0;
}

/* Writes "budget_exhausted" as "Budget exhausted". */
static void write_title(struct json_writer *writer, const char *code)
{
    char title[64];
    snprintf(title, sizeof title, "%s", code);
    for (char *c = title; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    title[0] = (char)toupper((unsigned char)title[0]);
    json_write_text(writer, "title", title);
}

static void write_fault(struct json_writer *writer, const struct fault *fault)
{
    const char *pointer = fault->pointer;
    bool is_parameter = pointer[0] == '?';
    json_write_object(writer, NULL);
    json_write_text(writer, "pointer", is_parameter ? "" : pointer);
    json_write_text(writer, "parameter", is_parameter ? pointer + 1 : NULL);
    json_write_text(writer, "detail", fault->text);
    json_write_text(writer, "code", fault_wire(fault->kind));
    if (fault->line > 0)
        json_write_count(writer, "line", fault->line);
    if (fault->column > 0)
        json_write_count(writer, "column", fault->column);
    json_write_object_end(writer);
}

static void write_error(struct json_writer *writer, const struct error *error)
{
    struct fault fault = {.kind = FAULT_INVALID};
    snprintf(fault.pointer, sizeof fault.pointer, "%s", error->pointer);
    snprintf(fault.text, sizeof fault.text, "%s", error->text);
    write_fault(writer, &fault);
}

static void write_errors(struct json_writer *writer, const struct error *error)
{
    const struct faults *faults = error->faults;
    json_write_array(writer, "errors");
    for (size_t i = 0; faults != NULL && i < faults->count; i++)
        write_fault(writer, &faults->list[i]);
    bool listed = faults != NULL && faults->count > 0;
    if (!listed && (error->status == ST_INVALID || error->pointer[0] != '\0'))
        write_error(writer, error);
    json_write_array_end(writer);
}

static void write_failure(struct json_writer *writer,
                          const struct import_failure *failure)
{
    json_write_text(writer, "file", failure->file);
    json_write_count_if(writer, failure->line > 0, "line", failure->line);
    json_write_count_if(writer, failure->column > 0, "column", failure->column);
    json_write_text(writer, "reason", failure->text);
}

/* Writes the available budget, aligned with the orders: null if an order carries
 * no weight. */
static void write_available(struct json_writer *writer, const struct problem *problem)
{
    double available[CURVE_ORDERS];
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        available[i] = INFINITY;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t index = curve_order_index(problem->available_orders[i]);
        if (index < CURVE_ORDERS)
            available[index] = problem->available[i];
    }
    json_write_reals(writer, "available", available, CURVE_ORDERS);
}

static void write_room(struct json_writer *writer, const struct problem *problem)
{
    if (problem->has_room) {
        json_write_real(writer, "largest_epsilon", problem->largest_epsilon);
        json_write_count_if(writer, problem->has_most_steps, "most_steps",
                            problem->most_steps);
    }
    if (problem->needed != NULL || problem->available != NULL)
        json_write_reals(writer, "orders", curve_orders, CURVE_ORDERS);
    if (problem->needed != NULL)
        json_write_reals(writer, "needed", problem->needed->at, CURVE_ORDERS);
    if (problem->available != NULL && problem->available_orders != NULL)
        write_available(writer, problem);
}

char *problem_render(const struct error *error, const struct problem *problem)
{
    static const struct problem nothing = {0};
    struct json_writer writer;
    const char *code = status_wire(error->status);
    const char *detail =
        error->text[0] != '\0' ? error->text : status_advice(error->status);
    char type[80];
    if (problem == NULL)
        problem = &nothing;
    snprintf(type, sizeof type, "urn:epsilond:problem:%s", code);
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "type", type);
    write_title(&writer, code);
    json_write_count(&writer, "status", problem_http_status(error->status));
    json_write_text(&writer, "detail", detail);
    json_write_text(&writer, "instance", problem->instance);
    json_write_text(&writer, "code", code);
    json_write_flag(&writer, "retryable", problem_retry_after(error->status) > 0);
    json_write_text(&writer, "advice", status_advice(error->status));
    write_errors(&writer, error);
    if (problem->failure != NULL)
        write_failure(&writer, problem->failure);
    if (problem->report != NULL)
        import_report_write(&writer, problem->report);
    write_room(&writer, problem);
    if (problem->policy != NULL) {
        json_write_text(&writer, "policy", problem->policy);
        json_write_real(&writer, "limit", problem->policy_limit);
    }
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
