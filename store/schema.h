/*
 * schema.h - the tables, and how a file comes to have them. Inside store only.
 *
 * PRAGMA user_version counts the steps a file has taken; PRAGMA application_id says that
 * it is ours. Steps are only ever added.
 *
 * Threads: the caller's connection belongs to it alone.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "base/status.h"

struct sqlite3;

struct schema {
    const char *const *steps; /* SQL, each from the state that the one before it left */
    int count;
};

const struct schema *schema_current(void);

/* found = the steps that the file behind db has taken; 0 if it is empty.
 *   ST_CORRUPT  not our database
 *   ST_INVALID  more steps than schema has */
enum status schema_found(int *found, struct sqlite3 *db, const struct schema *schema,
                         struct error *error);

/* Takes the steps after found in one transaction; a file that had some is first copied to
 * path.step<found>, durably.
 *   ST_IO  a step failed, or the copy: the file is as it was */
enum status schema_forward(struct sqlite3 *db, const char *path, int found,
                           const struct schema *schema, struct error *error);

#endif
