/*
 * byte_range.h - reads the Range header of RFC 9110, with one range of bytes.
 */
#ifndef SERVICE_HTTP_BYTE_RANGE_H
#define SERVICE_HTTP_BYTE_RANGE_H

#include <stdint.h>

enum byte_range_kind {
    BYTES_WHOLE, /* no header, another unit, several ranges, or not well formed */
    BYTES_PART,
    BYTES_UNSATISFIABLE, /* begins past the end, or asks for none of the last bytes */
};

struct byte_range {
    uint64_t offset, size; /* BYTES_PART: size > 0, offset + size <= the whole */
};

/* Reads the header, which may be NULL. whole is the size of the representation. */
enum byte_range_kind byte_range_parse(struct byte_range *range, const char *header,
                                      uint64_t whole);

#endif
