/*
 * timeline.h - the form of a row of the table timeline: another timeline of the ledger,
 * in the odometer's form. Its curve bounds only the weighted orders of the epoch that
 * the timeline left; it is infinite at all others.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_LEDGER_TIMELINE_H
#define ACCOUNTANT_LEDGER_TIMELINE_H

#include "accountant/ledger/entry.h"
#include "accountant/pricing/odometer.h"

void timeline_most_encode(uint8_t bytes[ENTRY_CURVE_SIZE], const struct epoch *epoch,
                          const double most[LEDGER_WEIGHTED]);

/* Reads a row of the epoch that it names, which may be NULL. Returns false if the row
 * is not a timeline of it. */
bool timeline_read(struct timeline *timeline, const struct epoch *epoch,
                   const struct timeline_row *row);

#endif
