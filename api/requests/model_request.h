/*
 * model_request.h - the "model" of a job (network.md 7): a preset or a list of layers
 * (layer_request.h), and the loss.
 *
 *   {"preset":"linear","loss"?,"init_seed"?}
 *   {"preset":"mlp","hidden"?:[128],"activation"?:"relu","bias"?:true,"embed"?,"loss"?,
 *    "init_seed"?}
 *   {"preset":"cnn_mnist" or another one for images,"input"?,"loss"?,"init_seed"?}
 *   {"preset":"resnet18_gn" or "resnet34_gn","groups"?:32,"input"?,"loss"?,
 *    "init_seed"?}
 *   {"preset":"bert" or another encoder of texts,SIZE?... (text_encoder_request.h),"loss"?,
 *    "init_seed"?}
 *   {"preset":"histograms","pairs"?:[],"loss"?,"init_seed"?} (columns_request.h)
 *   {"input"?,"layers":[...],"loss"?,"init_seed"?}
 *
 * "input" is {"shape":[height, width, channels]}, the way in which a record is read as
 * an image, channel by channel. The default is the dataset's shape.
 * {"shape":[features]} is an image of one pixel.
 */
#ifndef API_REQUESTS_MODEL_REQUEST_H
#define API_REQUESTS_MODEL_REQUEST_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

/* Fills in a zeroed model. *has_loss = whether it names its loss. model_request_fit
 * adds the layers of a preset. The caller must release the model, whether or not it
 * is refused. */
void model_request_read(struct model_spec *model, bool *has_loss,
                        const struct json_node *node);

/* Returns the members that a model of this preset may have, NULL-ended. */
const char *const *model_request_members(enum preset preset);

/* Writes the members above, including those at their default. */
void model_request_write(struct json_writer *writer, const char *name,
                         const struct model_spec *model);

/* Chooses the loss unless it was named (regression squared; 2 classes logistic; more
 * softmax cross-entropy), takes the input from the schema if a layer needs an image and
 * none was named, and expands a preset. Whether the layers fit the data is checked when
 * the model is compiled.
 *   ST_INVALID  the loss does not suit the task; the model reads texts, and the records
 *               are none, or longer than its positions; or they are texts, and the model
 *               does not begin with an embedding of the tokenizer's tokens; or the
 *               model embeds columns, and embed_request_fit refuses them */
enum status model_request_fit(struct model_spec *model, bool has_loss,
                              const struct schema *schema, struct error *error);

/* Renders the model with its layers, as "arch" of the safetensors metadata; to
 * be freed. If it has adapters, "lora" says which layers do, their rank and alpha. */
char *model_spec_render(const struct model_spec *model);
/* Parses what model_spec_render made.
 *   ST_INVALID  not such a text
 * On ST_OK model must be released with model_spec_fini. */
enum status model_spec_parse(struct model_spec *model, const char *text,
                             struct error *error);

#endif
