/*
 * scope.h - what a transaction is going to do, which whoever begins it says.
 *
 *   scope          what it may do                                     beside others
 *   STORE_LEDGER   append entries of the ledger, and all below        one at a time
 *   STORE_JOB      write of one job: its row, its mark                one at a time
 *   STORE_ROW      write other rows, the audit trail's among them     one at a time
 *   STORE_READ     read, as of one moment                             one at a time
 *   STORE_SEALED   read what no transaction changes: what a SEAL of   one at a time, beside
 *                  the ledger has closed                              all others
 *   STORE_MARK     raise the mark of one job, or say or ask who is    any number
 *                  alive (lease.h) and how far runs have come, and no more
 *
 * What a daemon keeps in memory of jobs, datasets and balances follows a transaction
 * before the next of the first four begins, so whoever has such a one open sees memory and
 * rows of the same moment, and nothing of them moves. A mark is a row of its job alone,
 * which nobody else looks at while the job runs: those transactions wait for nobody where
 * the database has several connections.
 *
 * One of STORE_SEALED waits for none of the others and renews no memory, so it may be begun
 * while another is open, and with locks held. Not every database can (store_reads_sealed).
 *
 * The database is told the scope too: a transaction that only reads can write nothing, and
 * one of the ledger locks the ledger's head. Where several daemons write, each of the first
 * three does: that is its turn (follow.h). What a transaction locks it locks in this order:
 * its writer's row, the head, datasets, jobs, marks; one without the head never waits for
 * it.
 */
#ifndef STORE_SCOPE_H
#define STORE_SCOPE_H

enum store_scope {
    STORE_LEDGER,
    STORE_JOB,
    STORE_ROW,
    STORE_READ,
    STORE_MARK,
    STORE_SEALED,
};

#endif
