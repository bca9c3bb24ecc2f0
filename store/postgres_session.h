/*
 * postgres_session.h - the connection of a database of PostgreSQL as its transactions see
 * it: one that may break and is made anew under them (postgres.h). Inside store only.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_SESSION_H
#define STORE_POSTGRES_SESSION_H

#include "store/database.h"
#include "store/writer.h"

enum {
    POSTGRES_PARAMETERS_MAX = 24,
    POSTGRES_TRIES = 3, /* of a transaction that another stood in the way of */
};

struct text { /* of a statement, as it was first seen */
    char *seen, *numbered;
    unsigned connection; /* on which it was prepared last */
};

struct written { /* a statement of the open transaction, with copies of its values */
    size_t text;
    int count;
    char *values[POSTGRES_PARAMETERS_MAX];
    int sizes[POSTGRES_PARAMETERS_MAX], formats[POSTGRES_PARAMETERS_MAX];
    uint64_t changed; /* rows */
};

struct postgres {
    struct database base;
    struct store_server server; /* its URL is ours */
    struct wire *wire;          /* NULL: it is lost */
    unsigned connection;        /* counts them, from 1 */
    bool read_only;             /* there are no writers */
    struct writers *writers;    /* of the daemon; the first connection's to free */
    struct writer *writer;      /* this connection's of them */
    bool locked;                /* the first connection holds the daemon's lock */
    enum store_scope scope;
    bool open;     /* a transaction is */
    bool has_read; /* the open transaction has been answered rows */
    struct text *texts;
    size_t text_count;
    struct written *written;
    size_t written_count, written_capacity;
    char said[256]; /* of the last failure */
};

/* Keeps what is said of a failure, and is DB_FAILED. */
enum database_class postgres_session_fail(struct postgres *postgres, const char *said);

/* The place of a statement's text among those seen so far. */
size_t postgres_session_text(struct postgres *postgres, const char *sql);

/* Runs the statement whose text is at that place; as wire_execute. */
enum wire_end postgres_session_say(struct postgres *postgres, size_t at,
                                   const struct wire_values *values,
                                   struct pg_result **answer);

/* Keeps a statement that the open transaction has written by, and how many rows it has
 * changed, until the transaction ends. */
void postgres_session_remember(struct postgres *postgres, size_t at,
                               const struct wire_values *values, uint64_t changed);

/* Begins the open transaction again and repeats what it has written. lost says that the
 * connection is gone, and a new one is made.
 *   DB_LOST    the transaction has read something, and nothing keeps other daemons from
 *              changing those rows before it begins again: the caller repeats all of it
 *   DB_FAILED  the server does not come back, or refuses */
enum database_class postgres_session_again(struct postgres *postgres, bool lost);

/* As in struct driver. */
enum database_class postgres_session_begin(struct postgres *postgres,
                                           enum store_scope scope);
enum database_class postgres_session_commit(struct postgres *postgres);
enum database_class postgres_session_rollback(struct postgres *postgres);

/* Forgets what the transaction that has ended has written. */
void postgres_session_forget(struct postgres *postgres);

#endif
