#include "store/rows/audit_rows.h"

#include <string.h>

#include "base/check.h"
#include "store/rows/row_columns.h"

#define ROW struct audit_row
static const struct row_column columns[] = {
    COLUMN(seq),  COLUMN(second),  COLUMN(actor),  COLUMN(key),    COLUMN(project),
    COLUMN(via),  COLUMN(address), COLUMN(action), COLUMN(object), COLUMN(result),
    COLUMN(code), COLUMN(request), COLUMN(detail), COLUMN(prev),   COLUMN(hash)};
static const struct row_table table = ROW_TABLE("audit", columns);

enum status audit_row_insert(struct store_tx *tx, const struct audit_row *row,
                             struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status audit_rows_head(struct store_tx *tx, struct audit_head *head,
                            struct error *error)
{
    struct statement statement;
    struct audit_head found = {0};
    statement_open(&statement, store_tx_database(tx),
                   "SELECT seq,hash FROM audit ORDER BY seq DESC LIMIT 1");
    if (statement_next(&statement)) {
        found.seq = statement_int(&statement, 0);
        statement_copy(&statement, 1, found.hash, sizeof found.hash);
    }
    enum status status = statement_end(&statement, error);
    if (status == ST_OK)
        *head = found;
    return status;
}

static void append(char sql[ROW_SQL_SIZE], const char *condition)
{
    size_t used = strlen(sql), size = strlen(condition);
    CHECK(used + size < ROW_SQL_SIZE);
    memcpy(sql + used, condition, size + 1);
}

/* The SQL says literally that a row is not "ok": only then does the database use the
 * index of refusals. */
static void compose(char sql[ROW_SQL_SIZE], const struct audit_range *range)
{
    row_select(sql, &table, NULL, " WHERE seq>? AND seq<?");
    if (range->actor != NULL)
        append(sql, " AND actor=?");
    if (range->object != NULL)
        append(sql, " AND object=?");
    if (range->action != NULL)
        append(sql, " AND action=?");
    if (range->result != NULL)
        append(sql, strcmp(range->result, "ok") == 0
                        ? " AND result=?"
                        : " AND result<>'ok' AND result=?");
    append(sql, range->newest_first ? " ORDER BY seq DESC" : " ORDER BY seq");
}

enum status audit_rows_walk(struct store_tx *tx, const struct audit_range *range,
                            bool (*visit)(void *context, const struct audit_row *row),
                            void *context, struct error *error)
{
    char sql[ROW_SQL_SIZE];
    struct statement statement;
    struct audit_row row = {0};
    const char *const texts[] = {range->actor, range->object, range->action,
                                 range->result};
    compose(sql, range);
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_int(&statement, range->after);
    statement_bind_int(&statement, range->before > 0 ? range->before : INT64_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            statement_bind_text(&statement, texts[i]);
    while (row_next(&statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(&statement, error);
}
