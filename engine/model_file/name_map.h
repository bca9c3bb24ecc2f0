/*
 * name_map.h - the names that public files give to the tensors of a model. One kind of
 * model is saved under several names: with or without the prefix of its class, with the
 * words of an older library, together with tensors that this model has no use for.
 *
 *   map     a row for each kind of model (name_map.c)
 *   theirs  a tensor's name in a file        embeddings.LayerNorm.gamma
 *   ours    its name in the model            bert.embeddings.LayerNorm.weight
 *
 * Names decide, never shapes. A name that no pair changes is the same on both sides.
 *
 * Threads: constant data, pure functions.
 */
#ifndef ENGINE_MODEL_FILE_NAME_MAP_H
#define ENGINE_MODEL_FILE_NAME_MAP_H

#include <stdbool.h>

#include "engine/nn/network.h"

struct name_map; /* a row, opaque */

/* Returns the map for the model's files, by one of its tensors; NULL: files have the
 * model's own names. */
const struct name_map *name_map_of(const struct network *network);

/* The map's name, as "bert"; "" for NULL. */
const char *name_map_name(const struct name_map *map);

/* ours = the model's name for a tensor of a file; a NULL map changes nothing. A name that
 * would be too long becomes "", which no tensor has. */
void name_map_ours(const struct name_map *map, const char *theirs,
                   char ours[TENSOR_NAME_SIZE]);

/* Returns whether a tensor of this name in a file is not read if the model has no such
 * tensor. */
bool name_map_ignores(const struct name_map *map, const char *ours);

#endif
