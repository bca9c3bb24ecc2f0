/*
 * json_scan.h - finds members of a JSON object that this program wrote, without
 * parsing the rest. It is for large numbers of texts from each of which only a few
 * values are needed. If it fails, that says nothing about the text: the text is then
 * read by json_reader.h, which reports what is wrong with it.
 *
 * A text is understood if it has no white space outside of its strings, no wanted
 * member twice, and every bracket and string that is opened is closed. The inside of
 * unwanted values is not checked further.
 *
 * Threads: any.
 */
#ifndef API_JSON_JSON_SCAN_H
#define API_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_span { /* a value in the text, which is borrowed; NULL: absent */
    const char *at;
    size_t size;
};

/* spans[i] = the value of the member names[i] of the object in text. It is fastest if
 * the members come in the order of names.
 *   false  the text is not understood */
bool json_scan(struct json_span *spans, const char *const *names, size_t count,
               struct json_span text);

/* Counts the elements of the array, and finds the last one.
 *   false  the text is not understood as an array */
bool json_scan_array(size_t *count, struct json_span *last, struct json_span text);

/* Finds the span of each element of an array of exactly count elements. */
bool json_scan_elements(struct json_span *elements, size_t count,
                        struct json_span text);

struct json_span json_span_of(const char *text); /* the whole text */

bool json_span_is(struct json_span span, const char *text);

/* Read a value in the form in which this program writes it. Return false if the span is
 * something else, or absent. */
bool json_span_count(uint64_t *count, struct json_span span);
bool json_span_real(double *real, struct json_span span);

/* Copies a string of less than size bytes without escapes. */
bool json_span_text(char *out, size_t size, struct json_span span);

/* Copies a string of any size, to be freed. Its only escapes may be those of a quotation
 * mark and of a backslash.
 *   NULL  it is not such a string, or there is no memory */
char *json_span_copy(struct json_span span);

#endif
