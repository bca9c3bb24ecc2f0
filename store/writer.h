/*
 * writer.h - which connections write a database of PostgreSQL, and what has become of
 * their transactions. Inside store only.
 *
 *   take ---> writing ---> fenced: another has taken the database, and this one is over
 *
 * A daemon that takes the database makes a row of the table `writer` for each connection
 * that it may come to have, and every transaction that may write begins by counting the
 * row of its connection up:
 *
 *   UPDATE writer SET n=n+1 WHERE id=$me AND n=$n AND NOT fenced
 *
 * Invariants
 *   (1) One row answers three questions after a connection was lost: whether the last
 *       COMMIT happened (n), whether another has taken over (fenced), and whether the
 *       database has lost history (n is below what was acknowledged, or the row is gone).
 *   (2) A connection that comes back looks at the rows of all: what another of them has
 *       lost, which may be idle, is seen by the first that asks.
 *   (3) A writer that is fenced writes nothing more. The UPDATE that fences waits for the
 *       transaction that the writer has open, so whatever it wrote is seen by whoever
 *       fenced it. A daemon's rows are all made before it writes, and name the first of
 *       them (lead), so whoever fences those of one lead has fenced what that daemon may
 *       ever write by.
 *   (4) A lock of the session, which ends with the first connection, keeps others out: a
 *       daemon that is to have the database alone keeps out all, one that shares it those
 *       that do not. Who is kept out no longer, because its connection was lost, is fenced
 *       by whoever comes in.
 *
 * Threads: n is written by the one that has the connection, and read by any; else those of
 * the wire.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stdatomic.h>

#include "store/database.h"
#include "store/wire.h"

/* Connections of a daemon: the first, those of marks, and the one for what is sealed. */
enum { WRITER_READER = 1 + DATABASE_BESIDE_MAX, WRITERS };

struct writer { /* one connection */
    int64_t id;
    _Atomic int64_t n; /* its transactions that are durable */
};

struct writers { /* a daemon's connections, the first at 0 */
    struct writer all[WRITERS];
};

/* Takes the lock of (4). False where another session holds it. */
bool writer_lock(struct wire *wire, bool shared);

/* The same, waiting for a moment: a daemon that was killed leaves its session to the
 * server for that long.
 *   ST_IO  another daemon serves the database; the error names it */
enum status writer_lock_wait(struct wire *wire, bool shared, struct error *error);

/* Who has it alone shares it from now on; nobody else has had it alone in between.
 *   ST_IO  the server failed */
enum status writer_lock_share(struct wire *wire, struct error *error);

/* Makes the rows of this daemon, once others are fenced: where the database is not shared,
 * whoever wrote before, and where it is, whoever had it alone. The lock is held.
 *   ST_IO  the server failed */
enum status writers_take(struct wire *wire, bool shared, struct writers *writers,
                         struct error *error);

struct writers_found { /* of the daemon's rows, on a new connection */
    bool lost;         /* one is gone, or counts less than was acknowledged */
    bool fenced;       /* one is */
    int64_t n;         /* of the connection's own */
};

/* Reads one's own row, after whatever an older connection still does to it, and those of
 * the daemon's other connections; then writes to it and sees that acknowledged: the log of
 * the server is in order, so what was read is as durable. */
enum wire_end writers_find(struct wire *wire, struct writers *writers,
                           const struct writer *own, struct writers_found *found);

#endif
