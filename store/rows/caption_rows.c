#include "store/rows/caption_rows.h"

#include "store/sql/statement.h"

static const char *const kinds[] = {[CAPTIONED_DATASET] = "dataset",
                                    [CAPTIONED_JOB] = "job",
                                    [CAPTIONED_MODEL] = "model"};

enum status caption_row_set(struct store_tx *tx, const struct caption_row *row,
                            struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO caption(kind,id,text) VALUES(?,?,?)"
                   " ON CONFLICT(kind,id) DO UPDATE SET text=excluded.text");
    statement_bind_text(&statement, kinds[row->kind]);
    statement_bind_text(&statement, row->id);
    statement_bind_text(&statement, row->text);
    return statement_run(&statement, error);
}

enum status caption_row_delete(struct store_tx *tx, enum captioned kind, const char *id,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM caption WHERE kind=? AND id=?");
    statement_bind_text(&statement, kinds[kind]);
    statement_bind_text(&statement, id);
    return statement_run(&statement, error);
}

enum status caption_rows_walk(struct store_tx *tx, enum captioned kind,
                              bool (*visit)(void *context,
                                            const struct caption_row *row),
                              void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT id,text FROM caption WHERE kind=? ORDER BY id");
    statement_bind_text(&statement, kinds[kind]);
    while (statement_next(&statement)) {
        struct caption_row row = {.kind = kind,
                                  .id = statement_text(&statement, 0),
                                  .text = statement_text(&statement, 1)};
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}

enum status caption_row_find(struct store_tx *tx, enum captioned kind, const char *id,
                             bool (*visit)(void *context,
                                           const struct caption_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT text FROM caption WHERE kind=? AND id=?");
    statement_bind_text(&statement, kinds[kind]);
    statement_bind_text(&statement, id);
    if (statement_next(&statement)) {
        const struct caption_row row = {
            .kind = kind, .id = id, .text = statement_text(&statement, 0)};
        if (statement_good(&statement))
            visit(context, &row);
    }
    return statement_end(&statement, error);
}
