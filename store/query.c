#include "store/query.h"

#include <stdio.h>
#include <string.h>
#include <sqlite3.h>

#include "base/check.h"

void query_open(struct query *query, struct store_tx *tx, const char *sql)
{
    *query = (struct query){.tx = tx, .code = SQLITE_OK};
    if (!store_tx_usable(tx))
        query->code = SQLITE_IOERR;
    else
        query->code =
            sqlite3_prepare_v2(store_tx_db(tx), sql, -1, &query->statement, NULL);
}

static void note(struct query *query, int code)
{
    if (query->code == SQLITE_OK)
        query->code = code;
}

bool query_good(const struct query *query)
{
    return query->code == SQLITE_OK;
}

void query_bind_text(struct query *query, const char *text)
{
    if (query_good(query))
        note(query, sqlite3_bind_text(query->statement, ++query->bound, text, -1,
                                      SQLITE_STATIC));
}

void query_bind_time(struct query *query, int64_t wall_ms)
{
    if (query_good(query))
        note(query, sqlite3_bind_int64(query->statement, ++query->bound, wall_ms));
}

void query_bind_int(struct query *query, uint64_t number)
{
    CHECK(number <= INT64_MAX);
    query_bind_time(query, (int64_t)number);
}

void query_bind_blob(struct query *query, const void *data, size_t size)
{
    if (query_good(query))
        note(query, sqlite3_bind_blob64(query->statement, ++query->bound, data, size,
                                        SQLITE_STATIC));
}

bool query_next(struct query *query)
{
    if (!query_good(query))
        return false;
    int code = sqlite3_step(query->statement);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        note(query, sqlite3_extended_errcode(store_tx_db(query->tx)));
    return false;
}

/* NULL in a column declared NOT NULL is a failed allocation. */
const char *query_text(struct query *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query->statement, column);
    if (text == NULL)
        note(query, SQLITE_NOMEM);
    return text != NULL ? (const char *)text : "";
}

int64_t query_time(struct query *query, int column)
{
    return sqlite3_column_int64(query->statement, column);
}

uint64_t query_int(struct query *query, int column)
{
    return (uint64_t)query_time(query, column);
}

const uint8_t *query_blob(struct query *query, int column)
{
    return sqlite3_column_blob(query->statement, column);
}

size_t query_blob_size(struct query *query, int column)
{
    return (size_t)sqlite3_column_bytes(query->statement, column);
}

void query_expect_size(struct query *query, int column, size_t size)
{
    if (query_blob_size(query, column) != size)
        note(query, SQLITE_CORRUPT);
}

void query_copy(struct query *query, int column, void *out, size_t size)
{
    const uint8_t *blob = query_blob(query, column);
    query_expect_size(query, column, size);
    if (blob != NULL && query_blob_size(query, column) == size)
        memcpy(out, blob, size);
}

void query_copy_text(struct query *query, int column, char *out, size_t size)
{
    int length = snprintf(out, size, "%s", query_text(query, column));
    if (length < 0 || (size_t)length >= size)
        note(query, SQLITE_CORRUPT);
}

/* The status of a code, or ST_IO for those that poison. */
static enum status status_of(int code)
{
    switch (code) {
    case SQLITE_OK: return ST_OK;
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY: return ST_ALREADY_EXISTS;
    case SQLITE_CONSTRAINT_FOREIGNKEY: return ST_NOT_FOUND;
    case SQLITE_CONSTRAINT_TRIGGER:
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_NOTNULL: return ST_CORRUPT;
    default: return ST_IO;
    }
}

enum status query_end(struct query *query, struct error *error)
{
    enum status status = status_of(query->code);
    if (status != ST_OK && query->code != SQLITE_IOERR)
        error_set(error, status, "database: %s",
                  sqlite3_errmsg(store_tx_db(query->tx)));
    if (status == ST_IO) {
        int primary = query->code & 0xff;
        if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
            status = ST_CORRUPT;
        store_tx_poison(query->tx);
        error_set(error, status, "database: %s", sqlite3_errstr(query->code));
    }
    sqlite3_finalize(query->statement);
    return status;
}

enum status query_run(struct query *query, struct error *error)
{
    while (query_next(query))
        continue;
    return query_end(query, error);
}

enum status query_run_one(struct query *query, struct error *error)
{
    struct sqlite3 *db = store_tx_db(query->tx);
    enum status status = query_run(query, error);
    if (status == ST_OK && sqlite3_changes(db) == 0)
        return error_set(error, ST_NOT_FOUND, "no such row");
    return status;
}
