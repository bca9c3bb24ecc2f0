/*
 * entity_tag.h - the ETags of a thing, and lists of them in If-Match and If-None-Match.
 *
 * A tag has its quotes: "TAG". The form of a thing that is packed by gzip (packing.h) is
 * another representation, whose tag is "TAG-gzip". Whoever sends back either of the two
 * knows the same version of the thing.
 *
 * Pure.
 */
#ifndef SERVICE_ENTITY_TAG_H
#define SERVICE_ENTITY_TAG_H

#include <stdbool.h>
#include <stddef.h>

enum { PACKED_TAG_SIZE = 96 };

/* Writes the tag of the packed form to packed[0..size). */
void tag_pack(char *packed, size_t size, const char *tag);

/* The tag of the packed form becomes that of the thing itself. */
void tag_unpack(char *packed);

/* Tells whether the list of tags (or *), which may be NULL, holds tag or that of the
 * packed form, by weak comparison. */
bool tag_list_holds(const char *list, const char *tag);

/* The same by strong comparison, as If-Match asks for: a weak tag holds nothing. */
bool tag_list_holds_strongly(const char *list, const char *tag);

/* Tells whether it holds *, which is any thing that is there. */
bool tag_list_holds_any(const char *list);

/* Tells whether it holds that of the packed form. */
bool tag_list_holds_packed(const char *list, const char *tag);

#endif
