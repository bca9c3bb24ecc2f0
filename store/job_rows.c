#include "store/rows.h"

#include "store/query.h"

enum status job_row_insert(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    struct query query;
    query_open(
        &query, tx,
        "INSERT INTO job(id,version,state,attempt,spec,detail,create_ms,update_ms)"
        " VALUES(?,?,?,?,?,?,?,?)");
    query_bind_text(&query, row->id.text);
    query_bind_int(&query, row->version);
    query_bind_text(&query, row->state);
    query_bind_int(&query, row->attempt);
    query_bind_text(&query, row->spec);
    query_bind_text(&query, row->detail);
    query_bind_time(&query, row->create_ms);
    query_bind_time(&query, row->update_ms);
    return query_run(&query, error);
}

enum status job_row_update(struct store_tx *tx, const struct job_row *row,
                           struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "UPDATE job SET version=?,state=?,attempt=?,detail=?,update_ms=?"
               " WHERE id=?");
    query_bind_int(&query, row->version);
    query_bind_text(&query, row->state);
    query_bind_int(&query, row->attempt);
    query_bind_text(&query, row->detail);
    query_bind_time(&query, row->update_ms);
    query_bind_text(&query, row->id.text);
    return query_run_one(&query, error);
}

enum status job_rows_walk(struct store_tx *tx,
                          bool (*visit)(void *context, const struct job_row *row),
                          void *context, struct error *error)
{
    struct query query;
    query_open(
        &query, tx,
        "SELECT id,version,state,attempt,spec,detail,create_ms,update_ms FROM job"
        " ORDER BY number");
    while (query_next(&query)) {
        struct job_row row = {.version = query_int(&query, 1),
                              .state = query_text(&query, 2),
                              .attempt = (uint32_t)query_int(&query, 3),
                              .spec = query_text(&query, 4),
                              .detail = query_text(&query, 5),
                              .create_ms = query_time(&query, 6),
                              .update_ms = query_time(&query, 7)};
        query_copy_text(&query, 0, row.id.text, sizeof row.id.text);
        if (!query_good(&query) || !visit(context, &row))
            break;
    }
    return query_end(&query, error);
}
