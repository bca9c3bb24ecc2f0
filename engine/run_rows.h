/*
 * run_rows.h - which rows the products of a run take, and which records may stand there:
 * what engine/rounding finds for the blocks that are fast with the run's model and batch.
 *
 * Threads: pure functions of their arguments and of the BLAS that is loaded. Its kernels
 * are chosen when it is loaded, so what was found once holds as long as the process does.
 */
#ifndef ENGINE_RUN_ROWS_H
#define ENGINE_RUN_ROWS_H

#include "engine/rounding/row_class.h"
#include "engine/train_spec.h"

/* How many rows a block has (workspace_set_block). */
size_t run_rows_block(const struct network *network, uint64_t batch_size);

/* Finds the rows of a run of spec, whose model is compiled.
 *   known  in and out, as trainer_options.rows, or NULL
 *   ST_NOT_FLOAT_SAFE  a private run: records could not be kept apart ("/model")
 *   ST_NO_MEMORY       no room to compare */
enum status run_rows_find(struct row_classes *out, const struct train_spec *spec,
                          struct row_classes *known, struct error *error);

/* Whether it would refuse a private run, by less work. */
enum status run_rows_check(const struct train_spec *spec, struct error *error);

#endif
