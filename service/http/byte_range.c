#include "service/http/byte_range.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Reads digits; returns false if there are none. A number of more than 64 bits reads as
 * the largest one of 64 bits. */
static bool number(const char **at, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

static enum byte_range_kind last_bytes(struct byte_range *range, uint64_t count,
                                       uint64_t whole)
{
    if (count == 0 || whole == 0)
        return BYTES_UNSATISFIABLE;
    range->size = count < whole ? count : whole;
    range->offset = whole - range->size;
    return BYTES_PART;
}

enum byte_range_kind byte_range_parse(struct byte_range *range, const char *header,
                                      uint64_t whole)
{
    static const char unit[] = "bytes=";
    uint64_t first = 0, last = UINT64_MAX;
    if (header == NULL || strncmp(header, unit, strlen(unit)) != 0)
        return BYTES_WHOLE;
    const char *at = header + strlen(unit);
    bool from_end = !number(&at, &first);
    if (*at++ != '-')
        return BYTES_WHOLE;
    bool has_last = number(&at, &last);
    if (*at != '\0' || (from_end && !has_last) ||
        (!from_end && has_last && last < first))
        return BYTES_WHOLE;
    if (from_end)
        return last_bytes(range, last, whole);
    if (first >= whole)
        return BYTES_UNSATISFIABLE;
    if (last >= whole)
        last = whole - 1;
    *range = (struct byte_range){.offset = first, .size = last - first + 1};
    return BYTES_PART;
}
