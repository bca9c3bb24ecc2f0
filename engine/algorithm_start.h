/*
 * algorithm_start.h - starts the algorithm of a run, with public values only: the spec of
 * the run and the compiled model. So a request can start it to learn what the run would
 * cost, and a run that a request accepted starts with the same plan.
 *
 * Threads: any; nothing here is shared.
 */
#ifndef ENGINE_ALGORITHM_START_H
#define ENGINE_ALGORITHM_START_H

#include "engine/dp/algorithm.h"
#include "engine/dp/stepper.h"
#include "engine/train_spec.h"

struct network;

/* Fills in the facts about the compiled model, including those about differences if the
 * algorithm uses them.
 *   ST_INVALID  the algorithm uses differences, and a layer has no rule for them */
enum status algorithm_start_model(struct algorithm_model *model,
                                  const struct algorithm *algorithm,
                                  const struct network *network, struct error *error);

/* Creates the state of the algorithm, and plans its grids and its noise. The caller
 * releases the state by algorithm_finish, after a failure too.
 *   ST_INVALID  the spec cannot be run: the error says why */
enum status algorithm_start(void **state, const struct train_spec *spec,
                            struct error *error);
void algorithm_finish(const struct algorithm *algorithm,
                      void *state); /* NULL is allowed */

/* Fills in the members of a stepper's setup that the algorithm determines. */
void algorithm_start_needs(struct stepper_setup *setup,
                           const struct algorithm *algorithm, const void *state);

/* Bytes that the algorithm allocates next to its state. */
uint64_t algorithm_start_allocated(const struct algorithm *algorithm,
                                   const void *state);

#endif
