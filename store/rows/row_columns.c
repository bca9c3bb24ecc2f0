#include "store/rows/row_columns.h"

#include <string.h>

#include "base/check.h"

/* --- SQL --- */

struct sql {
    char *text; /* ROW_SQL_SIZE bytes */
    size_t used;
};

static void add(struct sql *sql, const char *text)
{
    size_t size = strlen(text);
    CHECK(sql->used + size < ROW_SQL_SIZE);
    memcpy(sql->text + sql->used, text, size + 1);
    sql->used += size;
}

static void add_name(struct sql *sql, const struct row_table *table)
{
    add(sql, "\"");
    add(sql, table->name);
    add(sql, "\"");
}

static bool is_inserted(const struct row_table *table, size_t i)
{
    return table->columns[i].use != ROW_COUNTED || table->drawn;
}

/* `each` is added for every column that is inserted; NULL: the column's name. */
static void add_list(struct sql *sql, const struct row_table *table, const char *each)
{
    const char *before = "(";
    for (size_t i = 0; i < table->count; i++) {
        if (!is_inserted(table, i))
            continue;
        add(sql, before);
        add(sql, each != NULL ? each : table->columns[i].name);
        before = ",";
    }
    add(sql, ")");
}

static void add_insert(struct sql *sql, const struct row_table *table,
                       const struct sql_dialect *dialect)
{
    add(sql, "INSERT INTO ");
    add_name(sql, table);
    add_list(sql, table, NULL);
    if (table->drawn)
        add(sql, dialect->as_given);
    add(sql, " VALUES");
    add_list(sql, table, "?");
}

/* Adds an assignment for each column that changes; from: the row that is inserted
 * instead, or NULL for a parameter. */
static void add_changes(struct sql *sql, const struct row_table *table,
                        const char *from)
{
    const char *before = " SET ";
    for (size_t i = 0; i < table->count; i++) {
        const struct row_column *column = &table->columns[i];
        if (column->use != ROW_CHANGES)
            continue;
        add(sql, before);
        add(sql, column->name);
        add(sql, from != NULL ? from : "=?");
        if (from != NULL)
            add(sql, column->name);
        before = ",";
    }
}

void row_select(char text[ROW_SQL_SIZE], const struct row_table *table,
                const char *without, const char *rest)
{
    struct sql sql = {text, 0};
    add(&sql, "SELECT ");
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->columns[i].name;
        add(&sql, i > 0 ? "," : "");
        add(&sql, without != NULL && strcmp(name, without) == 0 ? "''" : name);
    }
    add(&sql, " FROM ");
    add_name(&sql, table);
    add(&sql, rest);
}

/* --- writing --- */

static void bind_member(struct statement *statement, const struct row_column *column,
                        const char *row)
{
    const void *at = row + column->at;
    switch (column->kind) {
    case ROW_TEXT: statement_bind_text(statement, *(const char *const *)at); break;
    case ROW_TEXT_OR_NULL: {
        const char *text = *(const char *const *)at;
        statement_bind_text(statement, text[0] != '\0' ? text : NULL);
        break;
    }
    case ROW_ID: statement_bind_text(statement, at); break;
    case ROW_NUMBER: statement_bind_int(statement, *(const uint64_t *)at); break;
    case ROW_TIME: statement_bind_time(statement, *(const int64_t *)at); break;
    case ROW_UNSIGNED: statement_bind_int(statement, *(const unsigned *)at); break;
    case ROW_BOOL: statement_bind_int(statement, *(const bool *)at); break;
    case ROW_BYTES: statement_bind_blob(statement, at, column->size); break;
    case ROW_HASH:
    case ROW_HASH_OR_NULL:
        statement_bind_blob(statement, *(const uint8_t *const *)at, SHA256_SIZE);
        break;
    case ROW_BLOB:
    case ROW_BLOB_OR_NULL: {
        const size_t *size = (const void *)(row + column->size_at);
        statement_bind_blob(statement, *(const uint8_t *const *)at,
                            *size * column->size);
        break;
    }
    }
}

/* Opens an insertion that ends with the changes of a row that exists, if the caller has
 * them. */
static enum status insert(struct store_tx *tx, const struct row_table *table,
                          const char *row, bool or_update, struct error *error)
{
    char text[ROW_SQL_SIZE];
    struct sql sql = {text, 0};
    struct statement statement;
    uint64_t number = 0;
    const struct row_column *key = &table->columns[0];
    if (table->drawn)
        number = *(const uint64_t *)(const void *)(row + key->at);
    if (table->drawn && number == 0) {
        enum status status = row_number_draw(tx, table->numbered, &number, error);
        if (status != ST_OK)
            return status;
    }
    add_insert(&sql, table, &store_tx_database(tx)->driver->dialect);
    if (or_update) {
        add(&sql, " ON CONFLICT(");
        add(&sql, key->name);
        add(&sql, ") DO UPDATE");
        add_changes(&sql, table, "=excluded.");
    }
    statement_open(&statement, store_tx_database(tx), text);
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].use == ROW_COUNTED && table->drawn)
            statement_bind_int(&statement, number);
        else if (is_inserted(table, i))
            bind_member(&statement, &table->columns[i], row);
    return statement_run(&statement, error);
}

enum status row_insert(struct store_tx *tx, const struct row_table *table,
                       const void *row, struct error *error)
{
    return insert(tx, table, row, false, error);
}

enum status row_put(struct store_tx *tx, const struct row_table *table, const void *row,
                    struct error *error)
{
    return insert(tx, table, row, true, error);
}

void row_update_open(struct statement *statement, struct store_tx *tx,
                     const struct row_table *table, const void *row, const char *which)
{
    char text[ROW_SQL_SIZE];
    struct sql sql = {text, 0};
    add(&sql, "UPDATE ");
    add_name(&sql, table);
    add_changes(&sql, table, NULL);
    add(&sql, which);
    statement_open(statement, store_tx_database(tx), text);
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].use == ROW_CHANGES)
            bind_member(statement, &table->columns[i], row);
}

/* --- reading --- */

static void read_member(struct statement *statement, int i,
                        const struct row_column *column, char *row)
{
    void *at = row + column->at;
    switch (column->kind) {
    case ROW_TEXT: *(const char **)at = statement_text(statement, i); break;
    case ROW_TEXT_OR_NULL:
        *(const char **)at =
            statement_is_null(statement, i) ? "" : statement_text(statement, i);
        break;
    case ROW_ID: statement_copy_text(statement, i, at, column->size); break;
    case ROW_NUMBER: *(uint64_t *)at = statement_int(statement, i); break;
    case ROW_TIME: *(int64_t *)at = statement_time(statement, i); break;
    case ROW_UNSIGNED: *(unsigned *)at = (unsigned)statement_int(statement, i); break;
    case ROW_BOOL: *(bool *)at = statement_int(statement, i) != 0; break;
    case ROW_BYTES: statement_copy(statement, i, at, column->size); break;
    case ROW_HASH:
    case ROW_HASH_OR_NULL:
        *(const uint8_t **)at = statement_blob(statement, i);
        if (column->kind == ROW_HASH || !statement_is_null(statement, i))
            statement_expect_size(statement, i, SHA256_SIZE);
        break;
    case ROW_BLOB:
    case ROW_BLOB_OR_NULL: {
        size_t *size = (void *)(row + column->size_at);
        *(const uint8_t **)at = statement_blob(statement, i);
        if (column->kind == ROW_BLOB)
            *size = statement_blob_size(statement, i) / column->size;
        else if (!statement_is_null(statement, i))
            statement_expect_size(statement, i, *size * column->size);
        break;
    }
    }
}

void rows_open(struct statement *statement, struct store_tx *tx,
               const struct row_table *table, const char *rest)
{
    char text[ROW_SQL_SIZE];
    row_select(text, table, NULL, rest);
    statement_open(statement, store_tx_database(tx), text);
}

bool row_next(struct statement *statement, const struct row_table *table, void *row)
{
    if (!statement_next(statement))
        return false;
    for (size_t i = 0; i < table->count; i++)
        read_member(statement, (int)i, &table->columns[i], row);
    return statement_good(statement);
}
