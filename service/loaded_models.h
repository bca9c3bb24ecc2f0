/*
 * loaded_models.h - a cache of models that are ready to predict: opening a model reads
 * and hashes its whole file, and most predictions use the same model as the prediction
 * before.
 *
 *   loaded_models_take --> the caller's, who runs it --> loaded_models_give --> idle
 *
 * Idle models hold at most size_max bytes and are at most LOADED_MODELS_MAX; the least
 * recently used one is removed first. A loaded model matched its row when it was read,
 * and predicts even if the file changes later.
 *
 * Threads: any. Only the thread that took a predictor uses it: two requests for one
 * model at one time load it twice.
 */
#ifndef SERVICE_LOADED_MODELS_H
#define SERVICE_LOADED_MODELS_H

#include <stddef.h>

#include "engine/predictor.h"

struct model_id;

enum { LOADED_MODELS_MAX = 16 };

struct loaded_models; /* opaque */

struct loaded_models *loaded_models_create(size_t size_max);
void loaded_models_destroy(struct loaded_models *loaded); /* NULL is allowed */

/* Takes an idle predictor of the model or, if there is none, opens one from source.
 * Returns the statuses of predictor_open. */
enum status loaded_models_take(struct loaded_models *loaded, const struct model_id *id,
                               const struct predictor_source *source,
                               struct predictor **out, struct error *error);

/* Closes the idle predictors of a model that was deleted. */
void loaded_models_drop(struct loaded_models *loaded, const struct model_id *id);

/* Gives back a predictor that was taken for this model. */
void loaded_models_give(struct loaded_models *loaded, const struct model_id *id,
                        struct predictor *predictor_take);

#endif
