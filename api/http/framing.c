/* How it works: framing_pass goes through the bytes with one function for each state of
 * the diagram in framing.h. Each returns how many bytes may pass, changes the state
 * when its part is complete, and returns 0 if it needs more bytes than it was given.
 * Then framing_pass stops, and is called again with those bytes and more. A head passes
 * whole or not at all, a body in pieces of any size.
 *
 * After a refusal every call returns 0. The refusal sets a stand-in, which the
 * library is given instead of the rest: for a refused head, a head that names no
 * path; for a refused chunk, the bytes that end the chunked body from the library's
 * current state. */
#include "api/http/framing.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"

enum { CHUNK_DIGITS = 15 }; /* below 2^60 */

/* No client can ask for *: such a head would not pass. */
static const char head_stand_in[] = "HEAD * HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char get_stand_in[] = "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n";

static size_t refuse(struct framing *framing, const char *stand_in)
{
    framing->state = FRAMING_REFUSED;
    framing->stand_in = stand_in;
    return 0;
}

static size_t refuse_chunk(struct framing *framing, const char *stand_in,
                           const char *text)
{
    error_set(&framing->refusal, ST_INVALID, "%s", text);
    return refuse(framing, stand_in);
}

static size_t pass_head(struct framing *framing, char *bytes, size_t size)
{
    struct request_head *head = &framing->head;
    if (request_head_read(head, bytes, size, &framing->refusal) != ST_OK) {
        framing->requests++;
        return refuse(framing, head->head_only ? head_stand_in : get_stand_in);
    }
    size_t passed = head->size;
    if (passed == 0)
        return 0;
    framing->requests++;
    framing->left = head->length;
    if (head->chunked)
        framing->state = FRAMING_CHUNK;
    else if (head->length > 0)
        framing->state = FRAMING_BODY;
    *head = (struct request_head){0};
    return passed;
}

static size_t pass_data(struct framing *framing, size_t size, enum framing_state next)
{
    size_t passed = framing->left < size ? (size_t)framing->left : size;
    framing->left -= passed;
    if (framing->left == 0)
        framing->state = next;
    return passed;
}

/* Returns how many of the first bytes belong to an end of line, complete or not; -1 if
 * they cannot be one. */
static int line_end(const char *bytes, size_t size)
{
    if (size > 0 && bytes[0] != '\r')
        return -1;
    if (size > 1 && bytes[1] != '\n')
        return -1;
    return size < 2 ? (int)size : 2;
}

static size_t pass_line_end(struct framing *framing, const char *bytes, size_t size,
                            enum framing_state next)
{
    int end = line_end(bytes, size);
    if (end < 0)
        return next == FRAMING_HEAD
                   ? refuse_chunk(framing, "\r\n", "trailers are not taken")
                   : refuse_chunk(framing, "\r\n0\r\n\r\n",
                                  "a chunk is longer than its size");
    if (end < 2)
        return 0;
    framing->state = next;
    return 2;
}

static size_t pass_chunk_size(struct framing *framing, const char *bytes, size_t size)
{
    size_t digits = 0;
    while (digits < size && digits <= CHUNK_DIGITS &&
           isxdigit((unsigned char)bytes[digits]))
        digits++;
    int end = digits < size ? line_end(bytes + digits, size - digits) : 0;
    if (digits > CHUNK_DIGITS || end < 0 || (digits == 0 && size > 0))
        return refuse_chunk(framing, "0\r\n\r\n",
                            "a chunk's size must be up to 15 hexadecimal digits, "
                            "without extensions");
    if (end < 2)
        return 0;
    framing->left = 0;
    for (size_t i = 0; i < digits; i++) {
        unsigned c = (unsigned char)bytes[i];
        unsigned digit = isdigit((int)c) ? c - '0' : (c | 0x20u) - 'a' + 10u;
        framing->left = framing->left << 4 | digit;
    }
    framing->state = framing->left > 0 ? FRAMING_DATA : FRAMING_LAST;
    return digits + 2;
}

static size_t pass_some(struct framing *framing, char *bytes, size_t size)
{
    switch (framing->state) {
    case FRAMING_HEAD: return pass_head(framing, bytes, size);
    case FRAMING_BODY: return pass_data(framing, size, FRAMING_HEAD);
    case FRAMING_CHUNK: return pass_chunk_size(framing, bytes, size);
    case FRAMING_DATA: return pass_data(framing, size, FRAMING_DATA_END);
    case FRAMING_DATA_END: return pass_line_end(framing, bytes, size, FRAMING_CHUNK);
    case FRAMING_LAST: return pass_line_end(framing, bytes, size, FRAMING_HEAD);
    case FRAMING_REFUSED: return 0;
    }
    CHECK(false);
    return 0;
}

size_t framing_pass(struct framing *framing, char *bytes, size_t size)
{
    size_t passed = 0, step = 1;
    while (step > 0 && passed < size) {
        step = pass_some(framing, bytes + passed, size - passed);
        passed += step;
    }
    return passed;
}

const char *framing_stand_in(const struct framing *framing)
{
    return framing->state == FRAMING_REFUSED ? framing->stand_in : NULL;
}
