#include "store/statement.h"

#include <stdio.h>
#include <string.h>
#include <sqlite3.h>

#include "base/check.h"

void statement_open(struct statement *statement, struct database *database,
                    const char *sql)
{
    *statement = (struct statement){.database = database, .code = SQLITE_OK};
    if (database_poisoned(database))
        statement->code = SQLITE_IOERR;
    else
        statement->code = sqlite3_prepare_v2(database_handle(database), sql, -1,
                                             &statement->prepared, NULL);
}

/* Keeps the code of the first failure. */
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
        note(statement, sqlite3_bind_text(statement->prepared, ++statement->bound, text,
                                          -1, SQLITE_STATIC));
}

void statement_bind_time(struct statement *statement, int64_t wall_ms)
{
    if (statement_good(statement))
        note(statement,
             sqlite3_bind_int64(statement->prepared, ++statement->bound, wall_ms));
}

void statement_bind_int(struct statement *statement, uint64_t number)
{
    CHECK(number <= INT64_MAX);
    statement_bind_time(statement, (int64_t)number);
}

void statement_bind_blob(struct statement *statement, const void *data, size_t size)
{
    if (statement_good(statement))
        note(statement, sqlite3_bind_blob64(statement->prepared, ++statement->bound,
                                            data, size, SQLITE_STATIC));
}

bool statement_next(struct statement *statement)
{
    if (!statement_good(statement))
        return false;
    int code = sqlite3_step(statement->prepared);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        note(statement, sqlite3_extended_errcode(database_handle(statement->database)));
    return false;
}

/* A NULL from a column that is declared NOT NULL is a failed allocation. */
const char *statement_text(struct statement *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement->prepared, column);
    if (text == NULL)
        note(statement, SQLITE_NOMEM);
    return text != NULL ? (const char *)text : "";
}

int64_t statement_time(struct statement *statement, int column)
{
    return sqlite3_column_int64(statement->prepared, column);
}

uint64_t statement_int(struct statement *statement, int column)
{
    return (uint64_t)statement_time(statement, column);
}

const uint8_t *statement_blob(struct statement *statement, int column)
{
    return sqlite3_column_blob(statement->prepared, column);
}

size_t statement_blob_size(struct statement *statement, int column)
{
    return (size_t)sqlite3_column_bytes(statement->prepared, column);
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

bool statement_is_null(struct statement *statement, int column)
{
    return sqlite3_column_type(statement->prepared, column) == SQLITE_NULL;
}

enum database_class statement_class(const struct statement *statement)
{
    return database_class_of(statement->code);
}

struct consequence {
    enum status status;
    bool poisons;
};

static struct consequence consequence_of(enum database_class answer)
{
    switch (answer) {
    case DB_OK: return (struct consequence){ST_OK, false};
    case DB_KEY_USED: return (struct consequence){ST_ALREADY_EXISTS, false};
    case DB_NO_PARENT: return (struct consequence){ST_NOT_FOUND, false};
    case DB_REFUSED: return (struct consequence){ST_CORRUPT, false};
    case DB_DAMAGED: return (struct consequence){ST_CORRUPT, true};
    case DB_MISFIT:
    case DB_BUSY:
    case DB_FAILED: break;
    }
    return (struct consequence){ST_IO, true};
}

enum status statement_end(struct statement *statement, struct error *error)
{
    const struct consequence end = consequence_of(statement_class(statement));
    if (statement->code ==
        SQLITE_IOERR) /* of a poisoned database, which says nothing */
        error_set(error, end.status, "database: %s", sqlite3_errstr(SQLITE_IOERR));
    else if (end.status != ST_OK)
        error_set(error, end.status, "database: %s",
                  database_message(statement->database));
    if (end.poisons)
        database_poison(statement->database);
    sqlite3_finalize(statement->prepared);
    return end.status;
}

enum status statement_run(struct statement *statement, struct error *error)
{
    while (statement_next(statement))
        continue;
    return statement_end(statement, error);
}

enum status statement_run_one(struct statement *statement, struct error *error)
{
    struct database *database = statement->database;
    enum status status = statement_run(statement, error);
    if (status == ST_OK && sqlite3_changes(database_handle(database)) == 0)
        return error_set(error, ST_NOT_FOUND, "no such row");
    return status;
}
