/*
 * query_csv.h - rows of a query as csv that the csv reader reads. A cell is what the
 * database holds, and none may change what another row becomes: each row is one line, and
 * the number of lines is the number of rows.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_INGEST_QUERY_CSV_H
#define SERVICE_INGEST_QUERY_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "service/outbound/pg_query.h"

enum {
    QUERY_CSV_ROOM = 64 << 10
}; /* bytes that are collected before they are written */

struct query_csv {
    char delimiter;
    bool (*write)(void *context, const char *text, size_t size);
    void *context;
    bool failed; /* write has returned false: nothing more is written */
    size_t size; /* of room that is used */
    char room[QUERY_CSV_ROOM];
};

/* Writes a row. A null cell is an empty one. Line ends in a cell become blanks, because
 * the import of a fetched file takes each line as a record. Returns false if the text
 * cannot be written. */
bool query_csv_row(struct query_csv *csv, const struct pg_cell *cells, size_t count);

/* Writes what is collected. Returns false if any of the text could not be written. */
bool query_csv_end(struct query_csv *csv);

#endif
