/*
 * layer_request.h - the layers of a model, as a list of JSON objects (network.md 7).
 *
 *   {"type": NAME, MEMBER: VALUE, ...}
 *
 * The table of layers (engine/nn/layers/registry.h) defines the types, the members
 * of each, their ranges and their defaults. The network checks whether layers fit
 * each other.
 */
#ifndef API_REQUESTS_LAYER_REQUEST_H
#define API_REQUESTS_LAYER_REQUEST_H

#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

/* Fills in the layers of a model that has none. The caller must release the model,
 * whether or not it is refused. */
void layer_request_read(struct model_spec *model, struct json_node layers);

/* Writes the members above, including those at their default. */
void layer_request_write(struct json_writer *writer, const struct model_spec *model);

#endif
