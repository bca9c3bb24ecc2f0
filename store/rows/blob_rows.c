#include "store/rows/blob_rows.h"

#include <string.h>

#include "base/check.h"
#include "store/rows/row_columns.h"

#define ROW struct blob_row
static const struct row_column columns[] = {
    COLUMN(name),      CHANGING(object),
    CHANGING(size),    BLOB(ROW_BLOB, ROW_CHANGES, chunks, chunk_count, SHA256_SIZE),
    CHANGING(wrapped), CHANGING(create_ms)};
static const struct row_table table = ROW_TABLE("blob", columns);

enum status blob_row_insert(struct store_tx *tx, const struct blob_row *row,
                            struct error *error)
{
    CHECK(row->chunk_count > 0);
    return row_insert(tx, &table, row, error);
}

enum status blob_row_set(struct store_tx *tx, const struct blob_row *row,
                         struct error *error)
{
    CHECK(row->chunk_count > 0);
    return row_put(tx, &table, row, error);
}

enum status blob_row_delete(struct store_tx *tx, const char *name, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM blob WHERE name=?");
    statement_bind_text(&statement, name);
    return statement_run_one(&statement, error);
}

enum status blob_row_find(struct store_tx *tx, const char *name,
                          bool (*visit)(void *context, const struct blob_row *row),
                          void *context, struct error *error)
{
    struct statement statement;
    struct blob_row row = {0};
    rows_open(&statement, tx, &table, " WHERE name=?");
    statement_bind_text(&statement, name);
    if (row_next(&statement, &table, &row))
        visit(context, &row);
    return statement_end(&statement, error);
}

enum status blob_names_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const char *name,
                                          int64_t create_ms),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT name,create_ms FROM blob ORDER BY name");
    while (statement_next(&statement)) {
        const char *name = statement_text(&statement, 0);
        int64_t create_ms = statement_time(&statement, 1);
        if (!statement_good(&statement) || !visit(context, name, create_ms))
            break;
    }
    return statement_end(&statement, error);
}

enum status blob_rows_have_object(struct store_tx *tx, const char *object, bool *have,
                                  struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT 1 FROM blob WHERE object=?");
    statement_bind_text(&statement, object);
    *have = statement_next(&statement);
    return statement_end(&statement, error);
}

/* The remaining parameters repeat the first name. */
enum status blob_rows_have_objects(struct store_tx *tx, const char *const *objects,
                                   size_t count, bool *have, struct error *error)
{
    struct statement statement;
    CHECK(count > 0 && count <= BLOB_OBJECTS_AT_ONCE);
    memset(have, 0, count * sizeof *have);
    statement_open(&statement, store_tx_database(tx),
                   "SELECT object FROM blob WHERE object IN"
                   "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < BLOB_OBJECTS_AT_ONCE; i++)
        statement_bind_text(&statement, objects[i < count ? i : 0]);
    while (statement_next(&statement)) {
        const char *object = statement_text(&statement, 0);
        if (!statement_good(&statement))
            break;
        for (size_t i = 0; i < count; i++)
            have[i] = have[i] || strcmp(objects[i], object) == 0;
    }
    return statement_end(&statement, error);
}
