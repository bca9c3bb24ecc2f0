#include "store/rows/statistics_rows.h"

#include <stdio.h>

#include "store/rows/row_columns.h"

enum { REST_SIZE = 96 };

#define ROW struct statistics_row
static const struct row_column columns[] = {
    COUNTED(number),   COLUMN(id),         COLUMN(dataset),  CHANGING(state),
    CHANGING(reason),  COLUMN(ledger_seq), COLUMN(spec),     COLUMN(guarantee),
    CHANGING(answers), COLUMN(create_ms),  CHANGING(end_ms), COLUMN(created_by)};
static const struct row_table table = ROW_TABLE("survey", columns);

enum status statistics_row_insert(struct store_tx *tx, const struct statistics_row *row,
                                  struct error *error)
{
    return row_insert(tx, &table, row, error);
}

enum status statistics_row_end(struct store_tx *tx, const struct statistics_row *row,
                               struct error *error)
{
    struct statement statement;
    row_update_open(&statement, tx, &table, row, " WHERE id=?");
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

enum status statistics_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct statistics_row *row),
                                void *context, struct error *error)
{
    struct statement statement;
    struct statistics_row row = {0};
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id);
    if (row_next(&statement, &table, &row))
        visit(context, &row);
    return statement_end(&statement, error);
}

/* An id begins with its kind (base/id.h). */
static const char *const kinds[] = {
    [SURVEY_ANY] = "",
    [SURVEY_STATISTICS] = " AND substr(id,1,4)='sta_'",
    [SURVEY_EVALUATION] = " AND substr(id,1,4)='mev_'",
};

enum status statistics_rows_walk(struct store_tx *tx, const struct survey_range *range,
                                 bool (*visit)(void *context,
                                               const struct statistics_row *row),
                                 void *context, struct error *error)
{
    char sql[ROW_SQL_SIZE], rest[REST_SIZE];
    struct statement statement;
    struct statistics_row row = {0};
    snprintf(rest, sizeof rest, " WHERE number>? AND number<?%s%s ORDER BY number%s",
             kinds[range->kind], range->dataset != NULL ? " AND dataset=?" : "",
             range->newest_first ? " DESC" : "");
    row_select(sql, &table, "answers", rest);
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_int(&statement, range->after);
    statement_bind_int(&statement, range->before > 0 ? range->before : INT64_MAX);
    if (range->dataset != NULL)
        statement_bind_text(&statement, range->dataset);
    while (row_next(&statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(&statement, error);
}
