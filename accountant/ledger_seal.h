/*
 * ledger_seal.h - closing the part of the chain behind the newest SEAL: its entries go into
 * a file, the sums that they came to become rows, and a SEAL entry binds both (seal.h).
 *
 *   1  the part is written to the archive, and has its name there, durably
 *   2  the file is read back: it is the chain from the first entry of the part to the head
 *   3  in one transaction the SEAL is appended, the sums take the place of those before,
 *      and the entries of the part go, but for GRANTs and open RESERVEs; and the marks of
 *      the settled go
 *
 * Invariants
 *   (1) What is gone from the store is in an archive whose digest an entry of the chain
 *       holds, and was read there before it went.
 *   (2) Balances, the head's chain and the sum of all authorised steps are what they would
 *       be without a SEAL: nothing is spent, given back or forgotten by it.
 *   (3) Killed at any moment, the ledger is sealed whole or not at all; a file of a part
 *       that was not sealed then is in nobody's way.
 *
 * Threads: one, and nobody else has the store: what is in memory of other ledgers of it
 * would be of entries that are no more.
 */
#ifndef ACCOUNTANT_LEDGER_SEAL_H
#define ACCOUNTANT_LEDGER_SEAL_H

#include "accountant/archive.h"
#include "accountant/ledger.h"
#include "accountant/seal.h"

/* Seals all entries there are; folder is where the file goes. *done is the new SEAL, or the
 * newest one, and *any tells whether there was anything to be sealed behind it. The ledger
 * is only to be closed after that.
 *   ST_INVALID         the folder is none
 *   ST_ALREADY_EXISTS  it holds another file of that name
 *   ST_CORRUPT         what was read back is not the part
 *   ST_IO              the file or the store cannot be written or read */
enum status ledger_seal(struct ledger *ledger, const char *folder, struct seal *done,
                        bool *any, struct error *error);

#endif
