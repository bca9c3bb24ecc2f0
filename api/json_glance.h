/*
 * json_glance.h - the members of a JSON object that this program wrote, found without
 * making anything of what is between them. It is for texts of which there are very many
 * and little of each is wanted; a glance that does not succeed says nothing, and the text
 * is then read by json_reader.h, which tells what is wrong with it.
 *
 * A text is understood where it has no white space outside of its strings, no wanted
 * member twice, and every bracket and string that is opened is closed. What is inside of
 * unwanted values is not looked at further.
 *
 * Threads: any.
 */
#ifndef API_JSON_GLANCE_H
#define API_JSON_GLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_span { /* of a value in the text, which is borrowed; NULL: it is not there */
    const char *at;
    size_t size;
};

/* spans[i] = the value of the member names[i] of the object that text is. It is quickest
 * where the members come in the order of names.
 *   false  the text is not understood */
bool json_glance(struct json_span *spans, const char *const *names, size_t count,
                 struct json_span text);

/* How many elements the array has, and the last of them.
 *   false  the text is not understood as an array */
bool json_glance_array(size_t *count, struct json_span *last, struct json_span text);

/* The span of elements[i] of an array of exactly count elements. */
bool json_glance_elements(struct json_span *elements, size_t count,
                          struct json_span text);

struct json_span json_span_of(const char *text); /* all of it */

bool json_span_is(struct json_span span, const char *text);

/* Reads what this program writes as such; false where the span is something else, or is
 * not there. */
bool json_span_count(uint64_t *count, struct json_span span);
bool json_span_real(double *real, struct json_span span);

/* Copies a string of less than size bytes that has no escapes. */
bool json_span_text(char *out, size_t size, struct json_span span);

#endif
