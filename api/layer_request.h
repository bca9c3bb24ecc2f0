/*
 * layer_request.h - the layers of a model, as a list of JSON objects (network.md 7).
 *
 *   {"type": NAME, MEMBER: VALUE, ...}
 *
 * Which types there are, which members each has, their ranges and what they are where a
 * request leaves them out, is said by the table of layers (engine/nn/layers/registry.h).
 * Whether layers fit each other is the network's to say.
 */
#ifndef API_LAYER_REQUEST_H
#define API_LAYER_REQUEST_H

#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

/* Fills in the layers of a model that has none; what it owns must be released whether or
 * not it is refused. */
void layer_request_read(struct model_spec *model, struct json_node layers);

/* The members above, none left out. */
void layer_request_write(struct json_writer *writer, const struct model_spec *model);

#endif
