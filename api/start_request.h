/*
 * start_request.h - where a job's model starts, and what of it is trained: members of its
 * "model".
 *
 *   "weights"?:    the id of a published model, or of an uploaded file of public weights,
 *                  that it begins with
 *   "trainable"?:  "all" | "head" | {"only":[pattern,...]} | {"except":[pattern,...]}
 *   "fresh"?:      "head" | [pattern,...]    layers that begin from init_seed all the same
 *
 * What the patterns mean is engine/nn/trainable.h's.
 */
#ifndef API_START_REQUEST_H
#define API_START_REQUEST_H

#include "engine/nn/trainable.h"

struct json_node;
struct json_writer;

/* Reads them from the object of a model; start is zero before. */
void start_request_read(struct model_start *start, const struct json_node *model);

/* Writes them into the object of a model that is open; nothing of what is usual. */
void start_request_write(struct json_writer *writer, const struct model_start *start);

/* Write what each may be, as JSON Schema, into the properties of a model. */
void start_schema_write_weights(struct json_writer *writer);
void start_schema_write_trainable(struct json_writer *writer);
void start_schema_write_fresh(struct json_writer *writer);

#endif
