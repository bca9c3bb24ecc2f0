/*
 * head_file.h - the head of the chain in a file of its own, best on another disk: one
 * line,
 *
 *   {"seq":12,"hash":"...","authorised":3400}
 *
 * authorised is the sum of all marks: entries and marks only ever grow, so a database
 * that lacks the entry, or has authorised less, is older than the file.
 *
 * Where several daemons share the store none of them knows the whole sum. Each has its
 * receipts instead (store/receipt.h), which stand behind the rest of the line:
 *
 *   ,"store":"...","daemons":{"17":240,"34":12}
 */
#ifndef ACCOUNTANT_HEAD_FILE_H
#define ACCOUNTANT_HEAD_FILE_H

#include <stdbool.h>

#include "accountant/entry.h"
#include "store/receipt.h"

struct head {
    struct ledger_entry_name entry;
    uint64_t authorised;
    struct receipts receipts;
};

/* *found is false, head untouched, if there is no file at path.
 *   ST_CORRUPT  not a head file
 *   ST_IO       cannot be read */
enum status head_file_read(const char *path, struct head *head, bool *found,
                           struct error *error);

/* Replaces the file durably: written beside, synced, renamed, the folder synced.
 *   ST_IO  the file may be the old or the new one */
enum status head_file_write(const char *path, const struct head *head,
                            struct error *error);

/* The same where several daemons keep the file: it names the newest entry, the greatest sum
 * that any of them has written, and the receipts of each that are of this head's store, but
 * for those of ended, which may be NULL (receipts_hold). They write one after the other
 * (flock on PATH.lock). A receipt for which there is no room is logged, receipt_dropped.
 *   ST_CORRUPT  what is there is not a head file
 *   ST_IO       as above */
enum status head_file_raise(const char *path, const struct head *head,
                            const struct receipts *ended, struct error *error);

#endif
