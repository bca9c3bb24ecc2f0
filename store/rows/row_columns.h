/*
 * row_columns.h - which member of a struct is which column: one list gives a table's
 * INSERT, UPDATE and SELECT, binds the members and reads them. Inside store only.
 *
 *   #define ROW struct charge_row
 *   static const struct row_column columns[] = {COLUMN(id), CHANGING(state), ...};
 *   static const struct row_table table = ROW_TABLE("charge", columns);
 *
 * The first column is the key. A member has the name of its column, and its type says
 * what the column holds:
 *
 *   const char *              a text
 *   a struct of base/id.h     a text, which is copied
 *   uint64_t, int64_t, unsigned, bool   a number
 *   uint8_t[]                 bytes of just this size, which are copied
 *   const uint8_t *           32 bytes; with BLOB, bytes whose size is another member
 *
 * What is not copied is borrowed: when a row is written until the call returns, and when
 * it is read until the next row.
 */
#ifndef STORE_ROWS_ROW_COLUMNS_H
#define STORE_ROWS_ROW_COLUMNS_H

#include "store/rows/table_rows.h"
#include "store/sql/statement.h"

enum { ROW_SQL_SIZE = 1024 };

enum row_kind {
    ROW_TEXT,
    ROW_TEXT_OR_NULL, /* "" stands for null */
    ROW_ID,
    ROW_NUMBER,
    ROW_TIME,
    ROW_UNSIGNED,
    ROW_BOOL,
    ROW_BYTES,
    ROW_HASH,
    ROW_HASH_OR_NULL, /* NULL stands for null */
    ROW_BLOB,
    ROW_BLOB_OR_NULL, /* as large as the blob before it, or NULL for null */
};

enum row_use {
    ROW_FIXED,   /* an update leaves it */
    ROW_CHANGES, /* an update writes it */
    ROW_COUNTED, /* the database counts it: it is read, and inserted if it is drawn */
};

struct row_column {
    const char *name;
    enum row_kind kind;
    enum row_use use;
    size_t at;   /* of the member, in bytes from the struct's begin */
    size_t size; /* bytes of the member; of a blob: bytes that its size counts by one */
    size_t size_at; /* a blob's: of the size_t member that has its size */
};

struct row_table {
    const char *name;
    const struct row_column *columns;
    size_t count;
    bool drawn; /* the first column is a number, which an insertion draws if it is 0 */
    enum numbered numbered;
};

#define ROW_MEMBER(member) (((ROW *)0)->member)
#define ROW_KIND(member)                                                               \
    _Generic(ROW_MEMBER(member),                                                       \
        const char *: ROW_TEXT,                                                        \
        uint64_t: ROW_NUMBER,                                                          \
        int64_t: ROW_TIME,                                                             \
        unsigned: ROW_UNSIGNED,                                                        \
        bool: ROW_BOOL,                                                                \
        uint8_t *: ROW_BYTES,                                                          \
        const uint8_t *: ROW_HASH,                                                     \
        struct dataset_id: ROW_ID,                                                     \
        struct job_id: ROW_ID,                                                         \
        struct model_id: ROW_ID,                                                       \
        struct file_id: ROW_ID,                                                        \
        struct survey_id: ROW_ID,                                                      \
        struct charge_id: ROW_ID,                                                      \
        struct webhook_id: ROW_ID,                                                     \
        struct delivery_id: ROW_ID)
#define ROW_OF(name, member, kind, use)                                                \
    {                                                                                  \
        name, kind, use, offsetof(ROW, member), sizeof ROW_MEMBER(member), 0           \
    }

#define COLUMN(member)   ROW_OF(#member, member, ROW_KIND(member), ROW_FIXED)
#define CHANGING(member) ROW_OF(#member, member, ROW_KIND(member), ROW_CHANGES)
#define COUNTED(member)  ROW_OF(#member, member, ROW_KIND(member), ROW_COUNTED)
/* A member of a struct in the row, and kinds that a type does not tell. */
#define COLUMN_IN(within, member)                                                      \
    ROW_OF(#member, within.member, ROW_KIND(within.member), ROW_FIXED)
#define TEXT_OR_NULL(member)      ROW_OF(#member, member, ROW_TEXT_OR_NULL, ROW_FIXED)
#define HASH_OR_NULL(member, use) ROW_OF(#member, member, ROW_HASH_OR_NULL, use)
#define BLOB(kind, use, member, size_member, unit)                                     \
    {                                                                                  \
#member, kind, use, offsetof(ROW, member), unit, offsetof(ROW, size_member)    \
    }

#define ROW_TABLE(name, columns)                                                       \
    {                                                                                  \
        name, columns, sizeof columns / sizeof *columns, false, 0                      \
    }
#define ROW_TABLE_DRAWN(name, columns, numbered)                                       \
    {                                                                                  \
        name, columns, sizeof columns / sizeof *columns, true, numbered                \
    }

/* Inserts the row. ST_ALREADY_EXISTS and ST_NOT_FOUND as statement.h says. */
enum status row_insert(struct store_tx *tx, const struct row_table *table,
                       const void *row, struct error *error);

/* Like row_insert; if there is a row with its key, updates that one. */
enum status row_put(struct store_tx *tx, const struct row_table *table, const void *row,
                    struct error *error);

/* Opens an UPDATE of the columns that change, and binds them. which: the WHERE, whose
 * parameters the caller binds. */
void row_update_open(struct statement *statement, struct store_tx *tx,
                     const struct row_table *table, const void *row, const char *which);

/* sql = a SELECT of all columns; rest: what follows the table's name. Instead of the
 * column named `without`, a text, an empty one is selected; NULL: all are. */
void row_select(char sql[ROW_SQL_SIZE], const struct row_table *table,
                const char *without, const char *rest);

/* Opens the SELECT of all columns. */
void rows_open(struct statement *statement, struct store_tx *tx,
               const struct row_table *table, const char *rest);

/* Reads the next row of such a statement into the struct; false at the end or after a
 * failure. A value of another size than the member's fails the statement as damage. */
bool row_next(struct statement *statement, const struct row_table *table, void *row);

#endif
