#include "store/rows.h"

#include "store/query.h"

enum status model_row_insert(struct store_tx *tx, const struct model_row *row,
                             struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "INSERT INTO model(id,job,sha256,size,card,create_ms)"
               " VALUES(?,?,?,?,?,?)");
    query_bind_text(&query, row->id.text);
    query_bind_text(&query, row->job.text);
    query_bind_blob(&query, row->sha256, SHA256_SIZE);
    query_bind_int(&query, row->size);
    query_bind_text(&query, row->card);
    query_bind_time(&query, row->create_ms);
    return query_run(&query, error);
}

enum status model_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct model_row *row),
                            void *context, struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "SELECT id,job,sha256,size,card,create_ms FROM model ORDER BY number");
    while (query_next(&query)) {
        struct model_row row = {.size = query_int(&query, 3),
                                .card = query_text(&query, 4),
                                .create_ms = query_time(&query, 5)};
        query_copy_text(&query, 0, row.id.text, sizeof row.id.text);
        query_copy_text(&query, 1, row.job.text, sizeof row.job.text);
        query_copy(&query, 2, row.sha256, sizeof row.sha256);
        if (!query_good(&query) || !visit(context, &row))
            break;
    }
    return query_end(&query, error);
}
