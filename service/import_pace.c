#include "service/import_pace.h"

uint64_t import_pace_end(uint64_t took, uint64_t size)
{
    uint64_t end = size / IMPORT_PACE_RATE + 1;
    while (end <= took)
        end *= 2;
    return end;
}
