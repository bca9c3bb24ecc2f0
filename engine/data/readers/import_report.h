/*
 * import_report.h - everything in a table that is not as declared: the faulty cells of
 * each column with their lines and texts, all undeclared words of a column, and the
 * lines that do not have the declared cells.
 *
 * A report holds cells of records, so it is raw data (privacy.md P9). It is shown only to
 * the key that sent the file, never stored and never logged, and zeroed when it is
 * destroyed. Its size is bounded, whatever the file holds: the first faults are kept, and
 * all are counted.
 *
 * Threads: one import, one thread. A finished report may be read by any one thread.
 */
#ifndef ENGINE_DATA_READERS_IMPORT_REPORT_H
#define ENGINE_DATA_READERS_IMPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/data/encode.h"

enum {
    REPORT_CELLS_MAX = 10,    /* cells of a column with their lines and texts */
    REPORT_WORDS_MAX = 1000,  /* undeclared words of a column */
    REPORT_LINES_MAX = 10,    /* lines that do not have the declared cells */
    REPORT_CELL_SIZE = 256,   /* bytes of a cell; a longer one is cut */
    REPORT_SIZE_MAX = 1 << 20 /* bytes of all texts together */
};

struct reported_cell {
    uint64_t line;   /* from 1 */
    uint64_t column; /* of the file, from 1; 0: the whole line */
    char *text;      /* of the cell, or of a part of the line, as far as it is kept;
                        NULL: the whole line */
    char *reason;    /* as import_failure's text */
};

struct column_report {
    char *name;
    uint64_t faults; /* cells that are not as declared */
    size_t cell_count;
    struct reported_cell *cells; /* the first ones, in the order of the file */
    size_t word_count;
    char **words;    /* each undeclared word once, in byte order; all can be declared */
    bool words_left; /* there are more words than are kept */
};

struct import_report {
    size_t column_count;           /* those of the schema, in its order */
    struct column_report *columns; /* (column_count) */
    uint64_t faults;               /* of all columns, and faulty lines */
    uint64_t faulty_lines;
    size_t line_count;
    struct reported_cell lines[REPORT_LINES_MAX]; /* the first ones */
    size_t size;                                  /* bytes of all texts */
};

/* Returns an empty report for a schema with columns, or NULL if there is no memory. */
struct import_report *import_report_create(const struct schema *schema);
void import_report_destroy(struct import_report *report); /* NULL is allowed; zeroes */

/* Forgets all faults: the file turned out to be of another kind. */
void import_report_clear(struct import_report *report);

/* Returns the number of faulty cells and lines that were added. */
uint64_t import_report_faults(const struct import_report *report);

struct cell_fault {
    size_t column;        /* of the schema */
    uint64_t line, place; /* of the file, from 1 */
    struct cell cell;
    bool is_word; /* the column declares words, and this is none of them */
    const char *reason;
};

/* Adds a cell that is not as declared. Texts that no longer fit are only counted. */
void import_report_add_cell(struct import_report *report,
                            const struct cell_fault *fault);

/* Adds a line that does not have the declared cells.
 *   shown  the part of the line that is wrong; text NULL: the whole line is */
void import_report_add_line(struct import_report *report, uint64_t line, uint64_t place,
                            struct cell shown, const char *reason);

#endif
