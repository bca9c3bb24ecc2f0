/*
 * compression.h - gzip of replies, for clients that prefer it.
 *
 * It compresses the JSON of a 200 to a GET if the request's Accept-Encoding gives gzip
 * the same weight as the identity or more, and if the text is neither so small that
 * compression does not pay nor so large that it would occupy its thread for long. A
 * text that is kept is compressed once (cached_response.h), and the files of the
 * program when it is built (assets.h). Everything else is sent as it is: files of
 * models and lines of the ledger, which are read while they are sent, and problems,
 * which are small.
 *
 * Invariants
 *   (1) A compressed answer has the ETag of a compressed form (entity_tag.h).
 *   (2) An answer that depends on Accept-Encoding says so by Vary.
 *   (3) A secret is never compressed. If a compressed answer holds a secret next to a
 *       text that an attacker chooses, its length reveals the secret (BREACH). Here a
 *       secret is sent once, in the answer to the POST that made it, and only answers
 *       to GET are compressed; keys and cookies are in headers, which are never
 *       compressed.
 *
 * Pure.
 */
#ifndef SERVICE_HTTP_COMPRESSION_H
#define SERVICE_HTTP_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PACKED_SIZE_MIN = 2 << 10, /* less fits in a packet or two anyway */
    PACKED_SIZE_MAX = 1 << 20, /* some ten milliseconds of a processor */
};

/* Returns whether a text of this many bytes is worth compressing. */
bool compression_pays(size_t size);

/* Returns whether an Accept-Encoding header, which may be NULL, prefers gzip. */
bool compression_is_wanted(const char *codings);

/* Compresses text[0..size). Returns the bytes, to be freed, and their number in
 * packed_size; NULL if they would be no fewer, or there is no memory for them. */
char *compression_pack(size_t *packed_size, const char *text, size_t size);

#endif
