/*
 * privacy_unit.h - the privacy unit of a dataset: the budget hides the presence of one
 * such unit (privacy.md P1). schema_unit (engine/data/schema.h) returns the unit
 * of a dataset.
 *
 * Threads: constant data.
 */
#ifndef BASE_PRIVACY_UNIT_H
#define BASE_PRIVACY_UNIT_H

#include <stdbool.h>

/* RECORD: each row by itself. PERSON: all the rows of one person together, however many
 * there are. */
enum privacy_unit { PRIVACY_UNIT_RECORD, PRIVACY_UNIT_PERSON };

const char *privacy_unit_name(enum privacy_unit unit); /* "record", "person" */
/* Returns false, unit untouched, if text names none. */
bool privacy_unit_parse(enum privacy_unit *unit, const char *text);

#endif
