#include "store/rows/statistics_rows.h"

#include <stdio.h>

#include "store/sql/statement.h"

enum { SQL_SIZE = 320 };

enum status statistics_row_insert(struct store_tx *tx, const struct statistics_row *row,
                                  struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO survey(id,dataset,state,reason,ledger_seq,spec,"
                   "guarantee,answers,create_ms,end_ms,created_by)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->id.text);
    statement_bind_text(&statement, row->dataset);
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->reason);
    statement_bind_int(&statement, row->ledger_seq);
    statement_bind_text(&statement, row->spec);
    statement_bind_text(&statement, row->guarantee);
    statement_bind_text(&statement, row->answers);
    statement_bind_time(&statement, row->create_ms);
    statement_bind_time(&statement, row->end_ms);
    statement_bind_text(&statement, row->created_by);
    return statement_run(&statement, error);
}

enum status statistics_row_end(struct store_tx *tx, const struct statistics_row *row,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE survey SET state=?,reason=?,answers=?,end_ms=? WHERE id=?");
    statement_bind_text(&statement, row->state);
    statement_bind_text(&statement, row->reason);
    statement_bind_text(&statement, row->answers);
    statement_bind_time(&statement, row->end_ms);
    statement_bind_text(&statement, row->id.text);
    return statement_run_one(&statement, error);
}

/* The columns of every selection, in this order; answers_as is selected as the
 * answers. */
static void select_rows(char sql[SQL_SIZE], const char *answers_as, const char *rest)
{
    snprintf(sql, SQL_SIZE,
             "SELECT number,id,dataset,state,reason,ledger_seq,spec,guarantee,%s,"
             "create_ms,end_ms,created_by FROM survey %s",
             answers_as, rest);
}

static bool read_row(struct statement *statement, struct statistics_row *row)
{
    *row = (struct statistics_row){
        .number = statement_int(statement, 0),
        .dataset = statement_text(statement, 2),
        .state = statement_text(statement, 3),
        .reason = statement_text(statement, 4),
        .ledger_seq = statement_int(statement, 5),
        .spec = statement_text(statement, 6),
        .guarantee = statement_text(statement, 7),
        .answers = statement_text(statement, 8),
        .create_ms = statement_time(statement, 9),
        .end_ms = statement_time(statement, 10),
        .created_by = statement_text(statement, 11),
    };
    statement_copy_text(statement, 1, row->id.text, sizeof row->id.text);
    return statement_good(statement);
}

enum status statistics_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct statistics_row *row),
                                void *context, struct error *error)
{
    char sql[SQL_SIZE];
    struct statement statement;
    struct statistics_row row;
    select_rows(sql, "answers", "WHERE id=?");
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_text(&statement, id);
    if (statement_next(&statement) && read_row(&statement, &row))
        visit(context, &row);
    return statement_end(&statement, error);
}

enum status statistics_rows_walk(struct store_tx *tx, const struct survey_range *range,
                                 bool (*visit)(void *context,
                                               const struct statistics_row *row),
                                 void *context, struct error *error)
{
    char sql[SQL_SIZE], rest[SQL_SIZE / 2];
    struct statement statement;
    struct statistics_row row;
    snprintf(rest, sizeof rest, "WHERE number>? AND number<?%s ORDER BY number%s",
             range->dataset != NULL ? " AND dataset=?" : "",
             range->newest_first ? " DESC" : "");
    select_rows(sql, "''", rest);
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_int(&statement, range->after);
    statement_bind_int(&statement, range->before > 0 ? range->before : INT64_MAX);
    if (range->dataset != NULL)
        statement_bind_text(&statement, range->dataset);
    while (statement_next(&statement) && read_row(&statement, &row))
        if (!visit(context, &row))
            break;
    return statement_end(&statement, error);
}
