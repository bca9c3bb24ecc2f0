/*
 * averaging_request.h - the "averaging" of a job: which point of its training becomes
 * the model.
 *
 *   {"kind":"none"}                  the last; the default
 *   {"kind":"tail","share"?:0.5}     the mean of the last share of the steps
 *   {"kind":"ema","decay"?:0.999}    the exponential mean of all steps
 */
#ifndef API_REQUESTS_AVERAGING_REQUEST_H
#define API_REQUESTS_AVERAGING_REQUEST_H

#include "engine/dp/average.h"

struct json_node;
struct json_writer;

void averaging_request_read(struct averaging_spec *averaging,
                            const struct json_node *node);

/* Writes the members above, as a member called name. Writes nothing if the kind
 * is none. */
void averaging_request_write(struct json_writer *writer, const char *name,
                             const struct averaging_spec *averaging);

/* Writes the JSON Schema of the alternatives above, as elements of an array. */
void averaging_schema_write(struct json_writer *writer);

#endif
