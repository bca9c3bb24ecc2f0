#include "service/ingest/import_padding.h"

uint64_t import_padding_end(uint64_t took, uint64_t size, enum privacy_unit unit)
{
    uint64_t end = size / IMPORT_PADDING_RATE + 1, factor = 2;
    if (unit == PRIVACY_UNIT_PERSON) {
        factor = 4;
        end = end > IMPORT_PADDING_PERSONS ? end : IMPORT_PADDING_PERSONS;
    }
    while (end <= took)
        end *= factor;
    return end;
}
