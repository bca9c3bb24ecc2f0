/*
 * tables.h - the tables, and how a file comes to have them. Inside store only.
 *
 * PRAGMA user_version counts the steps a file has taken; PRAGMA application_id says that
 * it is ours. Steps are only ever added.
 *
 * Threads: the caller's connection belongs to it alone.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include "base/status.h"

struct sqlite3;

struct tables {
    const char *const *steps; /* SQL, each from the state that the one before it left */
    int count;
};

const struct tables *tables_current(void);

/* found = the steps that the file behind db has taken; 0 if it is empty.
 *   ST_CORRUPT  not our database
 *   ST_INVALID  more steps than schema has */
enum status tables_found(int *found, struct sqlite3 *db, const struct tables *schema,
                         struct error *error);

/* Whether db's tables, indices and triggers are as the first found steps make them, and
 * every row keeps their constraints: SQLite forgets constraints on connections that only
 * read. Others beside them are let be.
 *   ST_CORRUPT  the error names what differs, or the table and row
 *   ST_IO       they cannot be read */
enum status tables_check(struct sqlite3 *db, int found, const struct tables *schema,
                         struct error *error);

/* Takes the steps after found in one transaction; a file that had some is first copied to
 * path.step<found>, durably.
 *   ST_IO  a step failed, or the copy: the file is as it was */
enum status tables_forward(struct sqlite3 *db, const char *path, int found,
                           const struct tables *schema, struct error *error);

#endif
