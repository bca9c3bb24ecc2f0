/*
 * unit.h - the privacy unit of a dataset: the budget hides the presence of one
 * such unit (privacy.md P1). schema_unit (engine/data/schema.h) returns the unit
 * of a dataset.
 *
 * Threads: constant data.
 */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include <stdbool.h>

/* RECORD: each row by itself. PERSON: all the rows of one person together, however many
 * there are. */
enum unit { UNIT_RECORD, UNIT_PERSON };

const char *unit_name(enum unit unit); /* "record", "person" */
/* Returns false, unit untouched, if text names none. */
bool unit_parse(enum unit *unit, const char *text);

#endif
