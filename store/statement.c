#include "store/statement.h"

#include <stdio.h>
#include <string.h>
#include <sqlite3.h>

#include "base/check.h"

void statement_open(struct statement *statement, struct store_tx *tx, const char *sql)
{
    *statement = (struct statement){.tx = tx, .code = SQLITE_OK};
    if (!store_tx_usable(tx))
        statement->code = SQLITE_IOERR;
    else
        statement->code =
            sqlite3_prepare_v2(store_tx_db(tx), sql, -1, &statement->raw, NULL);
}

static void note(struct statement *statement, int code)
{
    if (statement->code == SQLITE_OK)
        statement->code = code;
}

bool statement_good(const struct statement *statement)
{
    return statement->code == SQLITE_OK;
}

void statement_bind_text(struct statement *statement, const char *text)
{
    if (statement_good(statement))
        note(statement, sqlite3_bind_text(statement->raw, ++statement->bound, text, -1,
                                          SQLITE_STATIC));
}

void statement_bind_time(struct statement *statement, int64_t wall_ms)
{
    if (statement_good(statement))
        note(statement,
             sqlite3_bind_int64(statement->raw, ++statement->bound, wall_ms));
}

void statement_bind_int(struct statement *statement, uint64_t number)
{
    CHECK(number <= INT64_MAX);
    statement_bind_time(statement, (int64_t)number);
}

void statement_bind_blob(struct statement *statement, const void *data, size_t size)
{
    if (statement_good(statement))
        note(statement, sqlite3_bind_blob64(statement->raw, ++statement->bound, data,
                                            size, SQLITE_STATIC));
}

bool statement_next(struct statement *statement)
{
    if (!statement_good(statement))
        return false;
    int code = sqlite3_step(statement->raw);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        note(statement, sqlite3_extended_errcode(store_tx_db(statement->tx)));
    return false;
}

/* NULL in a column declared NOT NULL is a failed allocation. */
const char *statement_text(struct statement *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement->raw, column);
    if (text == NULL)
        note(statement, SQLITE_NOMEM);
    return text != NULL ? (const char *)text : "";
}

int64_t statement_time(struct statement *statement, int column)
{
    return sqlite3_column_int64(statement->raw, column);
}

uint64_t statement_int(struct statement *statement, int column)
{
    return (uint64_t)statement_time(statement, column);
}

const uint8_t *statement_blob(struct statement *statement, int column)
{
    return sqlite3_column_blob(statement->raw, column);
}

size_t statement_blob_size(struct statement *statement, int column)
{
    return (size_t)sqlite3_column_bytes(statement->raw, column);
}

void statement_expect_size(struct statement *statement, int column, size_t size)
{
    if (statement_blob_size(statement, column) != size)
        note(statement, SQLITE_CORRUPT);
}

void statement_copy(struct statement *statement, int column, void *out, size_t size)
{
    const uint8_t *blob = statement_blob(statement, column);
    statement_expect_size(statement, column, size);
    if (blob != NULL && statement_blob_size(statement, column) == size)
        memcpy(out, blob, size);
}

void statement_copy_text(struct statement *statement, int column, char *out,
                         size_t size)
{
    int length = snprintf(out, size, "%s", statement_text(statement, column));
    if (length < 0 || (size_t)length >= size)
        note(statement, SQLITE_CORRUPT);
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

enum status statement_end(struct statement *statement, struct error *error)
{
    enum status status = status_of(statement->code);
    if (status != ST_OK && statement->code != SQLITE_IOERR)
        error_set(error, status, "database: %s",
                  sqlite3_errmsg(store_tx_db(statement->tx)));
    if (status == ST_IO) {
        int primary = statement->code & 0xff;
        if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
            status = ST_CORRUPT;
        store_tx_poison(statement->tx);
        error_set(error, status, "database: %s", sqlite3_errstr(statement->code));
    }
    sqlite3_finalize(statement->raw);
    return status;
}

enum status statement_run(struct statement *statement, struct error *error)
{
    while (statement_next(statement))
        continue;
    return statement_end(statement, error);
}

enum status statement_run_one(struct statement *statement, struct error *error)
{
    struct sqlite3 *db = store_tx_db(statement->tx);
    enum status status = statement_run(statement, error);
    if (status == ST_OK && sqlite3_changes(db) == 0)
        return error_set(error, ST_NOT_FOUND, "no such row");
    return status;
}
