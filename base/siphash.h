/*
 * siphash.h - SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash for tables in
 * memory whose texts are chosen by clients. Without the key, a client cannot make
 * texts that collide.
 *
 * Threads: pure.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
    uint64_t words[2];
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t size);

#endif
