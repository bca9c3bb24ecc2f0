/*
 * database.h - the connection to the database: one SQLite file, opened, set up,
 * checkpointed and closed, and what its answers mean. Inside store only.
 *
 * SQLite is called by name in database.c and statement.c and in no other file of the
 * program (`make layers` refuses it): whoever puts another database in its place writes
 * these two anew, and the steps of tables.c in its dialect.
 *
 * Invariants
 *   (1) WAL, synchronous=FULL, foreign_keys, recursive_triggers, trusted_schema=OFF and
 *       wal_autocheckpoint=0 are set and read back by database_set_up.
 *   (2) A checkpoint runs on this connection alone, in database_checkpoint and
 *       database_close: SQLite 3.40's WAL-reset fault needs two connections.
 *
 * Threads: one at a time; poison may be asked for and given by any.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <stdbool.h>

#include "base/status.h"

struct database; /* opaque */

/* The classes of answers, by what is to be done about them. */
enum database_class {
    DB_OK,
    DB_KEY_USED,  /* a constraint: a row with this key is there */
    DB_NO_PARENT, /* a constraint: the row that is referred to is not there */
    DB_REFUSED,   /* a constraint: a trigger, a CHECK or a NOT NULL */
    DB_MISFIT,    /* the SQL does not fit the tables, or is none */
    DB_BUSY,      /* another connection is in the way */
    DB_DAMAGED,   /* the file is damaged, or is no database */
    DB_FAILED,    /* the disk failed or is full, or memory ran out */
};

/* Opens the database at path, and makes it with mode 0600 where there is none;
 * ":memory:" is a fresh private one. Nothing of it is read yet.
 *   ST_IO  it cannot be opened */
enum status database_open(struct database **out, const char *path, struct error *error);

/* Opens it to read, without changing a byte, beside a process that writes it too.
 *   ST_IO  it cannot be opened */
enum status database_open_read(struct database **out, const char *path,
                               struct error *error);

/* Establishes invariant (1); of a database that is only read, what concerns reading.
 *   ST_IO  a setting is not accepted */
enum status database_set_up(struct database *database, struct error *error);

/* Closes the connection; NULL is allowed, a transaction may not be open. The log is put
 * into the file if checkpoint says so and the database was opened to be written. */
void database_close(struct database *database, bool checkpoint);

/* Runs SQL that binds and answers nothing: one statement or several. */
enum database_class database_run(struct database *database, const char *sql);

/* Begins a transaction: one that may write unless the database is only read. */
enum database_class database_begin(struct database *database);
bool database_in_transaction(const struct database *database);

/* Puts the log into the file and empties it. DB_BUSY: a reader is in the way, and
 * nothing is lost. */
enum database_class database_checkpoint(struct database *database);
int database_log_pages(const struct database *database); /* after the last commit */

/* What SQLite says of the last failure; the text lives until the next call. */
const char *database_message(const struct database *database);

/* Poison: after the first failure that is not a constraint nothing is written any more
 * (store.h). It never goes away. */
bool database_poisoned(const struct database *database);
void database_poison(struct database *database);

/* For statement.c and for tests: SQLite's connection, and the class of one of its
 * codes. */
struct sqlite3 *database_handle(const struct database *database);
enum database_class database_class_of(int code);

#endif
