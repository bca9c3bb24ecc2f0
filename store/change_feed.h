/*
 * change_feed.h - updates what a daemon keeps in memory of a shared store (server.h)
 * after other daemons have written.
 *
 *   store_begin      takes the turn; passes to the hook, in tx, what other daemons have
 *                    committed since the last time; then the caller has tx
 *   store_commit     passes the turn on, once the transaction is durable
 *
 * A *turn* is a lock of one row, the ledger's head, which every transaction of
 * STORE_LEDGER, STORE_JOB and STORE_ROW of every daemon holds from its beginning until
 * it is durable. So these transactions run one after the other across all daemons, and
 * a daemon that has the turn decides by its memory as if it were the only one. A
 * transaction of STORE_READ takes no turn and renews memory by what its own snapshot
 * sees. One of STORE_MARK neither takes a turn nor renews.
 *
 * The table `change` lists the rows that have changed; triggers write it in the very
 * transactions that change them. A follower's *position* is a snapshot of the server:
 * the follower has read all that the snapshot sees. It selects the changes of
 * transactions that its position does not see and its present snapshot does, so that a
 * transaction which began early and commits late is not skipped. Its own transactions
 * are left out.
 *
 * Invariants
 *   (1) Memory and rows are of the same moment in every transaction but those of
 *       STORE_MARK, from the hook's return to the end.
 *   (2) The position moves when the hook has answered ST_OK. What the hook has put into
 *       memory stays, however the transaction ends: it was durable before.
 *   (3) A change is passed at least once to each daemon that was open before it, and
 *       twice only if the hook that got it failed: a hook replaces what it has by what
 *       the rows say.
 *   (4) A row of `change` is deleted when no daemon that is alive may still read it.
 *
 * The service registers its hook by store_follow, and renews by store_look (store.h).
 * If a store is not shared, neither does anything.
 *
 * Threads: those of the transaction.
 */
#ifndef STORE_CHANGE_FEED_H
#define STORE_CHANGE_FEED_H

#include <stddef.h>

#include "base/status.h"

struct database; /* database.h */
struct store_tx; /* store.h */

/* Tables, in an order in which rows may be read: a row that another refers to comes
 * first. */
enum change_feed_what {
    CHANGE_FEED_LEDGER, /* entries or freezes were appended; no id */
    CHANGE_FEED_AUDIT,  /* the trail was continued; no id */
    CHANGE_FEED_DATASET,
    CHANGE_FEED_WEIGHTS,
    CHANGE_FEED_JOB,
    CHANGE_FEED_MODEL,
    CHANGE_FEED_SURVEY,
    CHANGE_FEED_CHARGE,
    CHANGE_FEED_ACCESS_KEY,
    CHANGE_FEED_LOGIN,
    CHANGE_FEED_POLICY_PROPOSAL, /* the id is the key's */
    CHANGE_FEED_WEBHOOK,
    CHANGE_FEED_CAPTION, /* the id is "dataset/ID", "job/ID" or "model/ID" */
    CHANGE_FEED_KINDS,
};

enum { CHANGE_FEED_ID_SIZE = 80 };

struct change_feed_change { /* a row that was inserted, changed or deleted */
    enum change_feed_what what;
    char id[CHANGE_FEED_ID_SIZE];
};

struct change_feed_hook {
    /* Updates memory, by reading in tx the rows of the changes, which are sorted by
     * what and id, each named once. It is also called without changes. It begins no
     * transaction, writes nothing and adds no calls at the end (store_tx_on_end). Any
     * status but ST_OK poisons the store. */
    enum status (*renew)(void *context, struct store_tx *tx,
                         const struct change_feed_change *changes, size_t count,
                         struct error *error);
    void *context;
};

/* Inside store only. Renews by the hook in tx, which has just begun on the database.
 *   ST_IO, and those of the hook: the caller repeats tx if its connection was lost
 *   (DB_LOST), and poisons the store if not */
enum status change_feed_renew(struct database *database, struct store_tx *tx,
                              const struct change_feed_hook *hook, struct error *error);

/* Inside store only. Removes the rows of `change` that all daemons which are alive have
 * seen. Precondition: the transaction that is open on the database may write.
 *   ST_IO  the store is poisoned */
enum status change_feed_forget(struct database *database, struct error *error);

#endif
