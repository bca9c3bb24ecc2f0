#include "store/copy/table_copy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/sql/statement.h"

enum {
    TABLES_MAX = 64,
    COLUMNS_MAX = 24, /* the most parameters (postgres_session.h) */
    NAME_SIZE = 40,
    SQL_SIZE = 4096,
};

enum kind { KIND_TEXT, KIND_NUMBER, KIND_BLOB };

struct column {
    char name[NAME_SIZE];
    enum kind kind;
    unsigned key; /* place in the primary key, from 1; 0: it is not in it */
    bool counted; /* the database numbers it by itself */
};

struct table {
    char name[NAME_SIZE];
    size_t count;
    struct column columns[COLUMNS_MAX];
};

struct catalogue { /* a database's tables, in the order in which they were made */
    struct database *database;
    size_t count;
    struct table tables[TABLES_MAX];
};

/* --- catalogues --- */

static bool read_kind(enum kind *kind, const char *type)
{
    static const char *const names[] = {"TEXT", "INTEGER", "BLOB"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], type) == 0) {
            *kind = (enum kind)i;
            return true;
        }
    return false;
}

/* Adds the column that the statement is at, and its table if it is the first column. */
static enum status add_column(struct catalogue *catalogue, struct statement *statement,
                              struct error *error)
{
    const char *name = statement_text(statement, 0);
    struct table *table =
        catalogue->count > 0 ? &catalogue->tables[catalogue->count - 1] : NULL;
    if (table == NULL || strcmp(table->name, name) != 0) {
        CHECK(catalogue->count < TABLES_MAX);
        table = &catalogue->tables[catalogue->count++];
        *table = (struct table){0};
        statement_copy_text(statement, 0, table->name, sizeof table->name);
    }
    CHECK(table->count < COLUMNS_MAX);
    struct column *column = &table->columns[table->count++];
    statement_copy_text(statement, 1, column->name, sizeof column->name);
    column->key = (unsigned)statement_int(statement, 3);
    column->counted = statement_int(statement, 4) != 0;
    if (read_kind(&column->kind, statement_text(statement, 2)))
        return ST_OK;
    return error_set(error, ST_CORRUPT, "%s.%s is a %.32s, which is not copied",
                     table->name, column->name, statement_text(statement, 2));
}

static enum status read_catalogue(struct catalogue *catalogue, struct store_tx *tx,
                                  struct error *error)
{
    struct statement statement;
    enum status added = ST_OK;
    catalogue->database = store_tx_database(tx);
    catalogue->count = 0;
    statement_open(&statement, catalogue->database,
                   catalogue->database->driver->dialect.columns);
    while (added == ST_OK && statement_next(&statement))
        added = add_column(catalogue, &statement, error);
    enum status status = statement_end(&statement, added == ST_OK ? error : NULL);
    return status == ST_OK ? added : status;
}

static struct table *find_table(struct catalogue *catalogue, const char *name)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->tables[i].name, name) == 0)
            return &catalogue->tables[i];
    return NULL;
}

static const struct column *find_column(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

/* Leaves out the order of insertion, if the other table has none. */
static enum status keep_common(struct table *table, const struct table *other,
                               struct error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct column column = table->columns[i],
                            *found = find_column(other, column.name);
        if (found == NULL && strcmp(column.name, "rowid") == 0)
            continue;
        if (found == NULL || found->kind != column.kind)
            return error_set(error, ST_CORRUPT,
                             "only one of the two databases has the column %s.%s",
                             table->name, column.name);
        table->columns[kept++] = column;
    }
    table->count = kept;
    return ST_OK;
}

/* Checks that both hold the same tables and columns; those of one stay in its order. */
static enum status agree(struct catalogue *one, struct catalogue *other,
                         struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < one->count; i++) {
        struct table *theirs = find_table(other, one->tables[i].name);
        if (theirs == NULL)
            return error_set(error, ST_CORRUPT,
                             "only one of the two databases has the table %s",
                             one->tables[i].name);
        status = keep_common(&one->tables[i], theirs, error);
        if (status == ST_OK)
            status = keep_common(theirs, &one->tables[i], error);
    }
    if (status == ST_OK && one->count != other->count)
        status = error_set(error, ST_CORRUPT,
                           "the two databases do not have the same tables");
    return status;
}

struct pair { /* two databases that hold the same tables */
    struct catalogue one, other;
};

static enum status pair_create(struct pair **out, struct store_tx *one,
                               struct store_tx *other, struct error *error)
{
    struct pair *pair = calloc(1, sizeof *pair);
    CHECK(pair != NULL);
    enum status status = read_catalogue(&pair->one, one, error);
    if (status == ST_OK)
        status = read_catalogue(&pair->other, other, error);
    if (status == ST_OK)
        status = agree(&pair->one, &pair->other, error);
    if (status == ST_OK)
        *out = pair;
    else
        free(pair);
    return status;
}

/* --- SQL --- */

__attribute__((format(printf, 2, 3))) static void add(char sql[SQL_SIZE],
                                                      const char *format, ...)
{
    size_t used = strlen(sql);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(sql + used, SQL_SIZE - used, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && used + (size_t)length < SQL_SIZE);
}

static void add_columns(char sql[SQL_SIZE], const struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        add(sql, "%s\"%s\"", i > 0 ? "," : "", table->columns[i].name);
}

/* Selects the rows in the order of insertion, or else of their keys, which both
 * databases compare byte by byte. */
static void write_select(char sql[SQL_SIZE], const struct table *table)
{
    sql[0] = '\0';
    add(sql, "SELECT ");
    add_columns(sql, table);
    add(sql, " FROM \"%s\" ORDER BY ", table->name);
    if (find_column(table, "rowid") != NULL) {
        add(sql, "\"rowid\"");
        return;
    }
    unsigned parts = 0;
    for (size_t i = 0; i < table->count; i++)
        parts += table->columns[i].key > 0;
    CHECK(parts > 0);
    for (unsigned part = 1; part <= parts; part++)
        for (size_t i = 0; i < table->count; i++)
            if (table->columns[i].key == part)
                add(sql, "%s\"%s\"", part > 1 ? "," : "", table->columns[i].name);
}

static void write_insert(char sql[SQL_SIZE], const struct table *table,
                         const struct sql_dialect *dialect)
{
    sql[0] = '\0';
    add(sql, "INSERT INTO \"%s\"(", table->name);
    add_columns(sql, table);
    add(sql, ")%s VALUES(", dialect->as_given);
    for (size_t i = 0; i < table->count; i++)
        add(sql, "%s?", i > 0 ? "," : "");
    add(sql, ")");
}

/* --- one row --- */

/* Binds the value of the row's column. */
static void pass(struct statement *to, struct statement *from, int at, enum kind kind)
{
    if (statement_is_null(from, at)) {
        statement_bind_text(to, NULL);
        return;
    }
    switch (kind) {
    case KIND_TEXT: statement_bind_text(to, statement_text(from, at)); break;
    case KIND_NUMBER: statement_bind_time(to, statement_time(from, at)); break;
    case KIND_BLOB: {
        const uint8_t *blob = statement_blob(from, at);
        statement_bind_blob(to, blob != NULL ? blob : (const uint8_t *)"",
                            statement_blob_size(from, at));
        break;
    }
    }
}

static bool is_same(struct statement *one, struct statement *other, int at,
                    enum kind kind)
{
    bool null = statement_is_null(one, at);
    if (null || statement_is_null(other, at))
        return null && statement_is_null(other, at);
    if (kind == KIND_NUMBER)
        return statement_time(one, at) == statement_time(other, at);
    const void *here = kind == KIND_TEXT ? (const void *)statement_text(one, at)
                                         : statement_blob(one, at),
               *there = kind == KIND_TEXT ? (const void *)statement_text(other, at)
                                          : statement_blob(other, at);
    size_t size = statement_blob_size(one, at);
    return size == statement_blob_size(other, at) &&
           (size == 0 || memcmp(here, there, size) == 0);
}

/* Ends both statements of a walk. Reports the first failure. */
static enum status end_both(struct statement *one, struct statement *other,
                            enum status status, struct error *error)
{
    enum status first = statement_end(one, status == ST_OK ? error : NULL);
    if (status == ST_OK)
        status = first;
    enum status second = statement_end(other, status == ST_OK ? error : NULL);
    return status == ST_OK ? second : status;
}

/* --- copying --- */

/* Makes the database continue its numbering after the greatest number of the rows. */
static enum status count_on(struct database *database, const struct table *table,
                            const struct column *column, struct error *error)
{
    char sql[SQL_SIZE] = "";
    struct statement statement;
    uint64_t next = 1;
    add(sql, "SELECT coalesce(max(\"%s\"),0)+1 FROM \"%s\"", column->name, table->name);
    statement_open(&statement, database, sql);
    if (statement_next(&statement))
        next = statement_int(&statement, 0);
    enum status status = statement_end(&statement, error);
    if (status != ST_OK)
        return status;
    sql[0] = '\0';
    add(sql, "ALTER TABLE \"%s\" ALTER COLUMN \"%s\" RESTART WITH %" PRIu64,
        table->name, column->name, next);
    statement_open(&statement, database, sql);
    return statement_run(&statement, error);
}

static enum status insert_row(struct database *to, const char *sql,
                              const struct table *table, struct statement *row,
                              struct error *error)
{
    struct statement statement;
    statement_open(&statement, to, sql);
    for (size_t i = 0; i < table->count; i++)
        pass(&statement, row, (int)i, table->columns[i].kind);
    return statement_run(&statement, error);
}

static enum status copy_table(const struct table *table, struct database *to,
                              struct database *from, uint64_t *rows,
                              struct error *error)
{
    char select[SQL_SIZE], insert[SQL_SIZE];
    struct statement statement;
    struct error refused = {0};
    enum status status = ST_OK;
    write_select(select, table);
    write_insert(insert, table, &to->driver->dialect);
    statement_open(&statement, from, select);
    while (status == ST_OK && statement_next(&statement)) {
        status = insert_row(to, insert, table, &statement, &refused);
        *rows += status == ST_OK;
    }
    if (status != ST_OK)
        error_set(error, status == ST_IO ? ST_IO : ST_CORRUPT,
                  "row %" PRIu64 " of all, in table %s: %s", *rows + 1, table->name,
                  refused.text);
    enum status read = statement_end(&statement, status == ST_OK ? error : NULL);
    if (status == ST_OK)
        status = read;
    for (size_t i = 0; status == ST_OK && i < table->count; i++)
        if (table->columns[i].counted)
            status = count_on(to, table, &table->columns[i], error);
    return status == ST_OK || status == ST_IO ? status : ST_CORRUPT;
}

enum status table_copy_run(struct table_copy *copy, struct store_tx *to,
                           struct store_tx *from, struct error *error)
{
    struct pair *pair = NULL;
    *copy = (struct table_copy){0};
    /* The target's tables come in the order in which they were made, so a table that is
     * referred to comes before those that refer to it. */
    enum status status = pair_create(&pair, to, from, error);
    if (status != ST_OK)
        return status;
    copy->tables = pair->one.count;
    for (size_t i = 0; status == ST_OK && i < pair->one.count; i++)
        status = copy_table(&pair->one.tables[i], pair->one.database,
                            pair->other.database, &copy->rows, error);
    free(pair);
    return status;
}

/* --- comparing --- */

/* Returns the index of the column in which the rows differ, or table->count. */
static size_t difference(const struct table *table, struct statement *one,
                         struct statement *other)
{
    size_t at = 0;
    while (at < table->count && is_same(one, other, (int)at, table->columns[at].kind))
        at++;
    return at;
}

static enum status compare_table(const struct table *table, struct database *one,
                                 struct database *other, uint64_t *rows,
                                 struct error *error)
{
    char sql[SQL_SIZE];
    struct statement ones, others;
    enum status status = ST_OK;
    uint64_t row = 0;
    write_select(sql, table);
    statement_open(&ones, one, sql);
    statement_open(&others, other, sql);
    while (status == ST_OK) {
        bool here = statement_next(&ones), there = statement_next(&others);
        if (!statement_good(&ones) || !statement_good(&others) || (!here && !there))
            break;
        row++;
        size_t at = here && there ? difference(table, &ones, &others) : 0;
        if (at < table->count)
            status = error_set(
                error, ST_CORRUPT, "row %" PRIu64 " of the table %s differs: %s", row,
                table->name,
                here && there ? table->columns[at].name : "only one of the two has it");
    }
    *rows += row;
    return end_both(&ones, &others, status, error);
}

enum status table_copy_compare(struct table_copy *copy, struct store_tx *one,
                               struct store_tx *other, struct error *error)
{
    struct pair *pair = NULL;
    *copy = (struct table_copy){0};
    enum status status = pair_create(&pair, one, other, error);
    if (status != ST_OK)
        return status;
    copy->tables = pair->one.count;
    for (size_t i = 0; status == ST_OK && i < pair->one.count; i++)
        status = compare_table(&pair->one.tables[i], pair->one.database,
                               pair->other.database, &copy->rows, error);
    free(pair);
    return status;
}

/* --- emptiness --- */

enum status table_copy_is_empty(struct store_tx *tx, bool *empty, struct error *error)
{
    struct catalogue *catalogue = calloc(1, sizeof *catalogue);
    CHECK(catalogue != NULL);
    enum status status = read_catalogue(catalogue, tx, error);
    *empty = true;
    for (size_t i = 0; status == ST_OK && *empty && i < catalogue->count; i++) {
        char sql[SQL_SIZE] = "";
        struct statement statement;
        add(sql, "SELECT 1 FROM \"%s\" LIMIT 1", catalogue->tables[i].name);
        statement_open(&statement, catalogue->database, sql);
        *empty = !statement_next(&statement);
        status = statement_end(&statement, error);
    }
    free(catalogue);
    return status;
}
