/*
 * json_reader.h - reads foreign JSON strictly. Every value knows its path from the
 * root, so that a refusal names the member at fault by its JSON pointer.
 *
 *   struct json_reader reader;
 *   struct json_node root;
 *   if (json_reader_open(&reader, &root, text, error) == ST_OK) {
 *       json_read_object(root, (const char *const[]){"delta", NULL});
 *       delta = json_read_real(json_member(&root, "delta"), (struct json_range){...});
 *   }
 *   return json_reader_close(&reader);
 *
 * Invariants
 *   (1) A read that refuses returns zero, "" or nothing, so that a caller may continue
 *       and ask once at the end. All refusals are listed (api/json/fault.h), in the
 *       order of the text; faults of an object as a whole, such as a missing member,
 *       come after those of its members.
 *   (2) A place is refused once: a second refusal of it, or of a value inside it, adds
 *       nothing and is dropped.
 *   (3) After LIMIT_FAULTS refusals nothing is read any more, so that a text full of
 *       faults costs no more than a few passes over it.
 *   (4) Texts and nodes live until json_reader_close.
 *   (5) Recursion is bounded by LIMIT_JSON_DEPTH: deeper text is refused unparsed.
 *
 * json_reader_open refuses text that is not JSON, duplicate members, NaN, numbers
 * beyond a double, NUL characters, and nesting beyond LIMIT_JSON_DEPTH. It reports
 * line, column and the pointer to where reading stopped. A whole number beyond an int64
 * is read as a real.
 */
#ifndef API_JSON_JSON_READER_H
#define API_JSON_JSON_READER_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct json_reader {
    enum status status; /* result of parsing; once closed, also of reading the values */
    struct error *error; /* the caller's; may be NULL */
    json_t *root;
    struct json_refusals *refusals; /* NULL: none so far */
};

struct json_node {
    struct json_reader *reader;
    const struct json_node *parent; /* NULL: the root; must outlive the node */
    const char *name;               /* name of its member; NULL: element index */
    size_t index;
    json_t *value; /* NULL: absent, or reading has failed */
};

/* A text to read. Its text must outlive its readers. */
struct json_text {
    const char *text;
    size_t size;
    json_t *root; /* the parsed text; NULL: each reader parses it */
};

struct json_text json_text_of(const char *text);
struct json_text json_text_sized(const char *text, size_t size);

/* Parses a text that several readers will read. If the text is refused, root stays
 * NULL, and each reader says why. */
void json_text_parse(struct json_text *text);
void json_text_fini(struct json_text *text);

enum status json_reader_open(struct json_reader *reader, struct json_node *root,
                             struct json_text text, struct error *error);
/* Frees what was read. If anything was refused, returns ST_INVALID and puts all
 * refusals into the reader's error. */
enum status json_reader_close(struct json_reader *reader);

/* Records that the node is invalid or missing. */
void json_refuse(struct json_node node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Records that the member is unknown to its object. */
void json_refuse_unknown(struct json_node node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns how many reads of the same body were refused so far. If the number is the
 * same as before, the values read in between are valid and can be compared with
 * each other. Unknown members do not count, since they do not affect the values
 * that were read. */
size_t json_refusals(struct json_node node);
bool json_refused(struct json_node node); /* whether anything in the same body was */

struct json_node json_member(const struct json_node *object, const char *name);
struct json_node json_element(const struct json_node *array, size_t index);
bool json_present(struct json_node node);

/* Checks that the node is an object that has only the named members (NULL-ended). Every
 * other member is refused. */
void json_read_object(struct json_node node, const char *const *members);

/* Checks that the node is an array of low to high elements. Returns their number, 0 if
 * it is refused. */
size_t json_read_array(struct json_node node, size_t low, size_t high);

struct json_range {
    double low, high; /* may be infinite */
    bool low_open, high_open;
};
static const struct json_range json_any_real = {-INFINITY, INFINITY, false, false};

/* Reads a number, which must be in range. Whole numbers may be written without
 * a point. */
double json_read_real(struct json_node node, struct json_range range);

/* Reads a whole number, which must be in [low, high]: 20, or 20.0 below 2^53. */
uint64_t json_read_count(struct json_node node, uint64_t low, uint64_t high);

bool json_read_flag(struct json_node node);

/* Reads a string, which must have at most LIMIT_TEXT bytes. */
const char *json_read_text(struct json_node node);
/* The same, with at most this many bytes. */
const char *json_read_long_text(struct json_node node, size_t size_max);

#endif
