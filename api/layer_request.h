/*
 * layer_request.h - the layers of a model, as a list of JSON objects (network.md 7).
 *
 *   {"type":"dense","out","bias"?:true}
 *   {"type":"conv2d","out","kernel","stride"?:1,"padding"?:0,"dilation"?:1,"bias"?:true}
 *   {"type":"max_pool2d","kernel","stride"?:kernel,"padding"?:0}
 *   {"type":"avg_pool2d","kernel","stride"?:kernel}
 *   {"type":"replicate","channels"}
 *   {"type":T}, T of relu tanh global_avg_pool flatten
 *
 * A kernel is a number or [height, width]; a pool's stride is the kernel's height unless
 * named. Whether layers fit each other is the network's to say.
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
