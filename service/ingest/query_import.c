#include "service/ingest/query_import.h"

#include <stdlib.h>
#include <string.h>

#include "api/http/routes.h"
#include "base/check.h"
#include "service/datasets/datasets.h"
#include "service/ingest/importer.h"
#include "service/ingest/query_csv.h"
#include "service/ingest/upload.h"
#include "service/outbound/pg_query.h"
#include "service/outbound/transfer.h"
#include "service/process/daemon_state.h"
#include "service/threads/epoch_reclaim.h"
#include "store/rows/audit_rows.h"

/* --- checks --- */

static enum status check_dataset(const struct daemon_state *context,
                                 const struct dataset *dataset, struct error *error)
{
    const struct schema *schema = &dataset_spec(dataset)->schema;
    struct dataset_info info;
    dataset_read(context->datasets, dataset, &info);
    if (proposal_bars(&info.detail.proposal))
        return error_set(error, ST_GRANT_PENDING, "its grant is not approved");
    if (!schema->reader->has_dialect)
        return error_set_at(
            error, ST_INVALID, "/postgresql",
            "only a csv dataset can be imported from a query, whose rows "
            "are written as csv");
    if (schema->dialect.decimal_comma)
        return error_set_at(
            error, ST_INVALID, "/postgresql",
            "PostgreSQL writes numbers with a point: declare the dataset "
            "without \"decimal\": \",\"");
    return ST_OK;
}

static enum status check_host(const struct daemon_state *context,
                              const struct query_request *request, struct error *error)
{
    struct host_address address;
    const struct host_address_list *listed = &context->outbound->allowed;
    const bool is_address = host_address_parse(&address, request->host);
    if (request->plain && (!host_address_list_has_loopback(listed) ||
                           (is_address && !host_address_is_loopback(&address))))
        return error_set_at(error, ST_INVALID, "/postgresql/sslmode",
                            "must be \"verify-full\": only loopback addresses that "
                            "--outbound-allow names are called without TLS");
    if (is_address && !host_address_is_allowed(&address, request->plain, listed))
        return error_set_at(error, ST_INVALID, "/postgresql/host",
                            "is no public address, and --outbound-allow does not name "
                            "it");
    return ST_OK;
}

enum status query_import_check(const struct daemon_state *context,
                               const struct dataset *dataset,
                               const struct query_request *request, struct error *error)
{
    if (!pg_query_is_built())
        return error_set_at(
            error, ST_INVALID, "/postgresql",
            "this service was built without PostgreSQL: send the rows as "
            "a file, or install libpq-dev and build it again");
    enum status status = check_dataset(context, dataset, error);
    return status == ST_OK ? check_host(context, request, error) : status;
}

/* --- rows --- */

/* A query that is running. */
struct running {
    struct daemon_state *context;
    const struct fetch *fetch;
    struct route_match place;
    struct upload upload;
    struct error error;    /* why a piece could not be stored */
    size_t columns;        /* of the declaration */
    char **names;          /* (columns) owned */
    bool has_header;       /* the file begins with the names */
    struct query_csv *csv; /* owned */
};

static bool write_text(void *context, const char *text, size_t size)
{
    struct running *running = context;
    return upload_write(running->context, &running->upload, text, size,
                        &running->error) == ST_OK;
}

/* The names come from the query and from tables, not from rows, so a refusal says nothing
 * of a cell. */
static bool accept_columns(void *context, const char *const *names, size_t count)
{
    const struct running *running = context;
    bool same = count == running->columns;
    for (size_t i = 0; same && i < count; i++)
        same = strcmp(names[i], running->names[i]) == 0;
    return same;
}

static bool take_row(void *context, const struct pg_cell *cells, size_t count)
{
    const struct running *running = context;
    return query_csv_row(running->csv, cells, count);
}

static bool write_header(const struct running *running)
{
    struct pg_cell *cells = calloc(running->columns + 1, sizeof *cells);
    CHECK(cells != NULL);
    for (size_t i = 0; i < running->columns; i++)
        cells[i] = (struct pg_cell){running->names[i], strlen(running->names[i])};
    bool written = query_csv_row(running->csv, cells, running->columns);
    free(cells);
    return written;
}

/* Copies what is needed of the declaration. Returns false if the dataset is no longer the
 * one that the request was about. */
static bool read_declaration(struct running *running)
{
    struct daemon_state *context = running->context;
    struct dataset_info info;
    struct reclaim_reader visit;
    datasets_enter(context->datasets, &visit);
    const struct dataset *dataset = datasets_find(context->datasets, running->place.id);
    dataset_read(context->datasets, dataset, &info);
    const struct schema *schema = &dataset_spec(dataset)->schema;
    const bool same = info.version == running->fetch->query->version;
    if (same) {
        running->columns = schema->column_count;
        running->has_header = schema->header;
        running->csv->delimiter = delimiter_sign(schema->dialect.delimiter);
        running->names = calloc(running->columns + 1, sizeof *running->names);
        CHECK(running->names != NULL);
        for (size_t i = 0; i < running->columns; i++) {
            running->names[i] = strdup(schema->columns[i].name);
            CHECK(running->names[i] != NULL);
        }
    }
    datasets_leave(context->datasets, &visit);
    return same;
}

static enum pg_end run_query(struct running *running)
{
    const struct pg_query query = {
        .server = {&running->fetch->query->request, running->context->outbound,
                   &running->fetch->cancel},
        .accept = accept_columns,
        .take = take_row,
        .context = running,
    };
    if (running->has_header && !write_header(running))
        return PG_NOT_TAKEN;
    enum pg_end end = pg_query_run(&query);
    bool written = query_csv_end(running->csv);
    return end == PG_DONE && !written ? PG_NOT_TAKEN : end;
}

/* --- the end --- */

static const struct result {
    const char *name, *advice;
} results[] = {
    [PG_UNREACHABLE] =
        {"unreachable",
         "the server cannot be reached: check host and port; the address "
         "must be public, or named by --outbound-allow"},
    [PG_UNTRUSTED] =
        {"untrusted",
         "the server has no TLS, or a certificate for another name or of an "
         "unknown authority: check the host, or give the daemon its "
         "authority by --outbound-ca"},
    [PG_LOGIN_REFUSED] = {"login_refused",
                          "the server refused the login: check user, password and "
                          "database"},
    [PG_REFUSED] = {"query_refused",
                    "the server refused the query before it read a row: it must be "
                    "one SELECT that the user may run; try it with psql"},
    [PG_COLUMNS] = {"columns",
                    "the query has other columns than the declaration: name them as "
                    "declared, with AS, in the declared order"},
    [PG_WRITES] = {"writes",
                   "the query tried to change the database: it may only read"},
    [PG_FAILED] = {"query_failed",
                   "the server ended the query with an error while it read rows: "
                   "try it with psql"},
    [PG_TOO_SLOW] = {"too_slow",
                     "the query took longer than \"seconds\": allow more, or make it "
                     "quicker"},
    [PG_TOO_LARGE] = {"too_large", "the rows exceed the limits of uploads"},
    [PG_BROKEN] = {"broken",
                   "the server or the connection went away: request the import again"},
};

static const struct result others[] = {
    {"disk_full", "the disk of the service is nearly full"},
    {"not_awaited", "the dataset was imported, declared again or deleted meanwhile"},
    {"not_imported", "the rows have come, but their import could not begin: request it "
                     "without a query"},
    {"internal", "the rows could not be stored: look at the log of the service"},
};

const char *query_import_advice(const char *result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].name != NULL && strcmp(results[i].name, result) == 0)
            return results[i].advice;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, result) == 0)
            return others[i].advice;
    return result;
}

static struct fetch_end failed(const char *result)
{
    return (struct fetch_end){.state = FETCH_FAILED, .result = result};
}

/* Begins the import of the published rows, if the dataset is still the one that the
 * request was about. */
static struct fetch_end begin_import(const struct running *running)
{
    struct daemon_state *context = running->context;
    const struct fetch_query *query = running->fetch->query;
    const struct audit_row act = {
        .actor = running->fetch->place.principal.name,
        .key = query->act.key,
        .via = query->act.via,
        .address = query->act.address,
        .request = query->act.request,
    };
    const struct import_request request = {&act, query->act.acknowledged};
    struct import_failure failure = {0};
    struct error error = {0};
    struct dataset_info info;
    struct reclaim_reader visit;
    bool begun = false;
    datasets_enter(context->datasets, &visit);
    struct dataset *dataset = datasets_find(context->datasets, running->place.id);
    dataset_read(context->datasets, dataset, &info);
    if (info.version == query->version)
        importer_start(context, dataset, &request, &begun, &failure, &error);
    datasets_leave(context->datasets, &visit);
    daemon_state_guard(context);
    return begun ? (struct fetch_end){.state = FETCH_SUCCEEDED}
                 : failed("not_imported");
}

/* Returns whether the dataset was not changed since the request. */
static bool is_same_dataset(const struct running *running)
{
    struct daemon_state *context = running->context;
    struct dataset_info info;
    struct reclaim_reader visit;
    datasets_enter(context->datasets, &visit);
    dataset_read(context->datasets, datasets_find(context->datasets, running->place.id),
                 &info);
    datasets_leave(context->datasets, &visit);
    return info.version == running->fetch->query->version;
}

static struct fetch_end end_of(struct running *running, enum pg_end end)
{
    if (end == PG_CANCELLED)
        return (struct fetch_end){.state = FETCH_CANCELLED};
    if (end == PG_NOT_TAKEN)
        return fetch_end_of(running->error.status);
    if (end != PG_DONE)
        return failed(results[end].name);
    if (!is_same_dataset(running))
        return failed("not_awaited");
    enum status status = upload_publish(running->context, &running->upload,
                                        &running->place, &running->error);
    return status == ST_OK ? begin_import(running) : fetch_end_of(status);
}

static struct fetch_end run(struct running *running)
{
    const struct upload_start start = {.place = &running->place,
                                       .principal = &running->fetch->place.principal};
    if (!read_declaration(running))
        return failed("not_awaited");
    enum status status =
        upload_begin(running->context, &running->upload, &start, &running->error);
    if (status != ST_OK)
        return fetch_end_of(status);
    struct fetch_end end = end_of(running, run_query(running));
    upload_abandon(running->context, &running->upload);
    return end;
}

struct fetch_end query_import_run(struct daemon_state *context, struct fetch *fetch)
{
    struct running running = {.context = context, .fetch = fetch};
    running.place = fetch_place_match(&fetch->place);
    running.csv = calloc(1, sizeof *running.csv);
    CHECK(running.csv != NULL);
    running.csv->write = write_text;
    running.csv->context = &running;
    const struct fetch_end end = run(&running);
    for (size_t i = 0; i < running.columns; i++)
        free(running.names[i]);
    free(running.names);
    free(running.csv);
    return end;
}
