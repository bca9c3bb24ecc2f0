/*
 * postgres_session.h - the connection to a PostgreSQL database as its transactions see
 * it: it may break, and is then replaced while a transaction is open (postgres.h).
 * Inside store only.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_POSTGRES_SESSION_H
#define STORE_POSTGRES_POSTGRES_SESSION_H

#include "store/postgres/pg_commit_outcome.h"
#include "store/sql/database.h"

enum {
    POSTGRES_PARAMETERS_MAX = 24,
    POSTGRES_TRIES = 3, /* of a transaction that another transaction blocked */
};

struct text { /* the SQL of a statement, as passed in and with $1, $2 .. */
    char *seen, *numbered;
    unsigned connection; /* number of the connection that prepared it last */
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
    struct store_server server; /* its URL is a copy that we own */
    struct pg_connection *wire; /* NULL: the connection is lost */
    unsigned connection;        /* number of the connection, from 1 */
    bool read_only;             /* there are no writers */
    struct writers *writers;    /* of the daemon; the first connection frees them */
    /* the writer of this connection, one of writers */
    struct pg_commit_outcome *writer;
    bool locked; /* the first connection holds the daemon's lock */
    enum store_scope scope;
    bool open;     /* a transaction is open */
    bool has_read; /* the open transaction has received rows */
    struct text *texts;
    size_t text_count;
    struct written *written;
    size_t written_count, written_capacity;
    char said[256]; /* text of the last failure */
};

/* Keeps the text of a failure; returns DB_FAILED. */
enum database_class postgres_session_fail(struct postgres *postgres, const char *said);

/* Returns the index of a statement's text among those seen so far; adds it if it is
 * new. */
size_t postgres_session_text(struct postgres *postgres, const char *sql);

/* Runs the statement whose text has that index; as pg_connection_execute. */
enum pg_connection_end postgres_session_say(struct postgres *postgres, size_t at,
                                            const struct pg_connection_values *values,
                                            struct pg_result **answer);

/* Keeps a statement by which the open transaction has written, and how many rows it has
 * changed, until the transaction ends. */
void postgres_session_remember(struct postgres *postgres, size_t at,
                               const struct pg_connection_values *values,
                               uint64_t changed);

/* Begins the open transaction again and repeats what it has written. lost: the
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

/* Forgets what the ended transaction has written. */
void postgres_session_forget(struct postgres *postgres);

#endif
