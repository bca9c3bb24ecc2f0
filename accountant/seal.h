/*
 * seal.h - the form of a SEAL, the entry that stands for all entries before it: a part of
 * the chain is archived (archive.h), the sums that it came to are rows (sealed_sum.h), and
 * the SEAL, which is hashed as every entry is, binds both.
 *
 *   dataset, job   ""
 *   epoch          which SEAL of the ledger it is, from 1
 *   curve          the root of the sums, 32 bytes
 *   meta           {"first":F,"last":L,"archive_sha256":H,"grants":G,"reserves":R,
 *                   "commits":C,"authorised":A,"accounts":N}
 *
 * F to L are the entries of the part: L is the one before the SEAL, F the SEAL before it,
 * or 1. G, R, C count the entries of each kind, and A adds up the steps that were
 * authorised of settled reservations, from the first entry of the ledger on. N counts the
 * sums. Of SEALs that name no N the curve is a digest of all sums, of which none can be shown
 * alone. Reading accepts what rendering writes and nothing else.
 *
 * Threads: pure. Ownership: rendered texts are released with free().
 */
#ifndef ACCOUNTANT_SEAL_H
#define ACCOUNTANT_SEAL_H

#include "accountant/entry.h"

struct seal {
    struct ledger_entry_name entry; /* its own; seq 0: there is none */
    uint8_t prev[SHA256_SIZE];      /* the hash of the entry before it */
    int64_t time_ms;
    uint64_t number, first, last;
    uint8_t archive_sha256[SHA256_SIZE], sums_sha256[SHA256_SIZE];
    struct entry_tally tally;
    uint64_t authorised;
    uint64_t accounts; /* 0: the sums are bound together */
};

/* The meta, from first, last, archive_sha256, tally, authorised and accounts. */
char *seal_render(const struct seal *seal);

/* False: it is not a SEAL's, or it does not stand behind its part. The hash is not
 * looked at. */
bool seal_parse(struct seal *seal, const struct ledger_row *row);

#endif
