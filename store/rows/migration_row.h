/*
 * migration_row.h - whether this database is in use, or another has taken its place.
 * Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_MIGRATION_ROW_H
#define STORE_ROWS_MIGRATION_ROW_H

#include "store/rows/table_rows.h"

enum { MIGRATION_IDENTITY_SIZE = 40, MIGRATION_PLACE_SIZE = 256 };

enum migration_state {
    MIGRATION_HERE,     /* the database is in use, or may be */
    MIGRATION_ARRIVING, /* it is being filled from another */
    MIGRATION_LEFT,     /* another has taken its place */
};

struct migration_row {                      /* the table has exactly one row */
    char identity[MIGRATION_IDENTITY_SIZE]; /* drawn when the tables were made */
    enum migration_state state;
    char other[MIGRATION_IDENTITY_SIZE]; /* where the rows come from, or went to */
    char place[MIGRATION_PLACE_SIZE];    /* its name for people: a folder, a URL */
};

/* ST_CORRUPT  the row is not there, or was not written by this program */
enum status migration_row_read(struct store_tx *tx, struct migration_row *row,
                               struct error *error);
/* Replaces all but the identity. */
enum status migration_row_update(struct store_tx *tx, const struct migration_row *row,
                                 struct error *error);

#endif
