/*
 * file_seal.h - what a row keeps of a file so that damage to it is noticed: its size and
 * the SHA-256 of its bytes.
 *
 * A check reads the whole file, about 2 GB a second from the page cache. It says what the
 * file was while it was read: a disk that changes bits afterwards is seen by the next
 * check, not by this one.
 *
 * Threads: pure functions of their arguments and of the file.
 */
#ifndef BASE_FILE_SEAL_H
#define BASE_FILE_SEAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

struct file_seal { /* both are the whole file's */
    uint8_t sha256[SHA256_SIZE];
    uint64_t size; /* bytes */
};

/* Whether the open file, read from its first byte whatever its offset is, has this seal.
 *   cancel        a flag that is read every 64 KiB, or NULL
 *   ST_CORRUPT    another size, or other bytes; error->text says which of the two
 *   ST_IO         it cannot be read
 *   ST_CANCELLED  *cancel was seen set */
enum status file_seal_check(const struct file_seal *seal, int file,
                            const atomic_bool *cancel, struct error *error);

/* The same for the file at path.
 *   ST_CORRUPT  also where it is missing */
enum status file_seal_check_path(const struct file_seal *seal, const char *path,
                                 const atomic_bool *cancel, struct error *error);

/* *seal = that of the file at path.
 *   ST_IO  it cannot be read */
enum status file_seal_of(struct file_seal *seal, const char *path, struct error *error);

#endif
