/*
 * sqlite_tables.h - makes the tables in a file of SQLite, and checks that it has them.
 * Inside store only.
 *
 * PRAGMA user_version counts the steps a file has taken; PRAGMA application_id says
 * that it is ours.
 *
 * Threads: only the thread of the caller may use the connection. Checks of files that
 * have all steps run one after the other.
 */
#ifndef STORE_SQLITE_SQLITE_TABLES_H
#define STORE_SQLITE_SQLITE_TABLES_H

#include "base/status.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_steps.h"

/* Returns the number of the last step. */
int sqlite_tables_known(const struct sqlite_tables *tables);

/* found = the steps that the database has taken; 0 if it is empty.
 *   ST_CORRUPT  it is damaged, or is not ours
 *   ST_INVALID  it has taken more steps than there are
 *   ST_IO       it cannot be read */
enum status sqlite_tables_found(int *found, struct database *database,
                                const struct sqlite_tables *tables,
                                struct error *error);

/* Checks that the tables, indices and triggers of the database are as the first found
 * steps make them, and that every row keeps their constraints, because SQLite does not
 * enforce constraints for connections that only read. Other tables in the file are
 * ignored.
 *   ST_CORRUPT  the error names what differs, or the table and row
 *   ST_IO       they cannot be read */
enum status sqlite_tables_check(struct database *database, int found,
                                const struct sqlite_tables *tables,
                                struct error *error);

/* Takes the steps after found in one transaction; a database that had some is first
 * copied to path.step<found>, durably.
 *   ST_IO  a step failed, or the copy: the database is as it was */
enum status sqlite_tables_forward(struct database *database, const char *path,
                                  int found, const struct sqlite_tables *tables,
                                  struct error *error);

/* Copies the database as it is now into a new file at path, which is synced. No
 * transaction is open. Nothing of the database changes, and it may be one that was
 * opened only to be read.
 *   ST_IO  the file is there, or cannot be written */
enum status sqlite_tables_copy(struct database *database, const char *path,
                               struct error *error);

#endif
