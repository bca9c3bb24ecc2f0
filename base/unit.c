#include "base/unit.h"

#include <stddef.h>
#include <string.h>

const char *unit_name(enum unit unit)
{
    switch (unit) {
    case UNIT_RECORD: return "record";
    case UNIT_PERSON: return "person";
    }
    return "";
}

bool unit_parse(enum unit *unit, const char *text)
{
    static const enum unit all[] = {UNIT_RECORD, UNIT_PERSON};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(text, unit_name(all[i])) == 0) {
            *unit = all[i];
            return true;
        }
    }
    return false;
}
