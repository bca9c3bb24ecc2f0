/*
 * scaled_prefix.h - the layers of a model before its layer standardise, loaded to read
 * what they make of records: the numbers whose means and deviations are released
 * (engine/statistics/moments.h).
 *
 *   model, weights --open--> layers --source--> x_j and x_j^2 of each record: means over
 *                                               the positions of channel j
 *
 * The layers are frozen and draw no random numbers, and their weights are public or
 * were released before (network_scaled_input). Dropout and augmentation do not apply.
 *
 * Threads: one caller; it uses a team of the given number of threads.
 */
#ifndef ENGINE_SCALED_PREFIX_H
#define ENGINE_SCALED_PREFIX_H

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/model_file/model_file.h"
#include "engine/nn/model_spec.h"
#include "engine/nn/network.h"
#include "engine/statistics/moments.h"

/* digest = a digest of everything that determines these numbers of a record: the shape
 * of the input, the layers, and their weights, by the file that holds them or the seed
 * that they are drawn from.
 *   weights_sha256  of the file that the model starts from, in hexadecimal; "": none */
void scaled_prefix_digest(const struct model_spec *model, const struct network *network,
                          const char *weights_sha256, uint8_t digest[SHA256_SIZE]);

struct scaled_prefix; /* opaque */

struct scaled_prefix_setup { /* borrowed for the call of open */
    const struct model_spec *model;
    struct data_shape data;
    const struct weights_source *weights; /* NULL: only init_seed */
    unsigned threads;                     /* 1 to TEAM_SIZE_MAX */
};

/*   ST_INVALID    the model does not compile for the data
 *   ST_MODEL_CORRUPT  the file of weights is missing, has changed, or is not of this
 *                     model
 *   ST_NO_MEMORY  an allocation failed
 *   ST_NOT_FLOAT_SAFE  floats are not rounded to nearest */
enum status scaled_prefix_open(struct scaled_prefix **out,
                               const struct scaled_prefix_setup *setup,
                               struct error *error);
void scaled_prefix_close(struct scaled_prefix *prefix); /* NULL is allowed */

/* Valid until close. */
struct moments_source scaled_prefix_source(struct scaled_prefix *prefix);

#endif
