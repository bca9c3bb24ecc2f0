/*
 * ledger_rows.h - entries of the ledger, and the marks and freezes; only the ledger
 * writes these. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_LEDGER_ROWS_H
#define STORE_ROWS_LEDGER_ROWS_H

#include "store/rows/table_rows.h"

struct ledger_row {
    uint64_t seq;        /* dense, from 1; after the newest SEAL */
    const char *dataset; /* "" for SEAL */
    uint64_t epoch;      /* the number of the dataset's grant, or of the SEAL; from 1 */
    const char *job;     /* "" for GRANT and SEAL */
    const char *kind;    /* GRANT RESERVE COMMIT SEAL */
    const uint8_t *curve; /* raw little-endian doubles: capacity, held or committed; the
                           * digest of a SEAL's sums */
    size_t curve_size;    /* bytes */
    const uint8_t *released; /* (curve_size) of a COMMIT, else NULL */
    const char *meta;        /* canonical JSON: mechanism, weights, steps, model hash */
    const char *actor;
    int64_t time_ms;
    uint8_t prev[SHA256_SIZE], hash[SHA256_SIZE];
};

/* Appends an entry. Triggers refuse a gap in seq and a prev that is not the last hash.
 *   ST_ALREADY_EXISTS  this job has an entry of this kind in this epoch
 *   ST_NOT_FOUND       dataset has no row
 *   ST_CORRUPT         seq or prev does not continue the chain */
enum status ledger_row_insert(struct store_tx *tx, const struct ledger_row *row,
                              struct error *error);

struct ledger_range {    /* which rows are walked; {0}: all */
    const char *dataset; /* of this dataset only; NULL: of every dataset */
    uint64_t after;      /* entries with a greater seq */
    uint64_t before;     /* and a smaller one; 0: no upper bound */
    int64_t since_ms;    /* of this time or later, in any order */
    bool newest_first;   /* else oldest first */
};

/* *count = how many entries a dataset has with a seq greater than after. */
enum status ledger_rows_count(struct store_tx *tx, const char *dataset, uint64_t after,
                              uint64_t *count, struct error *error);

struct ledger_extent {         /* sizes of the ledger */
    uint64_t entries, freezes; /* rows of timelines count as freezes */
};
enum status ledger_rows_extent(struct store_tx *tx, struct ledger_extent *extent,
                               struct error *error);

/* Walks entries in the order of seq. */
enum status ledger_rows_walk(struct store_tx *tx, const struct ledger_range *range,
                             bool (*visit)(void *context, const struct ledger_row *row),
                             void *context, struct error *error);

/* Calls visit with the newest SEAL, if there is one. */
enum status ledger_row_seal(struct store_tx *tx,
                            bool (*visit)(void *context, const struct ledger_row *row),
                            void *context, struct error *error);

/* Sets the mark of job: how many of its steps have been authorised. A mark only grows.
 *   ST_CORRUPT  it would not grow; a trigger has refused it */
enum status mark_row_raise(struct store_tx *tx, const char *job, uint64_t authorised,
                           struct error *error);
enum status mark_rows_walk(struct store_tx *tx,
                           bool (*visit)(void *context, const char *job,
                                         uint64_t authorised),
                           void *context, struct error *error);
/* Like mark_rows_walk, for only the jobs that have entries with a seq greater than
 * after. */
enum status mark_rows_walk_after(struct store_tx *tx, uint64_t after,
                                 bool (*visit)(void *context, const char *job,
                                               uint64_t authorised),
                                 void *context, struct error *error);

/* *authorised = the mark of job, or 0 if it has none. */
enum status mark_row_find(struct store_tx *tx, const char *job, uint64_t *authorised,
                          struct error *error);

struct freeze_row { /* an epoch that a restored backup has closed */
    const char *dataset;
    uint64_t epoch;
    uint64_t seq;              /* the head that was found elsewhere, */
    uint8_t hash[SHA256_SIZE]; /* and which the database does not contain */
    int64_t time_ms;
};

/*   ST_ALREADY_EXISTS  the epoch is frozen
 *   ST_NOT_FOUND       dataset has no row */
enum status freeze_row_insert(struct store_tx *tx, const struct freeze_row *row,
                              struct error *error);
enum status freeze_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct freeze_row *row),
                             void *context, struct error *error);

struct timeline_row { /* another timeline of the ledger: it left this one in an epoch */
    const char *dataset;
    uint64_t epoch;
    uint64_t seq;              /* its newest entry that is known, */
    uint8_t hash[SHA256_SIZE]; /* with its hash */
    uint64_t shared;           /* the last entry of both; 0: unknown */
    bool seen;                 /* false: inferred from steps that may run in both */
    const uint8_t *most;       /* a curve: what it may have spent since the fork */
    size_t most_size;          /* bytes */
    int64_t time_ms;
};

/*   ST_ALREADY_EXISTS  the dataset's epoch has a timeline of that hash
 *   ST_NOT_FOUND       dataset has no row */
enum status timeline_row_insert(struct store_tx *tx, const struct timeline_row *row,
                                struct error *error);
/* Walks timelines in the order of time, hash, dataset and epoch. */
enum status timeline_rows_walk(struct store_tx *tx,
                               bool (*visit)(void *context,
                                             const struct timeline_row *row),
                               void *context, struct error *error);

#endif
