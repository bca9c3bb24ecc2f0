/*
 * csv_record.h - takes csv text record by record: a line, and the following lines as
 * long as a quote is open. Lines with only blanks, and a byte order mark at the
 * beginning, are skipped. An import that takes any content (reading.h) takes each line
 * as a record.
 *
 * Threads: one caller.
 */
#ifndef ENGINE_DATA_READERS_CSV_RECORD_H
#define ENGINE_DATA_READERS_CSV_RECORD_H

#include <stdbool.h>

#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"

struct csv_record {
    struct line line;
    bool quoted; /* it has a quote */
};

/* Takes the next record; the previous one is then invalid. *more is false at the end of
 * the text, and if a text that is fed has to go on first (lines_wait). reading->place
 * is that of a failure.
 *   others  as lines_next */
enum status csv_record_next(struct reading *reading, struct lines *lines,
                            struct csv_record *record, bool *more);

#endif
