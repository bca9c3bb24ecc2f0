#include "engine/dp/optimizer_kind.h"

#include <string.h>

/* Only this file declares the rows: all other code gets them by optimizer_row. */
#define DECLARE(constant, name) extern const struct optimizer_row optimizer_##name;
OPTIMIZER_TABLE(DECLARE)
#undef DECLARE

#define ADDRESS(constant, name) [constant] = &(optimizer_##name),
static const struct optimizer_row *const rows[OPTIMIZER_KINDS] = {
    OPTIMIZER_TABLE(ADDRESS)};
#undef ADDRESS

const struct optimizer_row *optimizer_row(enum optimizer_kind kind)
{
    return rows[kind];
}

const char *optimizer_kind_name(enum optimizer_kind kind)
{
    return rows[kind]->name;
}

bool optimizer_kind_parse(enum optimizer_kind *kind, const char *text)
{
    for (size_t k = 0; k < OPTIMIZER_KINDS; k++) {
        if (strcmp(text, rows[k]->name) == 0) {
            *kind = (enum optimizer_kind)k;
            return true;
        }
    }
    return false;
}

void optimizer_spec_init(struct optimizer_spec *spec, enum optimizer_kind kind)
{
    *spec = (struct optimizer_spec){.kind = kind};
    for (const struct optimizer_member *m = rows[kind]->members; m->name != NULL; m++)
        *optimizer_member_of(spec, m) = m->usual;
}
