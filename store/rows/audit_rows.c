#include "store/rows/audit_rows.h"

#include <stdio.h>
#include <string.h>

#include "store/sql/statement.h"

enum { STATEMENT_SIZE = 384 };

enum status audit_row_insert(struct store_tx *tx, const struct audit_row *row,
                             struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO audit(seq,second,actor,key,project,via,address,action,"
                   "object,result,code,request,detail,prev,hash)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_int(&statement, row->seq);
    statement_bind_time(&statement, row->second);
    statement_bind_text(&statement, row->actor);
    statement_bind_text(&statement, row->key);
    statement_bind_text(&statement, row->project);
    statement_bind_text(&statement, row->via);
    statement_bind_text(&statement, row->address);
    statement_bind_text(&statement, row->action);
    statement_bind_text(&statement, row->object);
    statement_bind_text(&statement, row->result);
    statement_bind_text(&statement, row->code);
    statement_bind_text(&statement, row->request);
    statement_bind_text(&statement, row->detail);
    statement_bind_blob(&statement, row->prev, SHA256_SIZE);
    statement_bind_blob(&statement, row->hash, SHA256_SIZE);
    return statement_run(&statement, error);
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

static void read_row(struct statement *statement, struct audit_row *row)
{
    *row = (struct audit_row){.seq = statement_int(statement, 0),
                              .second = statement_time(statement, 1),
                              .actor = statement_text(statement, 2),
                              .key = statement_text(statement, 3),
                              .project = statement_text(statement, 4),
                              .via = statement_text(statement, 5),
                              .address = statement_text(statement, 6),
                              .action = statement_text(statement, 7),
                              .object = statement_text(statement, 8),
                              .result = statement_text(statement, 9),
                              .code = statement_text(statement, 10),
                              .request = statement_text(statement, 11),
                              .detail = statement_text(statement, 12)};
    statement_copy(statement, 13, row->prev, sizeof row->prev);
    statement_copy(statement, 14, row->hash, sizeof row->hash);
}

static void append(char sql[STATEMENT_SIZE], const char *condition)
{
    size_t used = strlen(sql);
    snprintf(sql + used, STATEMENT_SIZE - used, "%s", condition);
}

/* The SQL says literally that a row is not "ok": only then does the database use the
 * index of refusals. */
static void compose(char sql[STATEMENT_SIZE], const struct audit_range *range)
{
    sql[0] = '\0';
    append(sql, "SELECT seq,second,actor,key,project,via,address,action,object,result,"
                "code,request,detail,prev,hash FROM audit WHERE seq>? AND seq<?");
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
    char sql[STATEMENT_SIZE];
    struct statement statement;
    struct audit_row row;
    const char *const texts[] = {range->actor, range->object, range->action,
                                 range->result};
    compose(sql, range);
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_int(&statement, range->after);
    statement_bind_int(&statement, range->before > 0 ? range->before : INT64_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            statement_bind_text(&statement, texts[i]);
    while (statement_next(&statement)) {
        read_row(&statement, &row);
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}
