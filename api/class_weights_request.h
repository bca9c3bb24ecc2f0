/*
 * class_weights_request.h - the "class_weights" of a job: what the loss of a record of each
 * class is multiplied by, one number for each class in its order. They are public numbers,
 * the client's own: nothing here is computed from the records.
 */
#ifndef API_CLASS_WEIGHTS_REQUEST_H
#define API_CLASS_WEIGHTS_REQUEST_H

#include "engine/train_spec.h"

struct json_node;
struct json_writer;

/* weights must be zero before; they own what is read. */
void class_weights_request_read(struct class_weights *weights, struct json_node node);

/* Checks that there are none, or one for each class of a dataset (0: of a regression).
 *   ST_INVALID  there are others ("/class_weights") */
enum status class_weights_check(const struct class_weights *weights, uint32_t classes,
                                struct error *error);

/* Writes them as a member of the name; nothing where there are none. */
void class_weights_request_write(struct json_writer *writer, const char *name,
                                 const struct class_weights *weights);

/* Writes the JSON Schema of weights for so many classes as a member of the name; nothing
 * for a regression. */
void class_weights_schema_write(struct json_writer *writer, const char *name,
                                uint32_t classes);

#endif
