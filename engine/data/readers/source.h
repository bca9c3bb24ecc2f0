/*
 * source.h - an uploaded file as a stream of bytes, through gzip (RFC 1952, any number
 * of members) if its first two bytes say so.
 *
 * Threads: one caller; the cancel flag may be set by any thread.
 */
#ifndef ENGINE_DATA_READERS_SOURCE_H
#define ENGINE_DATA_READERS_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct source; /* opaque */

struct source_bounds {
    uint64_t unpacked_size_max; /* bytes that may be read */
    const atomic_bool *cancel;  /* or NULL */
};

/*   ST_IO             cannot be opened or read
 *   ST_IMPORT_FAILED  a plain file larger than the bound
 *   ST_NO_MEMORY */
enum status source_open(struct source **out, const char *path,
                        struct source_bounds bounds, struct error *error);
void source_close(struct source *source); /* NULL is allowed */

/* Reads the size of a plain file; false for gzip, which stores its size at the end. */
bool source_size(const struct source *source, uint64_t *size);

/* Fills out[0..size) unless the file ends first: then *got < size. Before the end of a
 * gzip file is reported, its length and CRC are checked.
 *   ST_IMPORT_FAILED  gzip cut short, corrupted or followed by something else; more
 *                     bytes than the bound
 *   ST_CANCELLED      the flag was seen set
 *   ST_IO             the file cannot be read */
enum status source_read(struct source *source, void *out, size_t size, size_t *got,
                        struct error *error);

#endif
