/*
 * caption.h - what people call a dataset, a job or a model: a display name and tags,
 * beside its id.
 *
 *   "display_name": "Flu survey, corrected",  "tags": {"team":"north","run":"12"}
 *
 * Invariants
 *   (1) A caption means nothing to the program: nothing is hashed, certified, priced or
 *       compared by it, and whoever may read the thing reads it. It is no place for
 *       what is private.
 *   (2) Both have limits (LIMIT_DISPLAY_NAME, LIMIT_TAGS, LIMIT_TAG_KEY,
 *       LIMIT_TAG_VALUE) and hold no control characters, those of direction among them.
 *       Tags are kept in the order of their keys.
 *
 * Pure. A zeroed struct caption is one without words.
 */
#ifndef API_CAPTION_H
#define API_CAPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"

struct caption_tag {
    char *key, *value; /* owned */
};

struct caption {
    char *display_name; /* owned; NULL: none */
    size_t tag_count;
    struct caption_tag *tags; /* (tag_count), owned, by key */
};

void caption_fini(struct caption *caption);
struct caption caption_copy(const struct caption *caption);
bool caption_is_empty(const struct caption *caption);
bool caption_equal(const struct caption *a, const struct caption *b);

/* Reads the members "display_name" and "tags" of the body that makes a thing, into a
 * zeroed caption. Either may be absent or null. Whatever is read must be released, even
 * where something was refused. */
void caption_read(struct caption *caption, const struct json_node *root);

/* out = from after the merge patch (RFC 7396) that body is: a member of null takes the
 * name, the tags, or one tag away; tags that are not named stay.
 *   ST_INVALID  error->pointer names the member: no such member, a wrong type, too long,
 *               too many tags once merged
 * On ST_OK out must be released with caption_fini. */
enum status caption_merge(struct caption *out, const struct caption *from,
                          const char *body, size_t size, struct error *error);

/* Writes both members into an object that the caller has opened: null and {} where
 * there are none, or caption is NULL. */
void caption_write(struct json_writer *writer, const struct caption *caption);
/* The same of what is there alone, so that nothing is written of an empty one. */
void caption_write_if(struct json_writer *writer, const struct caption *caption);
/* What both may be in the body of a job, as JSON Schema: two members. */
void caption_schema_write(struct json_writer *writer);

/* The text that is stored, to be freed, and back.
 *   ST_INVALID  not such a text */
char *caption_render(const struct caption *caption);
enum status caption_restore(struct caption *out, const char *text, struct error *error);

/* --- what a list is searched for --- */

struct caption_search {          /* zeroed: everything fits */
    const char *q;               /* NULL: any */
    char key[LIMIT_TAG_KEY + 1]; /* of the tag that is asked for; "": none is */
    const char *value;
};

/* Reads ?q= and ?tag=KEY:VALUE, either of which may be NULL; search borrows both.
 *   ST_INVALID  one of them can fit nothing; the error names it */
enum status caption_search_read(struct caption_search *search, const char *q,
                                const char *tag, struct error *error);

/* Whether everything fits. */
bool caption_search_is_any(const struct caption_search *search);

/* Whether the thing fits: its id begins with q, or q stands in its name or in one of its
 * tags as KEY:VALUE, whatever the case of ASCII letters; and it has the tag that is
 * asked for, exactly. */
bool caption_fits(const struct caption *caption, const char *id,
                  const struct caption_search *search);

#endif
