/*
 * sqlite_steps.h - the steps that make the tables, indices and triggers of a file: those
 * of schema_steps.def in SQLite's dialect. Inside store only.
 */
#ifndef STORE_SQLITE_SQLITE_STEPS_H
#define STORE_SQLITE_SQLITE_STEPS_H

#include <stddef.h>

#include "store/sql/schema_step.h"

struct sqlite_tables {
    const struct schema_step *steps; /* numbered from 1 */
    size_t count;                    /* of their texts; at least one */
};

const struct sqlite_tables *sqlite_steps_current(void);

#endif
