/*
 * database.h - a connection to a database, whichever it is, and what its answers mean.
 * Inside store only.
 *
 * A database is a file of SQLite (sqlite.h) or a server of PostgreSQL (postgres.h). What
 * differs between them is a driver: a table of functions. store.c calls those of
 * transactions, statement.c those of statements, and nobody else any, so the rows are
 * written in one copy of SQL that both understand.
 *
 * DB_LOST: a connection to a server broke after the open transaction had read, and the
 * driver cannot show that the next connection sees the same rows. The transaction reads and
 * writes nothing more; its beginner rolls it back and repeats all of it (store_again).
 *
 * Threads: one at a time; poison may be asked for and given by any.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/scope.h"

/* The classes of answers, by what is to be done about them. */
enum database_class {
    DB_OK,
    DB_KEY_USED,  /* a constraint: a row with this key is there */
    DB_NO_PARENT, /* a constraint: the row that is referred to is not there */
    DB_REFUSED,   /* a constraint: a trigger, a CHECK or a NOT NULL */
    DB_MISFIT,    /* the SQL does not fit the tables, or is none */
    DB_BUSY,      /* another connection is in the way */
    DB_DAMAGED,   /* the file is damaged, or is no database */
    DB_LOST,      /* the connection broke, and the transaction must be repeated whole */
    DB_FAILED,    /* the disk or the server failed, or memory ran out */
};

/* How many connections there may be beside the first. */
enum { DATABASE_BESIDE_MAX = 16 };

struct database;
struct prepared; /* a statement as the driver keeps it; each has its own */

/* What SQL about the tables themselves is in a database's dialect, for table_copy.h. */
struct dialect {
    /* Answers the columns of all tables but those of the database's own, in the order in
     * which they were made: table, column, type (TEXT, INTEGER or BLOB), place in the
     * primary key from 1 (0: none), and whether the database counts it up by itself. */
    const char *columns;
    const char *as_given; /* of an INSERT that says what the database would count */
    const char *next;     /* draws the next `number` of the table of that name */
};

struct driver {
    struct dialect dialect;

    /* Closes the connection. clean: the database did not fail, and may be tidied. */
    void (*close)(struct database *database, bool clean);

    /* Makes another connection beside the first of a database, for transactions of
     * STORE_MARK: number counts them, from 1 to DATABASE_BESIDE_MAX. It is closed before
     * the first. NULL: a database has one connection for all. */
    struct database *(*beside)(struct database *first, unsigned number);

    /* Opens the database of a first connection once more, to be read on another thread while
     * nobody writes it. NULL where it is not a file's: *out is NULL there.
     *   ST_IO  it cannot be opened */
    enum status (*again)(struct database **out, const struct database *first,
                         struct error *error);

    /* Makes one more, for transactions of STORE_SEALED. It is closed before the first. NULL:
     * this database cannot have it. */
    struct database *(*reader)(struct database *first);

    /* One transaction is open at most. A commit that is not DB_OK has kept nothing, or has
     * failed in a way that poisons; tidy is called after one that was DB_OK. */
    enum database_class (*begin)(struct database *database, enum store_scope scope);
    enum database_class (*commit)(struct database *database);
    enum database_class (*rollback)(struct database *database);
    enum database_class (*tidy)(struct database *database);

    /* How many transactions of this daemon it has acknowledged, on all connections: of the
     * first of them. Threads: any. NULL: it counts none. */
    uint64_t (*acknowledged)(const struct database *database);

    /* What is said of the last failure; the text lives until the next call. */
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
    /* *row: there is one; false at the end, which is DB_OK. */
    enum database_class (*next)(struct prepared *prepared, bool *row);
    uint64_t (*changed)(struct prepared *prepared); /* rows, once it has ended */
    const char *(*text)(struct prepared *prepared, int column); /* NULL: null */
    int64_t (*number)(struct prepared *prepared, int column);
    const uint8_t *(*blob)(struct prepared *prepared, int column);
    size_t (*size)(struct prepared *prepared, int column); /* of a text or a blob */
    bool (*is_null)(struct prepared *prepared, int column);
    void (*end)(struct prepared *prepared); /* NULL is allowed */
};

struct database { /* what every driver's own struct begins with */
    const struct driver *driver;
    struct database *first; /* that it is beside of; NULL: it is the first */
    bool shared;            /* others may write it too (server.h) */
    uint64_t daemon;        /* what it calls this one (store.h) */
    /* The first connection of a shared one has the snapshot up to which memory follows, and
     * the oldest transaction that this may not see (follow.h). */
    char *position;
    _Atomic uint64_t follows;
    bool renewing; /* the open transaction is renewing memory; it wrote nothing */
    bool renewed;  /* the open transaction has renewed memory */
    atomic_bool poisoned; /* of the first: all of its connections are */
    /* Of the first: what was said of the failure that poisoned it first. */
    atomic_flag explaining;
    atomic_bool explained;
    char why[256];
    /* The first constraint that the open transaction has violated, or DB_LOST. What it did
     * before is lost, and it can only be rolled back (statement.h). */
    enum database_class refused;
    unsigned losses; /* transactions in a row that ended by DB_LOST */
};

/* Closes the connection; NULL is allowed, a transaction may not be open. */
void database_close(struct database *database, bool clean);

/* Poison: after the first failure that is not a constraint nothing is written any more
 * (store.h), on whichever connection of the database. It never goes away. */
bool database_poisoned(const struct database *database);
void database_poison(struct database *database);

/* The same, and keeps what the driver says of the failure, for the log. */
void database_fail(struct database *database);

#endif
