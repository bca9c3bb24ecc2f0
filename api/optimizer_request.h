/*
 * optimizer_request.h - the "optimizer" of a job: what is done with the noisy sum.
 *
 *   {"name":"sgd","learning_rate"?:RATE,"momentum"?:0, ...}
 *   {"name":"adam","learning_rate"?:RATE,"beta1"?:0.9,"beta2"?:0.999,"epsilon"?:1e-8, ...}
 *   ... = "schedule"?:"linear","warmup"?:0,"weight_decay"?:0
 *   RATE = number | {"initial":number,"final":number}
 *
 * A rate goes from the initial to the final one by the schedule, linear or cosine. A number
 * stays as it is under linear, and falls to 0 under cosine.
 */
#ifndef API_OPTIMIZER_REQUEST_H
#define API_OPTIMIZER_REQUEST_H

#include "engine/train_spec.h"

struct json_node;
struct json_writer;

/* Sets what stands where a job names no optimizer. The rate is left open. */
void optimizer_request_init(struct optimizer_spec *optimizer, enum optimizer_kind kind);

/* Sets *has_learning_rate where the optimizer names its rate. */
void optimizer_request_read(struct optimizer_spec *optimizer, bool *has_learning_rate,
                            const struct json_node *node);

/* Writes the JSON Schema of the alternatives above, elements of a list. */
void optimizer_schema_write(struct json_writer *writer);

/* Writes the members above and leaves none out but those of "..." that are usual. RATE is
 * a number where it does not change. */
void optimizer_request_write(struct json_writer *writer, const char *name,
                             const struct optimizer_spec *optimizer);

#endif
