/*
 * access_key_rows.h - access keys: digests of their secrets, never the secrets.
 * Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_ACCESS_KEY_ROWS_H
#define STORE_ROWS_ACCESS_KEY_ROWS_H

#include "store/rows/table_rows.h"

struct access_key_row { /* the rights of its secret's bearer (api/http/roles.h) */
    const char *id;
    uint8_t sha256[SHA256_SIZE]; /* of the secret */
    const char *owner, *project, *role;
    const char *scopes; /* in addition to the role's, a blank between them */
    const char *policy; /* JSON */
    int64_t create_ms;
    int64_t expire_ms; /* an update may only bring it nearer */
    int64_t revoke_ms; /* 0: it is not revoked */
    int64_t used_day;  /* the last day of use, counted from 1970-01-01; 0: never used */
};

/*   ST_ALREADY_EXISTS  the id was used before: a row is never deleted */
enum status access_key_row_insert(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error);
/* Replaces policy, expire_ms, revoke_ms and used_day.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    a trigger refused: the key would last longer, or not be revoked any
 *                 more */
enum status access_key_row_update(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error);
/* Walks keys in the order in which they were inserted. */
enum status access_key_rows_walk(struct store_tx *tx,
                                 bool (*visit)(void *context,
                                               const struct access_key_row *row),
                                 void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status access_key_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct access_key_row *row),
                                void *context, struct error *error);

#endif
