/*
 * model_cache.h - a cache of models that are ready to predict: opening a model reads
 * and hashes its whole file, and most predictions use the same model as the prediction
 * before.
 *
 *   model_cache_take --> the caller's, who runs it --> model_cache_give --> idle
 *
 * Idle models hold at most size_max bytes, in which a body that several share counts
 * once, and are at most MODEL_CACHE_MAX; the least recently used one is removed first. A
 * loaded model matched its row when it was read, and predicts even if the file changes
 * later.
 *
 * Threads: any. Only the thread that took a predictor uses it: two requests for one
 * model at one time load it twice.
 */
#ifndef SERVICE_MODELS_MODEL_CACHE_H
#define SERVICE_MODELS_MODEL_CACHE_H

#include <stddef.h>

#include "engine/predictor.h"

struct model_id;

enum { MODEL_CACHE_MAX = 16 };

struct model_cache; /* opaque */

struct model_cache *model_cache_create(size_t size_max);
void model_cache_destroy(struct model_cache *loaded); /* NULL is allowed */

/* Takes an idle predictor of the model or, if there is none, opens one from source.
 * Returns the statuses of predictor_open. */
enum status model_cache_take(struct model_cache *loaded, const struct model_id *id,
                             const struct predictor_source *source,
                             struct predictor **out, struct error *error);

/* Closes the idle predictors of a model that was deleted. */
void model_cache_drop(struct model_cache *loaded, const struct model_id *id);

/* Gives back a predictor that was taken for this model. */
void model_cache_give(struct model_cache *loaded, const struct model_id *id,
                      struct predictor *predictor_take);

#endif
