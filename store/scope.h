/*
 * scope.h - what a transaction is going to do, which whoever begins it says.
 *
 *   scope          what it may do                                     beside others
 *   STORE_LEDGER   append entries of the ledger, and all below        one at a time
 *   STORE_JOB      write of one job: its row, its mark                one a job
 *   STORE_ROW      write other rows, the audit trail's among them     one a row
 *   STORE_READ     read, as of one moment                             any number
 *
 * One connection writes today, and its transactions follow each other. The database is
 * told the scope all the same: a transaction that only reads can write nothing, and one
 * of the ledger locks the ledger's head where a server may have other writers.
 */
#ifndef STORE_SCOPE_H
#define STORE_SCOPE_H

enum store_scope { STORE_LEDGER, STORE_JOB, STORE_ROW, STORE_READ };

#endif
