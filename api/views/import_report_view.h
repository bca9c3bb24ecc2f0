/*
 * import_report_view.h - the report of a refused import, as JSON. It quotes cells of
 * records, so it is written only into an answer to the key that sent the file.
 *
 *   "report":{
 *     "faults":N,                     faulty cells and lines
 *     "columns":[{                    those that have faulty cells
 *       "name", "index",              as declared, the index from 0
 *       "faults":N,
 *       "cells":[{"line","column","cell","reason"}],   the first REPORT_CELLS_MAX
 *       "words":["a","b"],            each undeclared word once
 *       "words_complete":true}],      false: there are more
 *     "faulty_lines":N,
 *     "lines":[{"line","column","reason"}]}            the first REPORT_LINES_MAX
 *
 * Texts that are not UTF-8 have U+FFFD in place of the bytes that are not.
 */
#ifndef API_VIEWS_IMPORT_REPORT_VIEW_H
#define API_VIEWS_IMPORT_REPORT_VIEW_H

struct import_report;
struct json_writer;

void import_report_write(struct json_writer *writer,
                         const struct import_report *report);

#endif
