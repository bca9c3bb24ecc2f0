/*
 * archive.h - a part of the ledger's chain as a file: every entry of it, in order, with
 * all that its hash covers.
 *
 *   name   ledger-FIRST-LAST.archive, both of 12 digits or more
 *   bytes  "epsilond ledger 1\n", FIRST, LAST; for each entry its size, then seq, epoch,
 *          time_ms, prev, hash, and dataset, job, kind, meta, actor, curve and released,
 *          each behind its size. Numbers and sizes are 8 bytes, little-endian; a text is
 *          with the zero at its end; released has size 0 where there is none
 *
 * A file has its name once it is whole and synced, and its folder is synced behind it. The
 * same entries are the same bytes, so one that was written before is known by its digest.
 *
 * Threads: a struct archive_writer belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_ARCHIVE_H
#define ACCOUNTANT_ARCHIVE_H

#include "base/hash.h"
#include "base/status.h"
#include "store/ledger_rows.h"

struct archive_part {
    const char *folder;
    uint64_t first, last;
};

enum { ARCHIVE_PATH_SIZE = 4096 + 64 };

/* path = where the part is. */
void archive_path(char path[ARCHIVE_PATH_SIZE], const struct archive_part *part);

struct archive_writer; /* opaque */

/* Begins a draft beside where the part is to be; a draft of that name is written anew.
 *   ST_INVALID  the folder is none, or its path is too long
 *   ST_IO       the draft cannot be written */
enum status archive_create(struct archive_writer **out, const struct archive_part *part,
                           struct error *error);
/* Adds the next entry.
 *   ST_IO  the draft cannot be written: it can only be discarded */
enum status archive_put(struct archive_writer *writer, const struct ledger_row *row,
                        struct error *error);
/* Gives the part its name, durably; digest is that of the file. The writer is over,
 * whatever is returned. A file that is there and has the same digest stays.
 *   ST_ALREADY_EXISTS  one is there that has another
 *   ST_IO              it may have its name or not */
enum status archive_publish(struct archive_writer *writer_take,
                            uint8_t digest[SHA256_SIZE], struct error *error);
/* Removes the draft. */
void archive_discard(struct archive_writer *writer_take);

/* Calls visit with each entry of the part, until it answers false; digest = that of the
 * whole file, however far visit went.
 *   ST_NOT_FOUND  there is no such file
 *   ST_CORRUPT    it is not of its form
 *   ST_IO         it cannot be read */
enum status archive_walk(const struct archive_part *part, uint8_t digest[SHA256_SIZE],
                         bool (*visit)(void *context, const struct ledger_row *row),
                         void *context, struct error *error);

#endif
