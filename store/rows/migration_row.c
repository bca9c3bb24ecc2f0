#include "store/rows/migration_row.h"

#include <string.h>

#include "store/sql/statement.h"

static const char *const states[] = {
    [MIGRATION_HERE] = "HERE",
    [MIGRATION_ARRIVING] = "ARRIVING",
    [MIGRATION_LEFT] = "LEFT",
};

static bool read_state(enum migration_state *state, const char *text)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], text) == 0) {
            *state = (enum migration_state)i;
            return true;
        }
    return false;
}

enum status migration_row_read(struct store_tx *tx, struct migration_row *row,
                               struct error *error)
{
    struct statement statement;
    bool good = false;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT identity,state,other,place FROM migration");
    if (statement_next(&statement)) {
        statement_copy_text(&statement, 0, row->identity, sizeof row->identity);
        good = read_state(&row->state, statement_text(&statement, 1));
        statement_copy_text(&statement, 2, row->other, sizeof row->other);
        statement_copy_text(&statement, 3, row->place, sizeof row->place);
    }
    enum status status = statement_end(&statement, error);
    if (status == ST_OK && !good)
        status = error_set(error, ST_CORRUPT,
                           "the database does not say whether it is the one");
    return status;
}

enum status migration_row_update(struct store_tx *tx, const struct migration_row *row,
                                 struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE migration SET state=?,other=?,place=?");
    statement_bind_text(&statement, states[row->state]);
    statement_bind_text(&statement, row->other);
    statement_bind_text(&statement, row->place);
    return statement_run_one(&statement, error);
}
