/*
 * ledger_kept.h - a head that is kept elsewhere, as a start reads it, and the three
 * results of comparing a store with it.
 *
 * Threads: pure, except for the file.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_KEPT_H
#define ACCOUNTANT_LEDGER_LEDGER_KEPT_H

#include "accountant/ledger/head_file.h"

/* The result of comparing a store with a head that is kept elsewhere
 * (ledger_fork.h). */
enum ledger_history {
    HISTORY_SAME,  /* it has the head's entry, and has authorised as much */
    HISTORY_CUT,   /* it is a truncation of the head's history */
    HISTORY_OTHER, /* it is another timeline, or nothing shows that it is a truncation */
};

struct ledger_kept { /* a head file, as it was read; zeroed: there is none */
    bool found;
    struct head head;
    struct chain_links links; /* the entries that it knows, up to head's */
};

/* Reads the head file at path; *kept must be finished on every outcome.
 *   ST_CORRUPT  the file is there and is not a head file
 *   ST_IO       it cannot be read */
enum status ledger_kept_read(struct ledger_kept *kept, const char *path,
                             struct error *error);
void ledger_kept_fini(struct ledger_kept *kept);

#endif
