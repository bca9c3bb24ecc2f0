/*
 * database.h - a connection to a database, SQLite's or PostgreSQL's, and the classes of
 * its answers. Inside store only.
 *
 * A database is a file of SQLite (sqlite.h) or a server of PostgreSQL (postgres.h). A
 * driver, which is a table of functions, holds all that differs between them. Only
 * store.c calls its functions for transactions, and only statement.c those for
 * statements, so that the rows are written in one copy of SQL that both databases
 * understand.
 *
 * DB_LOST: a connection to a server broke after the open transaction had read, and the
 * driver cannot show that the next connection sees the same rows. The transaction reads
 * and writes nothing more; the thread that began it rolls it back and repeats all of it
 * (store_again).
 *
 * Threads: one at a time; any thread may read and set the poison.
 */
#ifndef STORE_SQL_DATABASE_H
#define STORE_SQL_DATABASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/sql/scope.h"

/* The classes of answers, by what the caller must do about them. */
enum database_class {
    DB_OK,
    DB_KEY_USED,  /* a constraint: a row with this key exists */
    DB_NO_PARENT, /* a constraint: the row that this one refers to does not exist */
    DB_REFUSED,   /* a constraint: a trigger, a CHECK or a NOT NULL */
    DB_MISFIT,    /* the SQL does not fit the tables, or is not valid SQL */
    DB_BUSY,      /* another connection is in the way */
    DB_DAMAGED,   /* the file is damaged, or is not a database */
    DB_LOST,      /* the connection broke, and the transaction must be repeated whole */
    DB_FAILED,    /* the disk or the server failed, or memory ran out */
};

/* The most connections that a database has in addition to the first. */
enum { DATABASE_BESIDE_MAX = 16 };

struct database;
struct prepared; /* a driver's own statement; each driver has its own struct */

/* SQL about the tables themselves, which differs between the two databases, for
 * table_copy.h. */
struct sql_dialect {
    /* Lists the columns of all tables but those of the database's own, in the order in
     * which they were made: table, column, type (TEXT, INTEGER or BLOB), place in the
     * primary key from 1 (0: none), and whether the database numbers the column by
     * itself. */
    const char *columns;
    const char *as_given; /* clause of an INSERT that gives the number itself */
    const char *next;     /* draws the next `number` of the table of that name */
};

struct driver {
    struct sql_dialect dialect;

    /* Closes the connection. clean: the database did not fail, and may be tidied. */
    void (*close)(struct database *database, bool clean);

    /* Opens another connection in addition to the first of a database, for transactions
     * of STORE_MARK: number counts them, from 1 to DATABASE_BESIDE_MAX. It is closed
     * before the first. NULL: a database has one connection for all. */
    struct database *(*beside)(struct database *first, unsigned number);

    /* Opens the database of a first connection once more, to be read on another thread
     * while nothing writes it. NULL if the database is not a file; *out is NULL if this
     * database has no file.
     *   ST_IO  it cannot be opened */
    enum status (*again)(struct database **out, const struct database *first,
                         struct error *error);

    /* Opens one more connection, for transactions of STORE_SEALED. It is closed before
     * the first. NULL: this database cannot have it. */
    struct database *(*reader)(struct database *first);

    /* At most one transaction is open. A commit that is not DB_OK has kept nothing, or
     * has failed in a way that poisons; tidy is called after one that was DB_OK. */
    enum database_class (*begin)(struct database *database, enum store_scope scope);
    enum database_class (*commit)(struct database *database);
    enum database_class (*rollback)(struct database *database);
    enum database_class (*tidy)(struct database *database);

    /* Returns how many transactions of this daemon the database has acknowledged, on
     * all connections. It is asked on the first connection. Threads: any. NULL: it
     * counts none. */
    uint64_t (*acknowledged)(const struct database *database);

    /* Returns the text of the last failure; it lives until the next call. */
    const char *(*message)(const struct database *database);

    /* Statements, as in statement.h. Parameters and columns count from 0. */
    enum database_class (*prepare)(struct database *database, struct prepared **out,
                                   const char *sql);
    enum database_class (*bind_text)(struct prepared *prepared, int at,
                                     const char *text);
    enum database_class (*bind_number)(struct prepared *prepared, int at,
                                       int64_t number);
    enum database_class (*bind_blob)(struct prepared *prepared, int at,
                                     const void *data, size_t size);
    /* *row: there is a row; false at the end, which is DB_OK. */
    enum database_class (*next)(struct prepared *prepared, bool *row);
    uint64_t (*changed)(struct prepared *prepared); /* valid after the end */
    const char *(*text)(struct prepared *prepared, int column); /* NULL: null */
    int64_t (*number)(struct prepared *prepared, int column);
    const uint8_t *(*blob)(struct prepared *prepared, int column);
    size_t (*size)(struct prepared *prepared, int column); /* of a text or a blob */
    bool (*is_null)(struct prepared *prepared, int column);
    void (*end)(struct prepared *prepared); /* NULL is allowed */
};

struct database { /* every driver's own struct begins with this one */
    const struct driver *driver;
    struct database *first; /* the first of its connections; NULL: this is it */
    bool shared;            /* other daemons may write it too (server.h) */
    uint64_t daemon;        /* its id for this daemon (store.h) */
    /* Members of the first connection of a shared database: the snapshot up to which
     * memory follows, and the oldest transaction that the snapshot may not include
     * (change_feed.h). */
    char *position;
    _Atomic uint64_t follows;
    bool renewing; /* the open transaction is renewing memory; it wrote nothing */
    bool renewed;  /* the open transaction has renewed memory */
    atomic_bool poisoned; /* in the first connection: all connections are poisoned */
    /* In the first connection: the text of the failure that poisoned it. */
    atomic_flag explaining;
    atomic_bool explained;
    char why[256];
    /* The first constraint that the open transaction has violated, or DB_LOST. The work
     * of the transaction is lost, and it can only be rolled back (statement.h). */
    enum database_class refused;
    unsigned losses; /* transactions in a row that ended by DB_LOST */
};

/* Closes the connection; NULL is allowed. Precondition: no transaction is open. */
void database_close(struct database *database, bool clean);

/* Poison: after the first failure that is not a constraint nothing more is written
 * (store.h), on any connection of the database. Poison is never removed. */
bool database_poisoned(const struct database *database);
void database_poison(struct database *database);

/* Poisons, and keeps the driver's text of the failure for the log. */
void database_fail(struct database *database);

#endif
