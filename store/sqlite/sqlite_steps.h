/*
 * sqlite_steps.h - the steps that make the tables, indices and triggers, in SQLite's
 * dialect, and the constraints that they declare on rows that no hash covers. Inside
 * store only.
 *
 * A step is a text of SQL, to be run on the tables that the step before left. Steps are
 * only ever added, at the end: a file has taken the first few of them
 * (sqlite_tables.h).
 */
#ifndef STORE_SQLITE_SQLITE_STEPS_H
#define STORE_SQLITE_SQLITE_STEPS_H

#include <stddef.h>

struct sqlite_tables {
    const char *const *steps;
    int count;
};

const struct sqlite_tables *sqlite_steps_current(void);

struct sqlite_constraint {
    const char *table, *id; /* the column that a row is named by */
    const char *holds;      /* condition that each row meets, in SQL */
    int step;               /* the step that made the table, from 1 */
};

/* Returns all of them, whatever the number of steps that a file has taken. */
const struct sqlite_constraint *sqlite_steps_constraints(size_t *count);

#endif
