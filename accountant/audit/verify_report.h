/*
 * verify_report.h - result of an audit (verify.h).
 *
 * Ownership: plain data.
 */
#ifndef ACCOUNTANT_AUDIT_VERIFY_REPORT_H
#define ACCOUNTANT_AUDIT_VERIFY_REPORT_H

#include <stdbool.h>

#include "accountant/ledger/entry.h"

struct verify_report {          /* output, except wanted */
    uint64_t entries, datasets; /* read so far */
    uint64_t seq;               /* of the entry that is wrong, 0 if none is */
    uint64_t sealed;            /* the SEAL from which it was read; 0: from the first */
    uint64_t archives;          /* read before that */
    struct ledger_entry_name head;
    /* Input: an entry that the caller names; seq 0: none. If the entry is archived,
     * found is true and same says whether it has that hash. */
    struct ledger_entry_name wanted;
    bool found, same;
};

#endif
