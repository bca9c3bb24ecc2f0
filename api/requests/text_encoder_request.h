/*
 * text_encoder_request.h - the sizes of a preset that is an encoder of texts, members of a
 * job's "model" (network.md 7). The defaults are those of the public model, but for a
 * column of texts the vocabulary is the number of tokens of its tokenizer.
 *
 *   "blocks"?:12,"width"?:768,"heads"?:12,"intermediate"?:3072,"vocabulary"?:30522,
 *   "positions"?:512,"take"?:"first" or "mean"; of bert also "separator"?:102
 */
#ifndef API_REQUESTS_TEXT_ENCODER_REQUEST_H
#define API_REQUESTS_TEXT_ENCODER_REQUEST_H

#include <stdbool.h>

#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

#define TEXT_ENCODER_MEMBERS                                                           \
    "blocks", "width", "heads", "intermediate", "vocabulary", "positions", "take"
#define TEXT_ENCODER_SEPARATOR "separator"

/* Reads the sizes of the model's preset from the object of the model, and checks that
 * they fit each other. A vocabulary that is not given is 0: model_request_fit takes it
 * from the tokenizer of the dataset. */
void text_encoder_request_read(struct model_spec *model, const struct json_node *node);

/* Writes the members above, including those at their default. */
void text_encoder_request_write(struct json_writer *writer,
                                const struct model_spec *model);

/* Writes the JSON Schema of the member, whose default is the model's value. Returns
 * false if it is no member of an encoder. */
bool text_encoder_schema_write(struct json_writer *writer, const char *member,
                               const struct model_spec *model);

#endif
