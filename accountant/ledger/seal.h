/*
 * seal.h - the form of a SEAL, the entry that replaces all entries before it: a part of
 * the chain is archived (archive.h), its sums are rows (sealed_sum.h), and the SEAL,
 * which is hashed like every entry, authenticates both.
 *
 *   dataset, job   ""
 *   epoch          number of the SEAL in the ledger, from 1
 *   curve          the root of the sums, 32 bytes
 *   meta           {"first":F,"last":L,"archive_sha256":H,"grants":G,"reserves":R,
 *                   "commits":C,"authorised":A,"accounts":N}
 *
 * F to L are the entries of the part: L is the one before the SEAL, F the SEAL before
 * it, or 1. G, R, C count the entries of each kind, and A adds up the steps that were
 * authorised of settled reservations, from the first entry of the ledger on. N counts
 * the sums. In a SEAL without N the curve is a digest of all sums, and no single sum
 * can be verified without the others. Reading accepts what rendering writes and nothing
 * else.
 *
 * Threads: pure. Ownership: rendered texts are released with free().
 */
#ifndef ACCOUNTANT_LEDGER_SEAL_H
#define ACCOUNTANT_LEDGER_SEAL_H

#include "accountant/ledger/entry.h"

struct seal {
    struct ledger_entry_name entry; /* its own; seq 0: there is none */
    uint8_t prev[SHA256_SIZE];      /* the hash of the entry before it */
    int64_t time_ms;
    uint64_t number, first, last;
    uint8_t archive_sha256[SHA256_SIZE], sums_sha256[SHA256_SIZE];
    struct entry_tally tally;
    uint64_t authorised;
    uint64_t accounts; /* 0: the sums are authenticated together */
};

/* Returns the meta, from first, last, archive_sha256, tally, authorised and
 * accounts. */
char *seal_render(const struct seal *seal);

/* Returns false if it is not a SEAL's, or it does not directly follow its part. The
 * hash is not checked. */
bool seal_parse(struct seal *seal, const struct ledger_row *row);

#endif
