#include "store/rows.h"

#include "store/query.h"

enum status ledger_row_insert(struct store_tx *tx, const struct ledger_row *row,
                              struct error *error)
{
    struct query query;
    query_open(
        &query, tx,
        "INSERT INTO ledger(seq,dataset,epoch,job,kind,curve,released,meta,actor,"
        "time_ms,prev,hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    query_bind_int(&query, row->seq);
    query_bind_text(&query, row->dataset);
    query_bind_int(&query, row->epoch);
    query_bind_text(&query, row->job);
    query_bind_text(&query, row->kind);
    query_bind_blob(&query, row->curve, row->curve_size);
    query_bind_blob(&query, row->released, row->curve_size);
    query_bind_text(&query, row->meta);
    query_bind_text(&query, row->actor);
    query_bind_time(&query, row->time_ms);
    query_bind_blob(&query, row->prev, SHA256_SIZE);
    query_bind_blob(&query, row->hash, SHA256_SIZE);
    return query_run(&query, error);
}

static void read_row(struct query *query, struct ledger_row *row)
{
    *row = (struct ledger_row){.seq = query_int(query, 0),
                               .dataset = query_text(query, 1),
                               .epoch = query_int(query, 2),
                               .job = query_text(query, 3),
                               .kind = query_text(query, 4),
                               .curve = query_blob(query, 5),
                               .curve_size = query_blob_size(query, 5),
                               .released = query_blob(query, 6),
                               .meta = query_text(query, 7),
                               .actor = query_text(query, 8),
                               .time_ms = query_time(query, 9)};
    query_copy(query, 10, row->prev, sizeof row->prev);
    query_copy(query, 11, row->hash, sizeof row->hash);
    if (row->released != NULL)
        query_expect_size(query, 6, row->curve_size);
}

enum status ledger_rows_walk(struct store_tx *tx, const char *dataset, uint64_t after,
                             bool (*visit)(void *context, const struct ledger_row *row),
                             void *context, struct error *error)
{
    struct query query;
    struct ledger_row row;
    query_open(
        &query, tx,
        dataset == NULL
            ? "SELECT seq,dataset,epoch,job,kind,curve,released,meta,actor,time_ms,"
              "prev,hash FROM ledger WHERE seq>? ORDER BY seq"
            : "SELECT seq,dataset,epoch,job,kind,curve,released,meta,actor,time_ms,"
              "prev,hash FROM ledger WHERE seq>? AND dataset=? ORDER BY seq");
    query_bind_int(&query, after);
    if (dataset != NULL)
        query_bind_text(&query, dataset);
    while (query_next(&query)) {
        read_row(&query, &row);
        if (!query_good(&query) || !visit(context, &row))
            break;
    }
    return query_end(&query, error);
}

enum status mark_row_raise(struct store_tx *tx, const char *job, uint64_t authorised,
                           struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "INSERT INTO mark(job,authorised) VALUES(?,?)"
               " ON CONFLICT(job) DO UPDATE SET authorised=excluded.authorised");
    query_bind_text(&query, job);
    query_bind_int(&query, authorised);
    return query_run(&query, error);
}

enum status mark_rows_walk(struct store_tx *tx,
                           bool (*visit)(void *context, const char *job,
                                         uint64_t authorised),
                           void *context, struct error *error)
{
    struct query query;
    query_open(&query, tx, "SELECT job,authorised FROM mark ORDER BY job");
    while (query_next(&query)) {
        const char *job = query_text(&query, 0);
        if (!query_good(&query) || !visit(context, job, query_int(&query, 1)))
            break;
    }
    return query_end(&query, error);
}

enum status freeze_row_insert(struct store_tx *tx, const struct freeze_row *row,
                              struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "INSERT INTO freeze(dataset,epoch,seq,hash,time_ms) VALUES(?,?,?,?,?)");
    query_bind_text(&query, row->dataset);
    query_bind_int(&query, row->epoch);
    query_bind_int(&query, row->seq);
    query_bind_blob(&query, row->hash, SHA256_SIZE);
    query_bind_time(&query, row->time_ms);
    return query_run(&query, error);
}

enum status freeze_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct freeze_row *row),
                             void *context, struct error *error)
{
    struct query query;
    query_open(
        &query, tx,
        "SELECT dataset,epoch,seq,hash,time_ms FROM freeze ORDER BY dataset,epoch");
    while (query_next(&query)) {
        struct freeze_row row = {.dataset = query_text(&query, 0),
                                 .epoch = query_int(&query, 1),
                                 .seq = query_int(&query, 2),
                                 .time_ms = query_time(&query, 4)};
        query_copy(&query, 3, row.hash, sizeof row.hash);
        if (!query_good(&query) || !visit(context, &row))
            break;
    }
    return query_end(&query, error);
}
