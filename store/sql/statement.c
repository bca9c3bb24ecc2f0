#include "store/sql/statement.h"

#include <string.h>

#include "base/check.h"

void statement_open(struct statement *statement, struct database *database,
                    const char *sql)
{
    *statement = (struct statement){.database = database, .class = database->refused};
    if (database_poisoned(database))
        statement->class = DB_FAILED;
    if (statement->class == DB_OK)
        statement->class =
            database->driver->prepare(database, &statement->prepared, sql);
}

/* Keeps the class of the first failure. */
static void note(struct statement *statement, enum database_class class)
{
    if (statement->class == DB_OK)
        statement->class = class;
}

bool statement_good(const struct statement *statement)
{
    return statement->class == DB_OK;
}

void statement_bind_text(struct statement *statement, const char *text)
{
    if (statement_good(statement))
        note(statement, statement->database->driver->bind_text(
                            statement->prepared, statement->bound++, text));
}

void statement_bind_time(struct statement *statement, int64_t wall_ms)
{
    if (statement_good(statement))
        note(statement, statement->database->driver->bind_number(
                            statement->prepared, statement->bound++, wall_ms));
}

void statement_bind_int(struct statement *statement, uint64_t number)
{
    CHECK(number <= INT64_MAX);
    statement_bind_time(statement, (int64_t)number);
}

void statement_bind_blob(struct statement *statement, const void *data, size_t size)
{
    if (statement_good(statement))
        note(statement, statement->database->driver->bind_blob(
                            statement->prepared, statement->bound++, data, size));
}

bool statement_next(struct statement *statement)
{
    bool row = false;
    if (statement_good(statement))
        note(statement, statement->database->driver->next(statement->prepared, &row));
    return row && statement_good(statement);
}

/* A NULL from a column that is declared NOT NULL is a failed allocation. */
const char *statement_text(struct statement *statement, int column)
{
    const char *text = statement->database->driver->text(statement->prepared, column);
    if (text == NULL)
        note(statement, DB_FAILED);
    return text != NULL ? text : "";
}

int64_t statement_time(struct statement *statement, int column)
{
    return statement->database->driver->number(statement->prepared, column);
}

uint64_t statement_int(struct statement *statement, int column)
{
    return (uint64_t)statement_time(statement, column);
}

const uint8_t *statement_blob(struct statement *statement, int column)
{
    return statement->database->driver->blob(statement->prepared, column);
}

size_t statement_blob_size(struct statement *statement, int column)
{
    return statement->database->driver->size(statement->prepared, column);
}

void statement_expect_size(struct statement *statement, int column, size_t size)
{
    if (statement_blob_size(statement, column) != size)
        note(statement, DB_DAMAGED);
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
    const char *text = statement_text(statement, column);
    size_t length = strlen(text);
    if (length >= size) {
        note(statement, DB_DAMAGED);
        length = size - 1;
    }
    memcpy(out, text, length);
    out[length] = '\0';
}

bool statement_is_null(struct statement *statement, int column)
{
    return statement->database->driver->is_null(statement->prepared, column);
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
    case DB_LOST: return (struct consequence){ST_IO, false};
    case DB_DAMAGED: return (struct consequence){ST_CORRUPT, true};
    case DB_MISFIT:
    case DB_BUSY:
    case DB_FAILED: break;
    }
    return (struct consequence){ST_IO, true};
}

enum status statement_end(struct statement *statement, struct error *error)
{
    struct database *database = statement->database;
    const struct consequence end = consequence_of(statement->class);
    bool told = statement->prepared != NULL || !database_poisoned(database);
    if (end.status != ST_OK)
        error_set(error, end.status, "database: %s",
                  told ? database->driver->message(database) : "it failed earlier");
    if (end.poisons && told)
        database_fail(database);
    else if (end.poisons)
        database_poison(database);
    else if (database->refused == DB_OK)
        database->refused = statement->class;
    database->driver->end(statement->prepared);
    return end.status;
}

enum status statement_run(struct statement *statement, struct error *error)
{
    while (statement_next(statement))
        continue;
    return statement_end(statement, error);
}

enum status statement_run_count(struct statement *statement, uint64_t *changed,
                                struct error *error)
{
    while (statement_next(statement))
        continue;
    if (statement_good(statement))
        *changed = statement->database->driver->changed(statement->prepared);
    return statement_end(statement, error);
}

enum status statement_run_one(struct statement *statement, struct error *error)
{
    uint64_t changed = 0;
    enum status status = statement_run_count(statement, &changed, error);
    if (status == ST_OK && changed == 0)
        return error_set(error, ST_NOT_FOUND, "no such row");
    return status;
}

enum status statement_run_version(struct statement *statement, const char *find,
                                  const char *id, struct error *error)
{
    uint64_t changed = 0;
    enum status status = statement_run_count(statement, &changed, error);
    if (status != ST_OK || changed > 0)
        return status;
    struct statement finding;
    statement_open(&finding, statement->database, find);
    statement_bind_text(&finding, id);
    bool found = statement_next(&finding);
    status = statement_end(&finding, error);
    if (status != ST_OK)
        return status;
    return found ? error_set(error, ST_CONFLICT, "%s has been changed meanwhile", id)
                 : error_set(error, ST_NOT_FOUND, "no such row");
}
