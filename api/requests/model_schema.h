/*
 * model_schema.h - the JSON Schema of a model for one dataset: of a preset that fits
 * it, of a list of layers, and of the losses that suit its task. The members, their
 * ranges and their defaults come from the code that reads requests: model_request.h,
 * and the table of layers (engine/nn/layers/registry.h).
 */
#ifndef API_REQUESTS_MODEL_SCHEMA_H
#define API_REQUESTS_MODEL_SCHEMA_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"

struct json_writer;

/* Writes one alternative of "model", an element of an array. model is of the preset,
 * or of PRESET_NONE, and has every default filled in (api/requests/job_defaults.h);
 * its own layers are not read. "loss" and "layers" refer to the definitions below. */
void model_schema_write(struct json_writer *writer, const struct model_spec *model);

/* Write the definitions "loss" and "layer", members of "$defs". */
void model_schema_write_loss(struct json_writer *writer, const struct schema *schema);
void model_schema_write_layer(struct json_writer *writer);

/* Writes the alternatives of "layer", elements of an array. */
void model_schema_write_layers(struct json_writer *writer);

#endif
