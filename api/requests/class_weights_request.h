/*
 * class_weights_request.h - the "class_weights" of a job: the factors by which the
 * loss of the records of each class is multiplied, one number for each class in its
 * order. They are public numbers that the client chooses: nothing here is computed
 * from the records.
 */
#ifndef API_REQUESTS_CLASS_WEIGHTS_REQUEST_H
#define API_REQUESTS_CLASS_WEIGHTS_REQUEST_H

#include "engine/train_spec.h"

struct json_node;
struct json_writer;

/* Reads the weights, which must be zeroed before. They own what is read. */
void class_weights_request_read(struct class_weights *weights, struct json_node node);

/* Checks that there are none, or one for each class of a dataset (0: of a regression).
 *   ST_INVALID  their number differs ("/class_weights") */
enum status class_weights_check(const struct class_weights *weights, uint32_t classes,
                                struct error *error);

/* Writes them as a member called name. Writes nothing if there are none. */
void class_weights_request_write(struct json_writer *writer, const char *name,
                                 const struct class_weights *weights);

/* Writes the JSON Schema of weights for that number of classes as a member called name.
 * Writes nothing for a regression. */
void class_weights_schema_write(struct json_writer *writer, const char *name,
                                uint32_t classes);

#endif
