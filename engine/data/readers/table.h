/*
 * table.h - a running import of a file whose records have the declared columns, as a
 * reader of such a format sees it: the lines of the file, the cells of the current
 * record, and functions that encode them, add the record to the matrix and report what is
 * not as declared.
 *
 *   table_open --> table_begin, table_encode, table_add for each record --> table_end
 *                                                                  --> table_close
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_TABLE_H
#define ENGINE_DATA_READERS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"
#include "engine/data/readers/table_row.h"

struct table {
    struct reading *reading;
    struct source *source;
    struct lines *lines;
    struct table_row row;
    struct table_cell *cells; /* (columns) of the current record, in declared order */

    uint64_t records;           /* so far, the current one among them */
    float *floats;              /* of the current record, in the matrix */
    struct table_target target; /* of the current record */
    struct error reason;        /* why a cell cannot be encoded */
    /* A part of the faulty line that only the report shows; text NULL: none. A reader
     * that refuses the line sets it. */
    struct cell shown;
    uint64_t faults_before; /* of the report, when the current record began */

    /* The first fault, if there is a report. Line 0: there is none. */
    struct reading_place first_place;
    struct error first_fault;
};

/* Opens the file of the reading, and begins its matrix. table_close also closes a table
 * that could not be opened.
 *   others  as reading_open, reading_begin */
enum status table_open(struct table *table, struct reading *reading);
void table_close(struct table *table);

/* Begins a record. The reader then sets table->cells, or floats and target. */
void table_begin(struct table *table);

/* Encodes the cells of the current record as floats and target. The first faulty cell
 * ends it, unless there is a report, which gets all of them.
 *   ST_IMPORT_FAILED  a cell is not as declared, at reading->place */
enum status table_encode(struct table *table);

/* Forgets all faults of this import: the file is of another kind than declared. */
void table_forget(struct table *table);

/* Ends the current record: adds it to the matrix, if the reader has read it with
 * ST_OK. If not, and there is a report, the report gets the fault, and the result is
 * ST_OK: table_end then fails.
 *   others  the reader's status; and as matrix_writer_advance, persons_add */
enum status table_add(struct table *table, enum status status);

/* Ends the file.
 *   ST_IMPORT_FAILED  some record was not as declared, or there is none */
enum status table_end(struct table *table);

#endif
