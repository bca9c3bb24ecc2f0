/*
 * packing.h - texts by gzip, for clients that would rather have them so.
 *
 * Packed is the JSON that a GET is answered 200 with, where the request's Accept-Encoding
 * gives gzip as much weight as the text as it is, or more, and the text is neither so small
 * that it does not pay nor so large that its thread would be held up. A text that is kept
 * is packed once (job_answer.h), the files of the program when it is built (assets.h).
 * Everything else is sent as it is: files of models and lines of the ledger, which are
 * read while they are sent, and problems, which are small.
 *
 * Invariants
 *   (1) A packed answer has the ETag of a packed form (entity_tag.h).
 *   (2) What Accept-Encoding decides says so: Vary.
 *   (3) A secret is never packed. The length of a packed answer gives a secret away that
 *       stands in it beside a text of an attacker's choice (BREACH). Here a secret is
 *       answered once, to the POST that made it, and only what a GET is answered with is
 *       packed; keys and cookies travel in headers, which never are.
 *
 * Pure.
 */
#ifndef SERVICE_PACKING_H
#define SERVICE_PACKING_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PACKED_SIZE_MIN = 2 << 10, /* less goes in a packet or two anyway */
    PACKED_SIZE_MAX = 1 << 20, /* some ten milliseconds of a processor */
};

/* Tells whether a text of so many bytes is worth packing. */
bool packing_pays(size_t size);

/* Tells whether an Accept-Encoding header, which may be NULL, prefers gzip. */
bool packing_is_wanted(const char *codings);

/* Packs text[0..size). Answers the bytes, to be freed, and how many they are; NULL where
 * they would be no fewer, or there is no memory for them. */
char *packing_pack(size_t *packed_size, const char *text, size_t size);

#endif
