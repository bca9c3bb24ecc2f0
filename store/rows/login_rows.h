/*
 * login_rows.h - browsers that are logged in, by digests of their cookies. Ownership,
 * visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_LOGIN_ROWS_H
#define STORE_ROWS_LOGIN_ROWS_H

#include "store/rows/table_rows.h"

enum { LOGIN_ID_SIZE = SHA256_HEX_SIZE };

struct login_row {   /* a browser that has presented a key */
    const char *id;  /* the SHA-256 of its cookie, in hexadecimal */
    const char *key; /* the id of the key */
    int64_t begin_ms, used_ms;
};

/*   ST_NOT_FOUND  there is no such key */
enum status login_row_insert(struct store_tx *tx, const struct login_row *row,
                             struct error *error);
/* Records the use at used_ms, if the row exists; a time that is not later than that of
 * the row changes nothing. */
enum status login_row_use(struct store_tx *tx, const char *id, int64_t used_ms,
                          struct error *error);
/* Deletes the row, if it exists. */
enum status login_row_delete(struct store_tx *tx, const char *id, struct error *error);
enum status login_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct login_row *row),
                            void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status login_row_find(struct store_tx *tx, const char *id,
                           bool (*visit)(void *context, const struct login_row *row),
                           void *context, struct error *error);

#endif
