/*
 * writer.h - which connection writes a database of PostgreSQL, and what has become of its
 * transactions. Inside store only.
 *
 *   take ---> writing ---> fenced: another has taken the database, and this one is over
 *
 * Each daemon that takes the database has a row of the table `writer`, and every
 * transaction of it that may write begins by counting that row up:
 *
 *   UPDATE writer SET n=n+1 WHERE id=$me AND n=$n AND NOT fenced
 *
 * Invariants
 *   (1) One row answers three questions after a connection was lost: whether the last
 *       COMMIT happened (n), whether another has taken over (fenced), and whether the
 *       database has lost history (n is below what was acknowledged, or the row is gone).
 *   (2) A writer that is fenced writes nothing more. The UPDATE that fences waits for the
 *       transaction that the writer has open, so whatever it wrote is seen by whoever
 *       fenced it.
 *   (3) A lock of the session, which ends with the connection, keeps a second daemon out
 *       while the first is there.
 *
 * Threads: those of the wire.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "store/wire.h"

struct writer {
    int64_t id;
    int64_t n;   /* its transactions that are durable */
    bool locked; /* this connection holds the lock of (3) */
};

/* Takes the lock of (3). False where another session holds it. */
bool writer_lock(struct wire *wire);

/* The same, waiting for a moment: a daemon that was killed leaves its session to the
 * server for that long.
 *   ST_IO  another daemon serves the database; the error names it */
enum status writer_lock_wait(struct wire *wire, struct error *error);

/* Fences whoever wrote before, and makes a row of one's own. The lock is held.
 *   ST_IO  the server failed */
enum status writer_take(struct wire *wire, struct writer *writer, struct error *error);

struct writer_found { /* of one's own row, on a new connection */
    bool exists, fenced;
    int64_t n;
};

/* Reads one's own row, after whatever an older connection still does to it, and then
 * writes to it and sees that acknowledged: the log of the server is in order, so what was
 * read is as durable. */
enum wire_end writer_find(struct wire *wire, int64_t id, struct writer_found *found);

#endif
