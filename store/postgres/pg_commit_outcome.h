/*
 * pg_commit_outcome.h - which connections write a PostgreSQL database, and whether
 * their transactions were committed. Inside store only.
 *
 *   take ---> writing ---> fenced: another daemon has taken the database, this one ends
 *
 * A daemon that takes the database makes a row of the table `writer` for each
 * connection that it may ever open, and every transaction that may write begins by
 * incrementing the counter in the row of its connection:
 *
 *   UPDATE writer SET n=n+1 WHERE id=$me AND n=$n AND NOT fenced
 *
 * Invariants
 *   (1) One row answers three questions after a connection was lost: whether the last
 *       COMMIT happened (n), whether another daemon has taken over (fenced), and
 *       whether the database has lost history (n is below what was acknowledged, or the
 *       row is gone).
 *   (2) A connection that was made again reads the rows of all connections: if the
 *       database has lost a transaction of another connection, which may be idle, the
 *       first one that reads the rows finds it.
 *   (3) A writer that is fenced writes nothing more. The UPDATE that fences waits for
 *       the transaction that the writer has open, so the daemon that fenced sees all
 *       that the writer wrote. All rows of a daemon are made before it writes, and name
 *       the first of them (lead): fencing all rows of one lead fences every row by
 *       which that daemon may ever write.
 *   (4) A lock of the session, which ends with the first connection, keeps other
 *       daemons out: a daemon that must have the database for itself keeps out all
 *       others, one that shares it keeps out those that do not share. If the lock was
 *       lost with its connection, the next daemon that takes the lock fences the one
 *       that held it.
 *
 * Threads: n is written by the thread that has the connection, and read by any; else
 * those of the wire.
 */
#ifndef STORE_POSTGRES_PG_COMMIT_OUTCOME_H
#define STORE_POSTGRES_PG_COMMIT_OUTCOME_H

#include <stdatomic.h>

#include "store/postgres/pg_connection.h"
#include "store/sql/database.h"

/* Connections of a daemon: the first, those for marks, and the one for sealed
 * entries. */
enum { PG_COMMIT_OUTCOME_READER = 1 + DATABASE_BESIDE_MAX, WRITERS };

struct pg_commit_outcome { /* one connection */
    int64_t id;
    _Atomic int64_t n; /* its transactions that are durable */
};

struct writers { /* a daemon's connections, the first at 0 */
    struct pg_commit_outcome all[WRITERS];
};

/* Takes the lock of (4). Returns false if another session holds it. */
bool pg_commit_outcome_lock(struct pg_connection *wire, bool shared);

/* Takes the lock, and waits for it a moment: the server keeps the session of a daemon
 * that was killed for that long.
 *   ST_IO  another daemon serves the database; the error names it */
enum status pg_commit_outcome_lock_wait(struct pg_connection *wire, bool shared,
                                        struct error *error);

/* Turns the exclusive lock into a shared one; no other daemon can take the exclusive
 * lock in between.
 *   ST_IO  the server failed */
enum status pg_commit_outcome_lock_share(struct pg_connection *wire,
                                         struct error *error);

/* Makes the rows of this daemon, after it has fenced others: all earlier writers if the
 * database is not shared, and if it is, those that had it for themselves. Precondition:
 * the lock is held.
 *   ST_IO  the server failed */
enum status writers_take(struct pg_connection *wire, bool shared,
                         struct writers *writers, struct error *error);

struct writers_found { /* from the daemon's rows, read on a new connection */
    bool lost;         /* a row is gone, or counts less than was acknowledged */
    bool fenced;       /* a row is fenced */
    int64_t n;         /* counter of the connection's own row */
};

/* Reads the connection's own row, after all that an older connection still does to it
 * has ended, and the rows of the daemon's other connections. Then it writes to its own
 * row and waits for the acknowledgement: the server's log is in order, so what was read
 * is durable too. */
enum pg_connection_end writers_find(struct pg_connection *wire, struct writers *writers,
                                    const struct pg_commit_outcome *own,
                                    struct writers_found *found);

#endif
