/*
 * sqlite.h - a file of SQLite as a database: opened, set up, and SQLite's answers in
 * classes. Inside store only.
 *
 * SQLite is called by name in sqlite.c and in no other file of the program (`make
 * layers` refuses it).
 *
 * Invariants
 *   (1) WAL, synchronous=FULL, foreign_keys, recursive_triggers, trusted_schema=OFF and
 *       wal_autocheckpoint=0 are set and read back by sqlite_set_up.
 *   (2) A checkpoint runs only on this connection, when it is tidied after a commit or
 *       closed: SQLite 3.40's WAL-reset fault needs two connections.
 *   (3) A transaction of STORE_READ prepares no statement that writes.
 *   (4) A statement that has ended, and is kept to be used again, has no row, no lock
 *       and nothing bound.
 *
 * Threads: as database.h.
 */
#ifndef STORE_SQLITE_SQLITE_H
#define STORE_SQLITE_SQLITE_H

#include "store/sql/database.h"

/* Opens the database at path, and makes it with mode 0600 if it does not exist;
 * ":memory:" is a fresh private one. Nothing of it is read yet.
 *   ST_IO  it cannot be opened */
enum status sqlite_open(struct database **out, const char *path, struct error *error);

/* Opens it to read, without changing a byte. Another process may write it meanwhile.
 *   ST_IO  it cannot be opened */
enum status sqlite_open_read(struct database **out, const char *path,
                             struct error *error);

/* Establishes invariant (1); for a database that is only read, the settings that
 * concern reading.
 *   ST_IO  a setting is not accepted */
enum status sqlite_set_up(struct database *database, struct error *error);

/* Runs SQL without parameters that returns no rows: one statement or several. */
enum database_class sqlite_run(struct database *database, const char *sql);

/* For tests: SQLite's connection. */
struct sqlite3 *sqlite_handle(const struct database *database);

#endif
