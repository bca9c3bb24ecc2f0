/*
 * The position is kept with the connection (database.h), because a connection that is
 * lost loses the turn too: before the transaction is written again, the driver must
 * know whether another daemon has written since. The SQL is PostgreSQL's; no other
 * database is shared.
 */
#include "store/change_feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/sql/statement.h"

static const char *const names[CHANGE_FEED_KINDS] = {
    [CHANGE_FEED_LEDGER] = "ledger",
    [CHANGE_FEED_AUDIT] = "audit",
    [CHANGE_FEED_DATASET] = "dataset",
    [CHANGE_FEED_WEIGHTS] = "weights",
    [CHANGE_FEED_JOB] = "job",
    [CHANGE_FEED_MODEL] = "model",
    [CHANGE_FEED_SURVEY] = "survey",
    [CHANGE_FEED_CHARGE] = "charge",
    [CHANGE_FEED_WEBHOOK] = "webhook",
    [CHANGE_FEED_ACCESS_KEY] = "access_key",
    [CHANGE_FEED_CAPTION] = "caption",
    [CHANGE_FEED_LOGIN] = "login",
    [CHANGE_FEED_POLICY_PROPOSAL] = "policy_proposal",
};

struct seen { /* result of one query */
    struct change_feed_change *changes;
    size_t count, capacity;
    char *position;
    uint64_t oldest; /* the oldest transaction that the position may not include */
};

static int order(const void *one, const void *other)
{
    const struct change_feed_change *a = one, *b = other;
    return a->what != b->what ? (a->what < b->what ? -1 : 1) : strcmp(a->id, b->id);
}

/* Ignores a table that this program does not know: it affects nothing that is in
 * memory. */
static void take(struct seen *seen, struct statement *statement)
{
    char what[CHANGE_FEED_ID_SIZE] = "";
    if (statement_is_null(statement, 2))
        return;
    statement_copy_text(statement, 2, what, sizeof what);
    for (size_t i = 0; i < CHANGE_FEED_KINDS; i++) {
        if (strcmp(names[i], what) != 0)
            continue;
        if (seen->count == seen->capacity) {
            seen->capacity = 2 * seen->capacity + 8;
            seen->changes =
                reallocarray(seen->changes, seen->capacity, sizeof *seen->changes);
            CHECK(seen->changes != NULL);
        }
        struct change_feed_change *change = &seen->changes[seen->count++];
        change->what = (enum change_feed_what)i;
        statement_copy_text(statement, 3, change->id, sizeof change->id);
    }
}

/* Both the rows and the new position are of the one snapshot of this statement. */
static enum status ask(struct database *database, struct seen *seen,
                       struct error *error)
{
    struct statement statement;
    seen->count = 0;
    statement_open(&statement, database,
                   "SELECT now.position::text,pg_snapshot_xmin(now.position),what,id"
                   " FROM (SELECT pg_current_snapshot() AS position) AS now LEFT JOIN"
                   " (SELECT DISTINCT what,id FROM change WHERE by>=?::xid8 AND NOT"
                   " pg_visible_in_snapshot(by,?::pg_snapshot) AND daemon<>?) AS new"
                   " ON true");
    statement_bind_int(&statement, atomic_load(&database->follows));
    statement_bind_text(&statement, database->position);
    statement_bind_int(&statement, database->daemon);
    while (statement_next(&statement) && statement_good(&statement)) {
        free(seen->position);
        seen->position = strdup(statement_text(&statement, 0));
        CHECK(seen->position != NULL);
        seen->oldest = statement_int(&statement, 1);
        take(seen, &statement);
    }
    return statement_end(&statement, error);
}

enum status change_feed_renew(struct database *database, struct store_tx *tx,
                              const struct change_feed_hook *hook, struct error *error)
{
    struct seen seen = {0};
    if (!database->shared || hook->renew == NULL)
        return ST_OK;
    database->renewing = true;
    enum status status = ask(database, &seen, error);
    if (status == ST_OK && seen.count > 0)
        qsort(seen.changes, seen.count, sizeof *seen.changes, order);
    if (status == ST_OK)
        status = hook->renew(hook->context, tx, seen.changes, seen.count, error);
    database->renewing = false;
    free(seen.changes);
    if (status != ST_OK) {
        free(seen.position);
        return status;
    }
    free(database->position);
    database->position = seen.position;
    atomic_store(&database->follows, seen.oldest);
    database->renewed = true;
    return ST_OK;
}

/* A transaction number from the future is that of a server that this database was
 * copied from. */
enum status change_feed_forget(struct database *database, struct error *error)
{
    struct statement statement;
    if (!database->shared)
        return ST_OK;
    statement_open(&statement, database,
                   "DELETE FROM change WHERE"
                   " by<(SELECT min(follows) FROM writer WHERE id=lead AND NOT fenced)"
                   " OR (by>=pg_snapshot_xmax(pg_current_snapshot())"
                   " AND by<>pg_current_xact_id())");
    return statement_run(&statement, error);
}
