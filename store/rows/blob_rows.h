/*
 * blob_rows.h - blobs that are kept elsewhere: their objects, digests and wrapped keys.
 * Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_BLOB_ROWS_H
#define STORE_ROWS_BLOB_ROWS_H

#include "store/rows/table_rows.h"

enum { BLOB_WRAPPED_SIZE = 60 };

struct blob_row {          /* a blob in an object store; it exists if its row does */
    const char *name;      /* as blob_file_name makes it */
    const char *object;    /* its object's, drawn at random */
    uint64_t size;         /* bytes, before they were encrypted */
    const uint8_t *chunks; /* (chunk_count, 32) SHA-256 of each chunk of the object */
    size_t chunk_count;
    uint8_t wrapped[BLOB_WRAPPED_SIZE]; /* its key, under the operator's */
    int64_t create_ms;
};

/* ST_ALREADY_EXISTS  the name has a row, or another blob has this object */
enum status blob_row_insert(struct store_tx *tx, const struct blob_row *row,
                            struct error *error);
/* Inserts the row, or replaces the one of its name.
 *   ST_ALREADY_EXISTS  another blob has this object */
enum status blob_row_set(struct store_tx *tx, const struct blob_row *row,
                         struct error *error);
/*   ST_NOT_FOUND  there is no such name */
enum status blob_row_delete(struct store_tx *tx, const char *name, struct error *error);
/* Calls visit with the row of that name, if there is one. */
enum status blob_row_find(struct store_tx *tx, const char *name,
                          bool (*visit)(void *context, const struct blob_row *row),
                          void *context, struct error *error);
/* Walks the names of all blobs, in their order, with the time when each was put. */
enum status blob_names_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const char *name,
                                          int64_t create_ms),
                            void *context, struct error *error);
enum { BLOB_OBJECTS_AT_ONCE = 16 };
/* have[i] = whether a blob has objects[i], for each of count, at most
 * BLOB_OBJECTS_AT_ONCE. */
enum status blob_rows_have_objects(struct store_tx *tx, const char *const *objects,
                                   size_t count, bool *have, struct error *error);
/* *have = whether a blob has this object. */
enum status blob_rows_have_object(struct store_tx *tx, const char *object, bool *have,
                                  struct error *error);

#endif
