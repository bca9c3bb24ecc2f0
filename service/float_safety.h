/*
 * float_safety.h - whether models are float safe here: whether the rows of their
 * products round alike, in the BLAS at hand, in few enough ways that a record can be
 * kept to one (engine/rounding/row_class.h). A private job of one that is not is
 * refused: no noise covers what it would release.
 *
 * To find out takes milliseconds of a small model and half a second of a large one, so
 * what was found is remembered, of the FLOAT_SAFETY_KEPT models asked for last. Models of
 * more than FLOAT_SAFETY_PARAMETERS are compared when their job starts, and only then:
 * the same refusal ends it before a step is authorised.
 *
 * A run compares more than a submission does. What it has found of the rows is remembered
 * likewise: the next run of such a model in this process begins at once. Models of dense
 * layers alone are safe as they are, and none of this takes any time.
 *
 * Threads: any; one comparison at a time, for which no run waits.
 */
#ifndef SERVICE_FLOAT_SAFETY_H
#define SERVICE_FLOAT_SAFETY_H

#include "engine/rounding/row_class.h"
#include "engine/train_spec.h"

enum { FLOAT_SAFETY_KEPT = 64, FLOAT_SAFETY_PARAMETERS = 1 << 26 };

struct float_safety; /* opaque */

struct float_safety *float_safety_create(void);
void float_safety_destroy(struct float_safety *safety); /* NULL is allowed */

/* Whether a run of spec, whose model is compiled, is float safe.
 *   ST_NOT_FLOAT_SAFE  it is not, as trainer_check_rounding found */
enum status float_safety_check(struct float_safety *safety,
                               const struct train_spec *spec, struct error *error);

/* Fills in what a run has found of the rows of such a spec's model, for trainer_options.rows;
 * rows->block is 0 where nothing is. */
void float_safety_recall(struct float_safety *safety, const struct train_spec *spec,
                         struct row_classes *rows);

/* Remembers what a run of spec has found. */
void float_safety_remember(struct float_safety *safety, const struct train_spec *spec,
                           const struct row_classes *rows);

#endif
