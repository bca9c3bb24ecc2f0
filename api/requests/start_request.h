/*
 * start_request.h - the weights from which a job's model starts, and which of its
 * layers are trained: members of its "model".
 *
 *   "weights"?:    the id of a published model, or of an uploaded file of public
 *                  weights, from which it starts
 *   "trainable"?:  "all" | "head" | "bias" | {"last":n} | {"lora":LORA} |
 *                  {"only":[pattern,...]} | {"except":[pattern,...]}
 *   "fresh"?:      "head" | [pattern,...]    layers that start from init_seed anyway
 *
 * LORA is {"rank":r,"alpha":a,"targets":[pattern,...]}, and needs weights.
 * The patterns are defined in engine/nn/trainable.h.
 */
#ifndef API_REQUESTS_START_REQUEST_H
#define API_REQUESTS_START_REQUEST_H

#include "engine/nn/trainable.h"

struct json_node;
struct json_writer;

/* Reads them from the object of a model. start must be zeroed before, except for
 * start->trainable, which stays as it is if the object has none. */
void start_request_read(struct model_start *start, const struct json_node *model);

/* Writes them into the open object of a model. Omits members at their default; usual is
 * that of "trainable". */
void start_request_write(struct json_writer *writer, const struct model_start *start,
                         enum trainable_kind usual);

/* Read and write LORA: the second writes it as a member "lora" of the open object. */
void start_request_read_lora(struct model_start *start, struct json_node node);
void start_request_write_lora(struct json_writer *writer,
                              const struct model_start *start);

/* Write the JSON Schema of each into the properties of a model. */
void start_schema_write_weights(struct json_writer *writer);
void start_schema_write_trainable(struct json_writer *writer,
                                  enum trainable_kind usual);
void start_schema_write_fresh(struct json_writer *writer);

#endif
