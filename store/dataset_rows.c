#include "store/rows.h"

#include "store/query.h"

enum status dataset_row_insert(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "INSERT INTO dataset(id,version,state,spec,detail,sha256,create_ms)"
               " VALUES(?,?,?,?,?,?,?)");
    query_bind_text(&query, row->id.text);
    query_bind_int(&query, row->version);
    query_bind_text(&query, row->state);
    query_bind_text(&query, row->spec);
    query_bind_text(&query, row->detail);
    query_bind_blob(&query, row->sha256, SHA256_SIZE);
    query_bind_time(&query, row->create_ms);
    return query_run(&query, error);
}

enum status dataset_row_update(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "UPDATE dataset SET version=?,state=?,detail=?,sha256=? WHERE id=?");
    query_bind_int(&query, row->version);
    query_bind_text(&query, row->state);
    query_bind_text(&query, row->detail);
    query_bind_blob(&query, row->sha256, SHA256_SIZE);
    query_bind_text(&query, row->id.text);
    return query_run_one(&query, error);
}

enum status dataset_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct dataset_row *row),
                              void *context, struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "SELECT id,version,state,spec,detail,sha256,create_ms FROM dataset"
               " ORDER BY create_ms,id");
    while (query_next(&query)) {
        struct dataset_row row = {.version = query_int(&query, 1),
                                  .state = query_text(&query, 2),
                                  .spec = query_text(&query, 3),
                                  .detail = query_text(&query, 4),
                                  .sha256 = query_blob(&query, 5),
                                  .create_ms = query_time(&query, 6)};
        query_copy_text(&query, 0, row.id.text, sizeof row.id.text);
        if (!query_good(&query) || !visit(context, &row))
            break;
    }
    return query_end(&query, error);
}
