#include <stdio.h>

#include "store/rows/table_rows.h"
#include "store/sql/statement.h"

enum { SQL_SIZE = 256 };

static const struct {
    const char *name, *column;
} tables[] = {
    [NUMBERED_DATASET] = {"dataset", "rowid"},
    [NUMBERED_JOB] = {"job", "number"},
    [NUMBERED_MODEL] = {"model", "number"},
    [NUMBERED_WEIGHTS] = {"weights", "number"},
    [NUMBERED_CHARGE] = {"charge", "number"},
    [NUMBERED_ACCESS_KEY] = {"access_key", "rowid"},
};

enum status row_number_draw(struct store_tx *tx, enum numbered table, uint64_t *number,
                            struct error *error)
{
    struct statement statement;
    struct database *database = store_tx_database(tx);
    statement_open(&statement, database, database->driver->dialect.next);
    statement_bind_text(&statement, tables[table].name);
    if (statement_next(&statement))
        *number = statement_int(&statement, 0);
    return statement_end(&statement, error);
}

enum status row_number_find(struct store_tx *tx, enum numbered table, const char *id,
                            uint64_t *number, struct error *error)
{
    char sql[SQL_SIZE];
    struct statement statement;
    *number = 0;
    snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE id=?", tables[table].column,
             tables[table].name);
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_text(&statement, id);
    if (statement_next(&statement))
        *number = statement_int(&statement, 0);
    return statement_end(&statement, error);
}
