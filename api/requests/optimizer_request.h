/*
 * optimizer_request.h - the "optimizer" of a job: how the noisy sum changes
 * the parameters.
 *
 *   {"name":"sgd","learning_rate"?:RATE,"momentum"?:0, ...}
 *   {"name":"adam","learning_rate"?:RATE,"beta1"?:0.9,"beta2"?:0.999,
 *    "epsilon"?:1e-8, ...}
 *   {"name":"adam_bc","learning_rate"?:RATE,"beta1"?:0.9,"beta2"?:0.999,
 *    "epsilon"?:1e-8,"floor"?:0.5, ...}
 *   ... = "schedule"?:"linear","warmup"?:0,"weight_decay"?:0
 *   RATE = number | {"initial":number,"final":number}
 *
 * A rate changes from the initial to the final one by the schedule, linear or cosine. A
 * number stays constant under linear, and falls to 0 under cosine.
 */
#ifndef API_REQUESTS_OPTIMIZER_REQUEST_H
#define API_REQUESTS_OPTIMIZER_REQUEST_H

#include "engine/train_spec.h"

struct json_node;
struct json_writer;

/* Reads the optimizer. Sets *has_learning_rate if it names its rate. */
void optimizer_request_read(struct optimizer_spec *optimizer, bool *has_learning_rate,
                            const struct json_node *node);

/* Writes the JSON Schema of the alternatives above, as elements of an array. */
void optimizer_schema_write(struct json_writer *writer);

/* Writes the members above, except those of "..." that are at their default. RATE is a
 * number if it does not change. */
void optimizer_request_write(struct json_writer *writer, const char *name,
                             const struct optimizer_spec *optimizer);

#endif
