/*
 * query_import.h - an import of the rows of a query of a PostgreSQL server. The rows are
 * written as csv into a draft, as a fetch is (fetcher.h), with its limits, its state and
 * its mark; once the file is published, its import begins by itself.
 *
 * A query that fails leaves nothing behind. Credentials and query are only in memory, so
 * a query ends with its process, and is requested again.
 *
 * Threads: query_import_check is the write queue's, query_import_run the fetchers'.
 */
#ifndef SERVICE_INGEST_QUERY_IMPORT_H
#define SERVICE_INGEST_QUERY_IMPORT_H

#include "base/status.h"
#include "service/ingest/fetch_status.h"

struct daemon_state;
struct dataset;

#define QUERY_IMPORT_FILE "data" /* the one file of a csv dataset */

/* Checks what can be checked without the network.
 *   ST_INVALID        the dataset is no csv, has a decimal comma, or the program was built
 *                     without libpq; the host may not be called, or not without TLS
 *   ST_GRANT_PENDING  its grant is not approved */
enum status query_import_check(const struct daemon_state *context,
                               const struct dataset *dataset,
                               const struct query_request *request,
                               struct error *error);

/* Runs the query of a fetch that is RUNNING, publishes its rows and begins their import.
 * Returns how the fetch ends. */
struct fetch_end query_import_run(struct daemon_state *context, struct fetch *fetch);

/* Returns what to do about the result of a query that failed. */
const char *query_import_advice(const char *result);

#endif
