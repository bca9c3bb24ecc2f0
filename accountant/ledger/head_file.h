/*
 * head_file.h - the head of the chain in a file of its own, best on another disk: one
 * line,
 *
 *   {"seq":12,"hash":"...","authorised":3400}
 *
 * authorised is the sum of all marks: entries and marks only ever grow, so a database
 * that lacks the entry, or has authorised less, is older than the file or another
 * history. The hashes of the entries before decide which of the two; they are in the
 * file PATH.chain (head_chain.h). A head file without one, as earlier versions wrote
 * it, has its newest hash only.
 *
 * Timelines that were noticed (ledger_fork.h) follow, because a restored backup does
 * not know of them:
 *
 *   ,"timelines":[{"seq":9,"hash":"...","shared":5,"seen":true}]
 *
 * If several daemons share the store, none of them knows the whole sum of marks. Each
 * has its receipts instead (store/rows/commit_watermark.h), which end the line:
 *
 *   ,"store":"...","daemons":{"17":240,"34":12}
 *
 * Order of writing: PATH.chain has an entry before the line names it. If a start finds
 * another history, the line is replaced before PATH.chain is, so that an old line is
 * never together with hashes of other entries.
 */
#ifndef ACCOUNTANT_LEDGER_HEAD_FILE_H
#define ACCOUNTANT_LEDGER_HEAD_FILE_H

#include <stdbool.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/head_chain.h"
#include "store/rows/commit_watermark.h"

enum { HEAD_TIMELINES_MAX = 64 }; /* in one file: each is a restored backup */

struct head_timeline { /* another timeline of the ledger, or a lost end of this one */
    struct ledger_entry_name name; /* an entry of it that this timeline lacks */
    uint64_t shared;               /* the last entry of both; 0: unknown */
    bool seen;                     /* false: the lost end of a store that was cut off */
};

struct head_timelines {
    size_t count;
    struct head_timeline all[HEAD_TIMELINES_MAX];
};

struct head {
    struct ledger_entry_name entry;
    uint64_t authorised;
    struct head_timelines timelines;
    struct receipts receipts;
};

/* Adds timeline if there is none of that name; one that was seen stays seen. Returns
 * false if there is no room for it. */
bool head_timelines_add(struct head_timelines *timelines,
                        const struct head_timeline *timeline);

/* *found is false, head untouched, if there is no file at path.
 *   ST_CORRUPT  not a head file
 *   ST_IO       cannot be read */
enum status head_file_read(const char *path, struct head *head, bool *found,
                           struct error *error);

/* *links = the links in PATH.chain up to the entry of head, which was read at path;
 * none if that entry is not among them. Must be finished on every outcome.
 *   ST_IO  cannot be read */
enum status head_file_links(const char *path, const struct head *head,
                            struct chain_links *links, struct error *error);

struct head_kept { /* a head file, as it was read; zeroed: there is none */
    bool found;
    struct head head;
    struct chain_links links; /* the entries that it knows, up to head's */
};

/* Reads the line at path and its links; *kept must be finished on every outcome.
 *   ST_CORRUPT, ST_IO  as head_file_read */
enum status head_file_read_kept(struct head_kept *kept, const char *path,
                                struct error *error);
void head_kept_fini(struct head_kept *kept);

/* The result of comparing a store with a head that is kept elsewhere
 * (ledger_fork.h). */
enum ledger_history {
    HISTORY_SAME,  /* it has the head's entry, and has authorised as much */
    HISTORY_CUT,   /* it is a truncation of the head's history */
    HISTORY_OTHER, /* it is another timeline, or nothing shows that it is a truncation */
};

/* Replaces the line durably: writes a second file, syncs it, renames it, syncs the
 * folder.
 *   ST_IO  the file may be the old or the new one */
enum status head_file_write(const char *path, const struct head *head,
                            struct error *error);

/* Appends links to PATH.chain, then replaces the line.
 *   ST_IO  as above */
enum status head_file_append(const char *path, const struct head *head,
                             const struct chain_links *links, struct error *error);

/* Replaces the line, then PATH.chain by links.
 *   ST_IO  as above */
enum status head_file_replace(const char *path, const struct head *head,
                              const struct chain_links *links, struct error *error);

struct head_raise { /* what one daemon adds to a file that several keep */
    const struct head *head;
    const struct chain_links *links;
    bool links_are_all; /* PATH.chain holds nothing else except newer entries */
    const struct receipts *ended; /* receipts to forget (receipts_hold); or NULL */
};

/* Like head_file_append, if several daemons keep the file: afterwards it names the
 * newest entry, the greatest sum that any of them has written, all timelines, and the
 * receipts of each that are of this head's store, except those of ended. They write one
 * after the other (flock on PATH.lock). If there is no room for a receipt, the log says
 * so (receipt_dropped).
 *   ST_CORRUPT  the existing file is not a head file
 *   ST_INVALID  more than HEAD_TIMELINES_MAX timelines
 *   ST_IO       as above */
enum status head_file_raise(const char *path, const struct head_raise *raise,
                            struct error *error);

#endif
