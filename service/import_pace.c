#include "service/import_pace.h"

uint64_t import_pace_end(uint64_t took, uint64_t size, enum unit unit)
{
    uint64_t end = size / IMPORT_PACE_RATE + 1, factor = 2;
    if (unit == UNIT_PERSON) {
        factor = 4;
        end = end > IMPORT_PACE_PERSONS ? end : IMPORT_PACE_PERSONS;
    }
    while (end <= took)
        end *= factor;
    return end;
}
