/*
 * ledger_seal.h - closes the part of the chain after the newest SEAL: its entries are
 * written to a file, their sums become rows, and a SEAL entry authenticates both
 * (seal.h).
 *
 *   1  the part is written to the archive, and has its name there, durably
 *   2  the file is read back: it is the chain from the first entry of the part to the
 *      head
 *   3  in one transaction the SEAL is appended, the sums replace the earlier ones, the
 *      entries of the part are deleted, except GRANTs and open RESERVEs, and so are the
 *      marks of the settled reservations
 *
 * Invariants
 *   (1) An entry that was deleted from the store is in an archive whose digest an entry
 *       of the chain holds, and was read there before it was deleted.
 *   (2) Balances, the head's chain and the sum of all authorised steps are what they
 *       would be without a SEAL: it spends, gives back and forgets nothing.
 *   (3) If the process is killed at any moment, the ledger is sealed whole or not at
 *       all; the file of a part that was not sealed then does no harm.
 *
 * Threads: one, and no other process has the store: ledgers of it in other memories
 * would know entries that no longer exist.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_SEAL_H
#define ACCOUNTANT_LEDGER_LEDGER_SEAL_H

#include "accountant/ledger/archive.h"
#include "accountant/ledger/ledger.h"
#include "accountant/ledger/seal.h"

/* Seals all entries there are; folder is where the file goes. *done is the new SEAL, or
 * the newest one, and *any is whether there was anything to seal after it. After that
 * the ledger can only be closed.
 *   ST_INVALID         the folder is not a folder
 *   ST_ALREADY_EXISTS  it holds another file of that name
 *   ST_CORRUPT         what was read back is not the part
 *   ST_IO              the file or the store cannot be written or read */
enum status ledger_seal(struct ledger *ledger, const char *folder, struct seal *done,
                        bool *any, struct error *error);

#endif
