/*
 * caption.h - the label that people give a dataset, a job or a model, in addition to
 * its id: a display name and tags.
 *
 *   "display_name": "Flu survey, corrected",  "tags": {"team":"north","run":"12"}
 *
 * Invariants
 *   (1) A caption has no meaning to the program: it does not enter hashes,
 *       certificates, prices or comparisons. Everyone who may read the object may read
 *       its caption, so it must not contain private information.
 *   (2) Names and tags have limits (LIMIT_DISPLAY_NAME, LIMIT_TAGS, LIMIT_TAG_KEY,
 *       LIMIT_TAG_VALUE) and contain no control characters, including those for text
 *       direction. Tags are kept in the order of their keys.
 *
 * Pure. A zeroed struct caption has neither name nor tags.
 */
#ifndef API_REQUESTS_CAPTION_H
#define API_REQUESTS_CAPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"

struct caption_tag {
    char *key, *value; /* owned */
};

struct caption {
    char *display_name; /* owned; NULL: none */
    size_t tag_count;
    struct caption_tag *tags; /* (tag_count), owned, ordered by key */
};

void caption_fini(struct caption *caption);
struct caption caption_copy(const struct caption *caption);
bool caption_is_empty(const struct caption *caption);
bool caption_equal(const struct caption *a, const struct caption *b);

/* Reads the members "display_name" and "tags" of a body that creates an object, into a
 * zeroed caption. Either may be absent or null. The caller must release the caption,
 * even if something was refused. */
void caption_read(struct caption *caption, const struct json_node *root);

/* out = from after the merge patch (RFC 7396) in body: a member of null removes the
 * name, the tags, or one tag; tags that are not named stay.
 *   ST_INVALID  error->pointer names the member: unknown, of a wrong type, too long, or
 *               too many tags once merged
 * On ST_OK out must be released with caption_fini. */
enum status caption_merge(struct caption *out, const struct caption *from,
                          struct json_text body, struct error *error);

/* Writes both members into an object that the caller has opened: null and {} if there
 * are none, or if caption is NULL. */
void caption_write(struct json_writer *writer, const struct caption *caption);
/* Writes only the members that are set, so nothing for an empty caption. */
void caption_write_if(struct json_writer *writer, const struct caption *caption);
/* Writes the JSON Schema of both members for the body of a job. */
void caption_schema_write(struct json_writer *writer);

/* Renders the text that is stored, to be freed, and reads it back.
 *   ST_INVALID  text is not one that caption_render made */
char *caption_render(const struct caption *caption);
enum status caption_restore(struct caption *out, const char *text, struct error *error);

/* --- searching a list --- */

struct caption_search {          /* zeroed: everything matches */
    const char *q;               /* NULL: any */
    char key[LIMIT_TAG_KEY + 1]; /* key of the required tag; "": none */
    const char *value;
};

/* Reads ?q= and ?tag=KEY:VALUE, either of which may be NULL. search borrows both.
 *   ST_INVALID  one of them cannot match anything; the error names it */
enum status caption_search_read(struct caption_search *search, const char *q,
                                const char *tag, struct error *error);

/* Returns whether everything matches. */
bool caption_search_is_any(const struct caption_search *search);

/* Returns whether the object matches: its id begins with q, or q occurs in its name or
 * in one of its tags as KEY:VALUE, ignoring the case of ASCII letters; and it has
 * exactly the required tag. */
bool caption_fits(const struct caption *caption, const char *id,
                  const struct caption_search *search);

#endif
