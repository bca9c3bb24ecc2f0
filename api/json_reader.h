/*
 * json_reader.h - foreign JSON, read strictly: every value knows its way from the root,
 * so that a refusal names the member at fault by its JSON pointer.
 *
 *   struct json_reader reader;
 *   struct json_node root;
 *   if (json_reader_open(&reader, &root, body, size, error) == ST_OK) {
 *       json_read_object(root, (const char *const[]){"delta", NULL});
 *       delta = json_read_real(json_member(&root, "delta"), (struct json_range){...});
 *   }
 *   return json_reader_close(&reader);
 *
 * Invariants
 *   (1) A read that refuses answers zero, "" or nothing, so that a caller may read on and
 *       ask once at the end. All that is refused is listed (api/fault.h), in the order
 *       of the text; what an object lacks, or is as a whole, comes after what it has.
 *   (2) A place is refused once: a second refusal of it, or of what lies in it, says
 *       nothing new and is dropped.
 *   (3) After LIMIT_FAULTS refusals nothing is read any more, so that a text of nothing
 *       but faults costs no more than a few passes over it.
 *   (4) Texts and nodes live until json_reader_close.
 *   (5) Recursion is bounded by LIMIT_JSON_DEPTH: deeper text is refused unparsed.
 *
 * Refused by json_reader_open, with line, column and the pointer to where reading
 * stopped: what is not JSON, duplicate members, NaN, numbers beyond a double, NUL
 * characters, nesting beyond LIMIT_JSON_DEPTH. A whole number beyond an int64 is read as
 * a real.
 */
#ifndef API_JSON_READER_H
#define API_JSON_READER_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct json_reader {
    enum status status;  /* how the text was read; once closed, its values too */
    struct error *error; /* the caller's, may be NULL */
    json_t *root;
    struct refusals *refusals; /* NULL: none so far */
};

struct json_node {
    struct json_reader *reader;
    const struct json_node *parent; /* NULL: the root; must outlive the node */
    const char *name;               /* its member; NULL: element index */
    size_t index;
    json_t *value; /* NULL: absent, or reading has failed */
};

enum status json_reader_open(struct json_reader *reader, struct json_node *root,
                             const char *body, size_t size, struct error *error);
/* Frees what was read. If anything was refused, answers ST_INVALID and puts all of it
 * into the reader's error. */
enum status json_reader_close(struct json_reader *reader);

/* Records that the node is at fault, or that it is missing. */
void json_refuse(struct json_node node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answers how many reads of the same body were refused so far. Where the number is the
 * same as before, what was read in between is sound and can be held against itself.
 * Unknown members do not count, since they spoil nothing that was read. */
size_t json_refusals(struct json_node node);
bool json_refused(struct json_node node); /* anything of the same body was */

struct json_node json_member(const struct json_node *object, const char *name);
struct json_node json_element(const struct json_node *array, size_t index);
bool json_present(struct json_node node);

/* The node must be an object that has no members but those named (NULL-ended); each
 * other one is refused. */
void json_read_object(struct json_node node, const char *const *members);

/* The node must be an array of low to high elements. Answers their number, 0 if it is
 * refused. */
size_t json_read_array(struct json_node node, size_t low, size_t high);

struct json_range {
    double low, high; /* may be infinite */
    bool low_open, high_open;
};
static const struct json_range json_any_real = {-INFINITY, INFINITY, false, false};

/* The node must be a number in range; whole ones may be written without a point. */
double json_read_real(struct json_node node, struct json_range range);

/* The node must be a whole number in [low, high]: 20, or 20.0 below 2^53. */
uint64_t json_read_count(struct json_node node, uint64_t low, uint64_t high);

bool json_read_flag(struct json_node node);

/* The node must be a string of at most LIMIT_TEXT bytes. */
const char *json_read_text(struct json_node node);

#endif
