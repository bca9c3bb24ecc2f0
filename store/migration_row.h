/*
 * migration_row.h - whether this database is the one, or another has taken its place. As
 * table_rows.h says of ownership, visitors and ST_IO.
 */
#ifndef STORE_MIGRATION_ROW_H
#define STORE_MIGRATION_ROW_H

#include "store/table_rows.h"

enum { MIGRATION_IDENTITY_SIZE = 40, MIGRATION_PLACE_SIZE = 256 };

enum migration_state {
    MIGRATION_HERE,     /* the database is in use, or may be */
    MIGRATION_ARRIVING, /* it is being filled from another */
    MIGRATION_LEFT,     /* another has taken its place */
};

struct migration_row {                      /* there is one */
    char identity[MIGRATION_IDENTITY_SIZE]; /* drawn when the tables were made */
    enum migration_state state;
    char
        other[MIGRATION_IDENTITY_SIZE]; /* the one that it comes from, or has gone to */
    char place[MIGRATION_PLACE_SIZE];   /* what people call that: a folder, a URL */
};

/*   ST_CORRUPT  the row is not there, or is none of this program's */
enum status migration_row_read(struct store_tx *tx, struct migration_row *row,
                               struct error *error);
/* Replaces all but the identity. */
enum status migration_row_update(struct store_tx *tx, const struct migration_row *row,
                                 struct error *error);

#endif
