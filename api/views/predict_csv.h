/*
 * predict_csv.h - the response of predict-file: csv in the dialect of the dataset. The
 * first line names the columns:
 *   class, then probability_NAME for each class    of a classification
 *   value                                          of a regression
 * and each row of the request has a line, in the order of the rows. Numbers have the
 * digits that predict shows.
 *
 * Threads: one at a time for each stream.
 */
#ifndef API_VIEWS_PREDICT_CSV_H
#define API_VIEWS_PREDICT_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "engine/data/schema.h"

/* Both leave failures to the stream (ferror). */
void predict_csv_begin(FILE *stream, const struct schema *schema);

/* Writes rows lines. outputs is (rows, predict_answer_width), as predictor_run writes
 * them, and finite. */
void predict_csv_add(FILE *stream, const struct schema *schema, const double *outputs,
                     size_t rows);

#endif
