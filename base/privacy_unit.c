#include "base/privacy_unit.h"

#include <stddef.h>
#include <string.h>

const char *privacy_unit_name(enum privacy_unit unit)
{
    switch (unit) {
    case PRIVACY_UNIT_RECORD: return "record";
    case PRIVACY_UNIT_PERSON: return "person";
    }
    return "";
}

bool privacy_unit_parse(enum privacy_unit *unit, const char *text)
{
    static const enum privacy_unit all[] = {PRIVACY_UNIT_RECORD, PRIVACY_UNIT_PERSON};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(text, privacy_unit_name(all[i])) == 0) {
            *unit = all[i];
            return true;
        }
    }
    return false;
}
