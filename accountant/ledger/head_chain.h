/*
 * head_chain.h - the hashes of the entries since the newest SEAL, and of every SEAL, in
 * a file next to the head file. They distinguish a database that was cut off from one
 * that went on with other entries (ledger_fork.h).
 *
 * The file is a list of records of 40 bytes in the order of seq: seq as 8 bytes, little
 * endian, whose highest bit is set for a SEAL, and the hash. An entry appends one
 * record. Records after the entry that the head file names are not promised yet, and
 * are ignored.
 *
 * Threads: any; several daemons that keep one file write one after the other
 * (head_file.h).
 */
#ifndef ACCOUNTANT_LEDGER_HEAD_CHAIN_H
#define ACCOUNTANT_LEDGER_HEAD_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/ledger/entry.h"

struct chain_link {
    struct ledger_entry_name entry;
    bool is_seal;
};

struct chain_links { /* in the order of seq; zeroed: none */
    struct chain_link *items;
    size_t count, capacity;
    bool cut; /* more bytes followed, which are not a record */
};

/* Appends a link, whose seq is greater than those before. */
void chain_links_add(struct chain_links *links, const struct chain_link *link);
/* Appends those links of more whose seq is greater than that of the last one of
 * links. */
void chain_links_merge(struct chain_links *links, const struct chain_links *more);
/* Removes the links whose seq is greater than seq. */
void chain_links_end(struct chain_links *links, uint64_t seq);
/* Returns whether links has this entry, with this hash. */
bool chain_links_have(const struct chain_links *links,
                      const struct ledger_entry_name *entry);
bool chain_links_same(const struct chain_links *a, const struct chain_links *b);
void chain_links_fini(struct chain_links *links);

/* *links = the records of the file at path, up to the first that is out of order or cut
 * off; none if there is no file. links must be finished on every outcome.
 *   ST_IO  cannot be read */
enum status head_chain_read(const char *path, struct chain_links *links,
                            struct error *error);

/* Appends the links after the file's last record, durably. Makes the file if there is
 * none.
 *   ST_IO  some of them may be there */
enum status head_chain_append(const char *path, const struct chain_links *links,
                              struct error *error);

/* Replaces the file durably by links.
 *   ST_IO  the file may be the old or the new one */
enum status head_chain_write(const char *path, const struct chain_links *links,
                             struct error *error);

#endif
