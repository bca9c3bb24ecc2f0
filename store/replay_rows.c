#include "store/rows.h"

#include "store/query.h"

enum status replay_row_insert(struct store_tx *tx, const struct replay_row *row,
                              struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "INSERT INTO replay(route,key,fingerprint,location,body,time_ms)"
               " VALUES(?,?,?,?,?,?)");
    query_bind_text(&query, row->route);
    query_bind_text(&query, row->key);
    query_bind_blob(&query, row->fingerprint, SHA256_SIZE);
    query_bind_text(&query, row->location);
    query_bind_text(&query, row->body);
    query_bind_time(&query, row->time_ms);
    return query_run(&query, error);
}

enum status replay_row_find(struct store_tx *tx, const char *route, const char *key,
                            bool (*visit)(void *context, const struct replay_row *row),
                            void *context, struct error *error)
{
    struct query query;
    query_open(&query, tx,
               "SELECT route,key,fingerprint,location,body,time_ms FROM replay"
               " WHERE route=? AND key=?");
    query_bind_text(&query, route);
    query_bind_text(&query, key);
    if (query_next(&query)) {
        struct replay_row row = {.route = query_text(&query, 0),
                                 .key = query_text(&query, 1),
                                 .location = query_text(&query, 3),
                                 .body = query_text(&query, 4),
                                 .time_ms = query_time(&query, 5)};
        query_copy(&query, 2, row.fingerprint, sizeof row.fingerprint);
        if (query_good(&query))
            visit(context, &row);
    }
    return query_end(&query, error);
}
