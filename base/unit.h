/*
 * unit.h - the privacy unit of a dataset: what one place of it is, whose presence its
 * budget hides (privacy.md P1). One function says which a dataset has: schema_unit
 * (engine/data/schema.h).
 *
 * Threads: constant data.
 */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include <stdbool.h>

/* RECORD: each row by itself. PERSON: all the rows of one person together, however many
 * they are. */
enum unit { UNIT_RECORD, UNIT_PERSON };

const char *unit_name(enum unit unit); /* "record", "person" */
/* False, unit untouched, if text names none. */
bool unit_parse(enum unit *unit, const char *text);

#endif
