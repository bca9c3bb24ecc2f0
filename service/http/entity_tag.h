/*
 * entity_tag.h - ETags, and lists of them in If-Match and If-None-Match.
 *
 * A tag includes its quotes: "TAG". The gzip form of a thing (compression.h) is another
 * representation, whose tag is "TAG-gzip". A client that sends back either of the two
 * knows the same version of the thing.
 *
 * Pure.
 */
#ifndef SERVICE_HTTP_ENTITY_TAG_H
#define SERVICE_HTTP_ENTITY_TAG_H

#include <stdbool.h>
#include <stddef.h>

enum { PACKED_TAG_SIZE = 96 };

/* Writes the tag of the gzip form to packed[0..size). */
void tag_pack(char *packed, size_t size, const char *tag);

/* Changes the tag of the gzip form to that of the thing itself. */
void tag_unpack(char *packed);

/* Returns whether the list of tags (or *), which may be NULL, contains tag or that of
 * its gzip form, by weak comparison. */
bool tag_list_holds(const char *list, const char *tag);

/* Like tag_list_holds, by strong comparison, as If-Match requires: a weak tag never
 * matches. */
bool tag_list_holds_strongly(const char *list, const char *tag);

/* Returns whether the list contains *, which matches anything that exists. */
bool tag_list_holds_any(const char *list);

/* Returns whether the list contains the tag of the gzip form. */
bool tag_list_holds_packed(const char *list, const char *tag);

#endif
