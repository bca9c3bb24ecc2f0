/*
 * audit.h - what an auditor keeps of the entries that were read (verify.h), and the
 * checks of the next entry. Inside accountant only.
 *
 * Threads: one. The first fault is noted in the audit, with its error, and ends
 * everything: the check that finds it returns false.
 */
#ifndef ACCOUNTANT_AUDIT_AUDIT_H
#define ACCOUNTANT_AUDIT_AUDIT_H

#include "accountant/ledger/sealed_sum.h"
#include "accountant/audit/verify_report.h"
#include "store/rows/audit_rows.h"
#include "store/rows/ledger_rows.h"

struct item { /* a RESERVE */
    struct ledger_entry_name entry;
    char job[sizeof(struct job_id)];
    size_t budget;
    struct mechanism mechanism;
    struct curve held;
    enum parts parts; /* the parts that hold that curve */
    uint64_t steps, authorised;
    uint64_t committed_at; /* seq of its COMMIT, 0 while open */
    uint64_t committed_steps;
};

struct budget {
    char dataset[sizeof(struct dataset_id)];
    uint64_t grant_seq;              /* the entry of the open epoch's grant */
    bool drawn_on;                   /* something was reserved, in any epoch */
    bool external;                   /* so was something for external work */
    struct epochs epochs[PARTS_MAX]; /* of each part; the last is the open one */
    unsigned part_count;
    size_t *open; /* which items are its open RESERVEs, in order */
    size_t open_count, open_capacity;
    struct sealed_sum sum; /* only its grants and spendings are updated */
};

struct audit {
    struct verify_report *report;
    struct error *error;
    enum status status;
    struct item *items; /* (item_count), in the order of seq */
    size_t item_count, item_capacity;
    struct item **jobs; /* the same items, by job */
    struct budget *budgets;
    size_t budget_count, budget_capacity;
    struct entry_tally tally;
    uint64_t settled;          /* steps of all COMMITs */
    int64_t time_ms;           /* of the last entry */
    struct seal seal;          /* the last that was read */
    bool archived;             /* entries come from archives, from the first on */
    uint8_t part[SHA256_SIZE]; /* the digest of the archive that was read last */
};

void audit_fini(struct audit *audit);

/* Notes a fault of an entry; returns false. */
bool audit_wrong(struct audit *audit, uint64_t seq, const char *what);
/* Like audit_wrong, for a table outside the chain. */
bool audit_wrong_row(struct audit *audit, const char *table, const char *row,
                     const char *what);

/* Checks the next entry, and adds it. context is the audit, so that it can be a
 * visitor. */
bool audit_row(void *context, const struct ledger_row *row);
/* Like audit_row, for an entry that stays in the store though its part is archived:
 * checks neither its place in the chain nor what it leaves of a budget. */
bool audit_kept(struct audit *audit, const struct ledger_row *row);

/* Returns whether every part of every budget is within its capacity, after the entry at
 * seq. */
bool audit_budgets(struct audit *audit, uint64_t seq);

struct budget *audit_budget(const struct audit *audit, const char *dataset);

/* --- audit_seal.c --- */

/* Checks a SEAL against what was read before it: the sums follow from the entries, and
 * the archive of its part is the one that was read. */
bool audit_seal(struct audit *audit, const struct ledger_row *row);

/* Begins at a SEAL: reads the earlier entries that stay in the store, and takes the
 * sums for the rest. */
enum status audit_begin(struct audit *audit, const struct sealed *sealed,
                        struct store_tx *tx);

/* Begins at the first entry: reads every archive in the folder up to the SEAL, and
 * checks that the entries that stay in the store are the same.
 *   ST_NOT_FOUND, ST_CORRUPT, ST_IO  of an archive */
enum status audit_begin_archived(struct audit *audit, const struct sealed *sealed,
                                 const char *folder, struct store_tx *tx);

#endif
