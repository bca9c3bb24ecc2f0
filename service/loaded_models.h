/*
 * loaded_models.h - models kept ready to predict: opening one reads and hashes its
 * whole file, and most predictions ask for the model that was asked for last.
 *
 *   loaded_models_take --> the caller's, who runs it --> loaded_models_give --> idle
 *
 * Idle models hold at most size_max bytes and are at most LOADED_MODELS_MAX; the one
 * that was used longest ago goes first. What is loaded was found to be what its row
 * says when it was read, and is predicted from whatever becomes of the file.
 *
 * Threads: any. A predictor that was taken is its taker's alone: two requests for one
 * model at one time load it twice.
 */
#ifndef SERVICE_LOADED_MODELS_H
#define SERVICE_LOADED_MODELS_H

#include <stddef.h>

#include "base/id.h"
#include "base/status.h"
#include "engine/predictor.h"

enum { LOADED_MODELS_MAX = 16 };

struct loaded_models; /* opaque */

struct loaded_models *loaded_models_create(size_t size_max);
void loaded_models_destroy(struct loaded_models *loaded); /* NULL is allowed */

/* Takes an idle predictor of the model or, where there is none, opens one from source.
 *   the statuses of predictor_open */
enum status loaded_models_take(struct loaded_models *loaded, const struct model_id *id,
                               const struct predictor_source *source,
                               struct predictor **out, struct error *error);

/* Closes what is idle of a model that was deleted. */
void loaded_models_drop(struct loaded_models *loaded, const struct model_id *id);

/* Gives back a predictor that was taken for this model. */
void loaded_models_give(struct loaded_models *loaded, const struct model_id *id,
                        struct predictor *predictor_take);

#endif
