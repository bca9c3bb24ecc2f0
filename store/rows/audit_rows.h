/*
 * audit_rows.h - the audit trail. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_AUDIT_ROWS_H
#define STORE_ROWS_AUDIT_ROWS_H

#include "store/rows/table_rows.h"

struct audit_row {                     /* an act that was done or refused */
    uint64_t seq;                      /* dense, from 1 */
    int64_t second;                    /* of the wall clock */
    const char *actor, *key, *project; /* "" if there is none */
    const char *via;             /* "local", "bearer", "session", "proxy", "cli" */
    const char *address;         /* of the client; "" if addresses are not kept */
    const char *action, *object; /* "dataset.create", "mnist" */
    const char *result, *code;   /* "ok", "denied" or "error"; why, or "" */
    const char *request;         /* its X-Request-Id, or "" */
    const char *detail;          /* JSON */
    uint8_t prev[SHA256_SIZE], hash[SHA256_SIZE];
};

/* Appends a row. Triggers refuse a gap in seq and a prev that is not the last hash.
 *   ST_CORRUPT  seq or prev does not continue the chain */
enum status audit_row_insert(struct store_tx *tx, const struct audit_row *row,
                             struct error *error);

struct audit_head { /* the newest row; zeros if there is none */
    uint64_t seq;
    uint8_t hash[SHA256_SIZE];
};

enum status audit_rows_head(struct store_tx *tx, struct audit_head *head,
                            struct error *error);

struct audit_range {                     /* which rows are walked; {0}: all */
    const char *actor, *object, *action; /* NULL: any */
    const char *result;                  /* "ok", "denied" or "error"; NULL: any */
    uint64_t after, before;              /* as in struct ledger_range */
    bool newest_first;                   /* else oldest first */
};

/* Walks rows in the order of seq. */
enum status audit_rows_walk(struct store_tx *tx, const struct audit_range *range,
                            bool (*visit)(void *context, const struct audit_row *row),
                            void *context, struct error *error);

#endif
