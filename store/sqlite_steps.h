/*
 * sqlite_steps.h - the steps that make the tables, indices and triggers, in SQLite's dialect,
 * and what they declare of rows that no hash covers. Inside store only.
 *
 * A step is a text of SQL, from the state that the one before it left. Steps are only ever
 * added, at the end: a file has taken the first few of them (sqlite_tables.h).
 */
#ifndef STORE_SQLITE_STEPS_H
#define STORE_SQLITE_STEPS_H

#include <stddef.h>

struct sqlite_tables {
    const char *const *steps;
    int count;
};

const struct sqlite_tables *sqlite_steps_current(void);

struct sqlite_constraint {
    const char *table, *id; /* the column that a row is named by */
    const char *holds;      /* of each row, in SQL */
    int step;               /* that made the table, from 1 */
};

/* All of them, however many steps were taken. */
const struct sqlite_constraint *sqlite_steps_constraints(size_t *count);

#endif
