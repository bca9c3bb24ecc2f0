/*
 * archive.h - a part of the ledger's chain as a file: every entry of it, in order, with
 * all that its hash covers.
 *
 *   name   ledger-FIRST-LAST.archive, both of 12 digits or more
 *   bytes  "epsilond ledger 1\n", FIRST, LAST; for each entry its size, then seq,
 *          epoch, time_ms, prev, hash, and dataset, job, kind, meta, actor, curve and
 *          released, each after its size. Numbers and sizes are 8 bytes, little-endian;
 *          a text includes its terminating zero; released has size 0 if there is none
 *
 * A file gets its name once it is whole and synced, and then its folder is synced. The
 * same entries give the same bytes, so a file that was written before is recognised by
 * its digest.
 *
 * Threads: a struct archive_writer belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_LEDGER_ARCHIVE_H
#define ACCOUNTANT_LEDGER_ARCHIVE_H

#include "base/hash.h"
#include "base/status.h"
#include "store/rows/ledger_rows.h"

struct archive_part {
    const char *folder;
    uint64_t first, last;
};

enum { ARCHIVE_PATH_SIZE = 4096 + 64 };

/* path = the path of the part's file. */
void archive_path(char path[ARCHIVE_PATH_SIZE], const struct archive_part *part);

struct archive_writer; /* opaque */

/* Begins a draft next to the part's path; an existing draft is overwritten.
 *   ST_INVALID  the folder is not a folder, or its path is too long
 *   ST_IO       the draft cannot be written */
enum status archive_create(struct archive_writer **out, const struct archive_part *part,
                           struct error *error);
/* Adds the next entry.
 *   ST_IO  the draft cannot be written: it can only be discarded */
enum status archive_put(struct archive_writer *writer, const struct ledger_row *row,
                        struct error *error);
/* Gives the part its name, durably; digest is that of the file. Releases the writer in
 * any case. An existing file with the same digest stays.
 *   ST_ALREADY_EXISTS  a file with another digest exists
 *   ST_IO              it may have its name or not */
enum status archive_publish(struct archive_writer *writer_take,
                            uint8_t digest[SHA256_SIZE], struct error *error);
/* Removes the draft. */
void archive_discard(struct archive_writer *writer_take);

/* Calls visit with each entry of the part, until it returns false; digest = that of the
 * whole file, however far visit went.
 *   ST_NOT_FOUND  there is no such file
 *   ST_CORRUPT    it is not of its form
 *   ST_IO         it cannot be read */
enum status archive_walk(const struct archive_part *part, uint8_t digest[SHA256_SIZE],
                         bool (*visit)(void *context, const struct ledger_row *row),
                         void *context, struct error *error);

#endif
