/*
 * range.h - the Range header of RFC 9110, one range of bytes.
 */
#ifndef SERVICE_RANGE_H
#define SERVICE_RANGE_H

#include <stdint.h>

enum range_kind {
    RANGE_WHOLE, /* no header, another unit, several ranges, or not well formed */
    RANGE_PART,
    RANGE_UNSATISFIABLE, /* begins past the end, or asks for none of the last bytes */
};

struct range {
    uint64_t offset, size; /* of RANGE_PART: size > 0, offset + size <= the whole */
};

/* header may be NULL; whole is the size of the representation. */
enum range_kind range_parse(struct range *range, const char *header, uint64_t whole);

#endif
