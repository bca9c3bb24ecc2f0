/*
 * sealed_sum.h - the sums of the archived entries of a dataset, as of the newest SEAL
 * (seal.h): one row of the store for each dataset that has a budget, in canonical
 * bytes.
 *
 *   body     epoch, reserved, flags, parts, epochs; for each epoch, oldest first, and
 *            each part the committed curve, with its delta if some curve has one; the
 *            number of GRANTs, then seq and hash of each; the number of open RESERVEs,
 *            then seq and hash of each; the number of spendings, then of each: owner (64
 *            bytes, padded with zeros), day, parts and the committed loss at both
 *            weighted orders
 *   row      the body, then the path of (dataset, body) in the tree of all rows in the
 *            order of the datasets' names, and its place there, from 0 (seal_tree.h);
 *            the SEAL has the tree's root
 *   digest   takes the place of a root if the SEAL does not count its accounts, whose
 *            rows are then only bodies. Of no row: zeros; with one more: SHA-256("s1",
 *            the digest before, dataset, body) (base/chain_hash.h), in the same order
 *
 * Flag 1 means external, and flag 2 that the curves have deltas.
 * Numbers are 8 bytes, little-endian. The GRANTs and the open RESERVEs are entries that
 * stay in the store. Spendings are what was committed in the epoch in force, for each
 * owner by the day (of 1970-01-01) of the COMMIT: a key's share of a period counts them
 * (service/access/policy.h). They are kept for SEALED_DAYS.
 *
 * Ownership: a sum owns its arrays; sealed_sum_fini releases them.
 * Threads: pure, except sealed_read and sealed_read_one, which follow their
 * transaction.
 */
#ifndef ACCOUNTANT_LEDGER_SEALED_SUM_H
#define ACCOUNTANT_LEDGER_SEALED_SUM_H

#include "accountant/ledger/seal.h"
#include "accountant/ledger/seal_tree.h"
#include "accountant/pricing/odometer.h"

enum { SEALED_DAYS = 3650, SEALED_OWNER_SIZE = 64 };

struct sealed_spending {
    char owner[SEALED_OWNER_SIZE];
    uint64_t day;
    enum parts parts; /* as the entries name them */
    double at[LEDGER_WEIGHTED];
};

struct entry_names {
    struct ledger_entry_name *items;
    size_t count, capacity;
};

struct sealed_sum {
    char dataset[sizeof(struct dataset_id)];
    uint64_t epoch; /* the number of the epoch in force */
    bool reserved, external;
    unsigned part_count;
    size_t epoch_count;      /* epochs that count */
    struct curve *committed; /* (epoch_count, part_count) */
    struct entry_names grants, open;
    struct sealed_spending *spendings;
    size_t spending_count, spending_capacity;
    size_t taken; /* number taken, of grants and then open (sealed_take) */
};

void sealed_sum_fini(struct sealed_sum *sum);

void entry_names_append(struct entry_names *names, uint64_t seq,
                        const uint8_t hash[SHA256_SIZE]);

/* Adds a GRANT or a COMMIT of the dataset to its grants and spendings; weighted are the
 * orders of the epoch that is in force in the end. */
void sealed_sum_note(struct sealed_sum *sum, const struct ledger_row *row,
                     const size_t weighted[LEDGER_WEIGHTED]);
/* Forgets spendings that are older than SEALED_DAYS at that time. */
void sealed_sum_age(struct sealed_sum *sum, int64_t time_ms);

/* Returns the body, which the caller frees. */
uint8_t *sealed_sum_encode(const struct sealed_sum *sum, size_t *size);
/* Returns false if the bytes are not such a body; sum needs no release then. */
bool sealed_sum_decode(struct sealed_sum *sum, const char *dataset,
                       const uint8_t *bytes, size_t size);
/* Extends the digest by one row. */
void sealed_sum_digest(uint8_t digest[SHA256_SIZE], const char *dataset,
                       const uint8_t *bytes, size_t size);

struct sealed {       /* the rows that replace what is archived */
    struct seal seal; /* the newest; entry.seq 0: there is none, and no sums */
    struct sealed_sum *sums;
    size_t count, capacity;
};

/* Reads the newest SEAL and its sums. sealed_fini must release what was read in any
 * case.
 *   ST_CORRUPT  the SEAL does not have its form or its hash, or the sums are not those
 *               that it authenticates
 *   ST_IO       the store cannot be read */
enum status sealed_read(struct sealed *sealed, struct store_tx *tx,
                        struct error *error);
/* Reads only the newest SEAL; entry.seq 0: there is none. The statuses are the same. */
enum status sealed_read_seal(struct seal *seal, struct store_tx *tx,
                             struct error *error);
/* Reads the sum of one dataset, as that seal authenticates it; sealed->count is 0 if
 * there is none: this is proved by its neighbours in the order, which are shown to be
 * adjacent. A seal that authenticates all sums together cannot show this, and then only
 * their forms are checked.
 *   ST_CORRUPT, ST_IO  as above */
enum status sealed_read_one(struct sealed *sealed, const struct seal *seal,
                            const char *dataset, struct store_tx *tx,
                            struct error *error);
void sealed_fini(struct sealed *sealed);

/* Returns the sum of the dataset; NULL if there is none. */
struct sealed_sum *sealed_find(const struct sealed *sealed, const char *dataset);

/* Returns whether the row is the next one of its dataset that stays; rows come in the
 * order of seq. */
bool sealed_take(const struct sealed *sealed, const struct ledger_row *row);
/* Returns whether all rows that stay were taken; else *dataset is one with a row
 * missing. */
bool sealed_taken(const struct sealed *sealed, const char **dataset);

#endif
