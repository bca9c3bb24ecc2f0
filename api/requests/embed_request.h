/*
 * embed_request.h - the columns of a layer that embeds some: as a request names them, and
 * as features of a dataset's records.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef API_REQUESTS_EMBED_REQUEST_H
#define API_REQUESTS_EMBED_REQUEST_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

/* Reads the list of names into a zeroed list; a node that is not present names none. */
void embed_request_read(struct named_columns *columns, struct json_node names);

void embed_request_write(struct json_writer *writer, const char *name,
                         const struct named_columns *columns);

/* Finds the features of the columns of a model whose layers are filled in; a list that
 * names none becomes all columns of words. A model without the layer is not changed.
 *   ST_INVALID  the records have no columns; a name is no column of words, or is there
 *               twice; or no column has words */
enum status embed_request_fit(struct model_spec *model, const struct schema *schema,
                              struct error *error);

#endif
