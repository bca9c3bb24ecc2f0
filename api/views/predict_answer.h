/*
 * predict_answer.h - the response of predict: {"outputs":[{"class":...,
 * "probabilities":[...]}]} or {"outputs":[{"value":...}]}, written as the outputs of
 * rows become available.
 *
 *   predict_answer_open --> predict_answer_add, any number of times --> _finish
 *
 * Threads: one answer belongs to one thread at a time.
 */
#ifndef API_VIEWS_PREDICT_ANSWER_H
#define API_VIEWS_PREDICT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "api/json/json_writer.h"
#include "base/status.h"
#include "engine/data/schema.h"

struct predict_answer {
    struct json_writer writer;
    const struct schema *schema; /* borrowed */
    size_t rows;                 /* so far */
};

/* Returns how many outputs a row has: the number of classes, or 1 for a regression. */
size_t predict_answer_width(const struct schema *schema);

/* Returns the class of the largest of a row's outputs, the first of equal ones. */
uint32_t predict_answer_class(const struct schema *schema, const double *output);

/* Returns whether all outputs of a row are finite. */
bool predict_answer_is_finite(const struct schema *schema, const double *output);

void predict_answer_open(struct predict_answer *answer, const struct schema *schema);

/* Adds rows. outputs is (rows, predict_answer_width), as predictor_run writes them.
 *   ST_NO_ANSWER  outputs of a row are not finite. The error names each such row of
 *                 these, up to LIMIT_FAULTS, by its index among all rows that were
 *                 added; none of these rows was added */
enum status predict_answer_add(struct predict_answer *answer, const double *outputs,
                               size_t rows, struct error *error);

/* Returns the text, to be freed; NULL if there was no memory for it. */
char *predict_answer_finish(struct predict_answer *answer);

#endif
