/*
 * backup_copy.h - copies a whole data directory, as of one moment: the database and
 * every file that its rows name. `epsilond backup` and `epsilond restore` use it.
 *
 * The database is copied first, in one reading transaction, so the daemon can keep
 * running. A file that a row of that moment names exists, because files are made
 * durable before their rows and never change. A file that is missing by then was
 * deleted in between, and the copy has to be made again. Uploads that were not imported
 * are not copied, nor is what only the running daemon needs.
 *
 * The copy is checked while it is made: the chain of the ledger and the rows, as a
 * start checks them (consistency_check.h), and each file against its row.
 *
 * Threads: one.
 */
#ifndef SERVICE_COMMANDS_BACKUP_COPY_H
#define SERVICE_COMMANDS_BACKUP_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/ledger/entry.h"

struct backup_copy { /* what was copied */
    struct ledger_entry_name head;
    size_t datasets, models; /* files */
    bool elsewhere;          /* the files are in a bucket, and were not copied */
};

/* Copies the data directory `from` into a new one at `to`, durably. On failure the
 * unfinished copy is removed.
 *   forward  a copy with an earlier schema is migrated to this program's (store.h);
 *            otherwise it is refused
 *   ST_CORRUPT         what is in `from` does not verify
 *   ST_NOT_FOUND       a file was deleted in the meantime: try again
 *   ST_ALREADY_EXISTS  something is at `to`
 *   ST_INVALID         `from` has another schema than this program's
 *   ST_IO              something cannot be read or written */
enum status backup_copy_make(struct backup_copy *copy, const char *from, const char *to,
                             bool forward, struct error *error);

/* Removes a copy that is not needed. */
void backup_copy_remove(const char *path);

#endif
