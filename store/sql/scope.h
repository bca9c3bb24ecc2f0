/*
 * scope.h - what a transaction is going to do, as declared by the caller that begins
 * it.
 *
 *   scope          what it may do                                   concurrency
 *   STORE_LEDGER   append entries of the ledger, and all below      one at a time
 *   STORE_JOB      write one job's row and its mark                 one at a time
 *   STORE_ROW      write other rows, the audit trail's among them   one at a time
 *   STORE_READ     read, as of one moment                           one at a time
 *   STORE_SEALED   read what no transaction changes: what a SEAL    one at a time, with
 *                  of the ledger has closed                         any others open
 *   STORE_MARK     raise the mark of one job, or write or read      any number
 *                  which daemons are alive (lease.h) and how far
 *                  runs have come, and no more
 *
 * Jobs, datasets and balances that a daemon keeps in memory are updated after a
 * transaction of the first four scopes and before the next of them begins. So a thread
 * that has such a transaction open sees memory and rows of the same moment, and neither
 * changes under it. A mark is a row of its job only, which nothing else reads while the
 * job runs: transactions of STORE_MARK wait for no others if the database has several
 * connections.
 *
 * A transaction of STORE_SEALED waits for none of the other scopes and renews no
 * memory, so it may begin while another is open, and with locks held. Not every
 * database supports it (store_reads_sealed).
 *
 * The database gets the scope too: a transaction that only reads can write nothing, and
 * one of the ledger locks the ledger's head. If several daemons write, every
 * transaction of the first three scopes locks the head: that is its turn
 * (change_feed.h). A transaction takes its locks in this order: its writer's row, the
 * head, datasets, jobs, marks; one without the head never waits for it.
 */
#ifndef STORE_SQL_SCOPE_H
#define STORE_SQL_SCOPE_H

enum store_scope {
    STORE_LEDGER,
    STORE_JOB,
    STORE_ROW,
    STORE_READ,
    STORE_MARK,
    STORE_SEALED,
};

#endif
