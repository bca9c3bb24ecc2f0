/*
 * file_checksum.h - the size and the SHA-256 of a file, which a row stores so that
 * damage to the file is detected.
 *
 * A check reads the whole file, at about 2 GB a second from the page cache. It covers
 * the file as it was while it was read: if a disk changes bits afterwards, only the
 * next check detects it.
 *
 * Threads: pure functions of their arguments and of the file.
 */
#ifndef BASE_FILE_CHECKSUM_H
#define BASE_FILE_CHECKSUM_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

struct file_checksum { /* both members describe the whole file */
    uint8_t sha256[SHA256_SIZE];
    uint64_t size; /* bytes */
};

/* Checks the open file against the seal. Reads it from its first byte, regardless of
 * its offset.
 *   cancel        a flag that is read every 64 KiB, or NULL
 *   ST_CORRUPT    size or bytes differ; error->text says which of the two
 *   ST_IO         the file cannot be read
 *   ST_CANCELLED  *cancel was set */
enum status file_checksum_check(const struct file_checksum *seal, int file,
                                const atomic_bool *cancel, struct error *error);

/* The same for the file at path.
 *   ST_CORRUPT  also if the file is missing */
enum status file_checksum_check_path(const struct file_checksum *seal, const char *path,
                                     const atomic_bool *cancel, struct error *error);

/* *seal = the size and digest of the file at path.
 *   ST_IO  the file cannot be read */
enum status file_checksum_of(struct file_checksum *seal, const char *path,
                             struct error *error);

#endif
