/*
 * trainer.h - one training run: create allocates everything, a step allocates nothing,
 * and only the model is released.
 *
 * Every function that takes a train_spec needs a compiled one (train_spec_compile).
 *
 *   trainer_create --> trainer_step, at most spec->steps times
 *                  --> trainer_save, trainer_destroy
 *
 * Invariants
 *   (1) The caller has authorised a step, durably, before it calls trainer_step for it.
 *   (2) Values between the weighted sum and the noise are not kept, logged or returned.
 *   (3) Each run draws its own keys (getrandom), which are never stored, and zeroed by
 *       destroy.
 *   (4) The same test key gives the same model, bit for bit, with any number of threads
 *       and ranks. All ranks of a group have the same model after a step.
 *   (5) Memory has no term batch x parameters.
 *
 * Threads: one caller; the trainer has its own team of spec threads. *cancel may be set
 * by any thread and is read at every micro-batch.
 */
#ifndef ENGINE_TRAINER_H
#define ENGINE_TRAINER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/data/schema.h"
#include "engine/evaluator.h"
#include "engine/frozen_features.h"
#include "engine/model_file/model_file.h"
#include "engine/quality/quality_plan.h"
#include "engine/start_point.h"
#include "engine/train_spec.h"

struct trainer; /* opaque */
struct group;

struct trainer_options {
    const struct train_spec *spec; /* outlives the trainer, its network too */
    const struct matrix *data;
    const struct matrix *evaluation; /* public, same features and targets; or NULL */
    unsigned threads;                /* >= 1 */
    const struct group *group;       /* that takes the run's steps; NULL: a group of
                                      * one */
    const atomic_bool *cancel;       /* or NULL */
    const struct weights_source *weights; /* initial weights; NULL: only init_seed */
    const struct feature_scale *scale;    /* of the layer that standardises, or NULL */
    struct feature_place features;        /* for data; zeroes: none are stored */
    const char *evaluation_name; /* id of the dataset of evaluation; with a cache */
    const uint8_t *test_key;     /* (32) tests only; NULL: getrandom */
};

/* The resources of a run, computed only from public numbers before it is created. */
struct trainer_cost {
    uint64_t memory;     /* bytes beyond the mapped matrices */
    uint64_t parameters; /* trainable floats */
};

/* Sets the algorithm's own learning rate. Call it for a spec whose job gives none, with
 * the usual rate set.
 *   ST_INVALID  the algorithm has no rule for a layer of the model */
enum status trainer_choose_rate(struct train_spec *spec, struct error *error);

/* *cost = the cost of spec with this number of threads.
 *   ST_INVALID  limits exceeded, a layer that the algorithm has no rule for, the noise
 *               plan refuses, or there are fewer cells than ranks ("/ranks")
 *   ST_ONE_RANK_ONLY  more than one rank, and an algorithm that has no proof for
 *                     this */
enum status trainer_cost(struct trainer_cost *cost, const struct train_spec *spec,
                         unsigned threads, struct error *error);

/*   ST_INVALID    as trainer_cost, or the matrices do not match the spec
 *   ST_NOT_FLOAT_SAFE  this thread does not round as noise.md 2.1 requires (E3)
 *   ST_CANCELLED  the flag was seen while features were computed
 *   ST_MODEL_CORRUPT  the file of weights is missing, has changed, or is not of this
 *                 model
 *   ST_NO_MEMORY  an allocation failed */
enum status trainer_create(struct trainer **out, const struct trainer_options *options,
                           struct error *error);
void trainer_destroy(struct trainer *trainer); /* NULL is allowed */

/* Returns false if the plan fixes every step's noise. Otherwise *step = the next step,
 * computed from the releases so far: the caller deducts it from the reservation before
 * it calls trainer_step. */
bool trainer_next(const struct trainer *trainer, struct mechanism_run *step);

/* One noisy step. In a group, all ranks get the same result.
 *   ST_CANCELLED  the flag was seen: the step released nothing, the model is unchanged
 *   ST_INTERNAL   parameters are no longer finite ("diverged") */
enum status trainer_step(struct trainer *trainer, struct error *error);

uint64_t trainer_steps_done(const struct trainer *trainer);

/* --- a run whose steps other processes take --- */

/* The current model (the average if the spec has one): *count = network_floats values,
 * which are released. Valid until the next step. */
const float *trainer_model(const struct trainer *trainer, size_t *count);

/* Records that other processes have taken the first steps_done steps, with the same
 * spec. If values is not NULL, it is their trainer_model, and the trainer evaluates,
 * measures and saves it. From then on, this trainer takes no steps itself.
 *   values  (network_floats) */
void trainer_adopt(struct trainer *trainer, uint64_t steps_done, const float *values);

/* Evaluates the current model (the average if the spec has one) on options->evaluation,
 * which must not be NULL.
 *   ST_CANCELLED  the flag was seen
 *   ST_INTERNAL   the loss is not finite */
enum status trainer_evaluate(struct trainer *trainer, struct evaluation *evaluation,
                             struct error *error);

/* Checks that every parameter of the model, as it is saved, is finite. An average of
 * finite numbers may not be finite.
 *   ST_INTERNAL  a parameter is not finite */
enum status trainer_check(const struct trainer *trainer, struct error *error);

/* Measures the model, as it is saved, on the held-out records (holdout_evaluation.h);
 * the caller has authorised the measurement, durably.
 *   released  (quality_counts)
 *   ST_INVALID, ST_NO_MEMORY, ST_CANCELLED  as holdout_evaluation_run; nothing was
 *                                           released */
enum status trainer_measure(struct trainer *trainer, const struct quality_plan *plan,
                            const struct matrix *holdout, double *released,
                            struct error *error);

/* Returns whether the model has a body, which its file may leave out (model_file.h). */
bool trainer_has_body(const struct trainer *trainer);

/* Writes the model (the average if the spec has one) to path as safetensors
 * (model_file.h).
 *   ST_IO  the file cannot be written; *seal is unchanged */
enum status trainer_save(struct trainer *trainer, const char *path,
                         struct metadata_list metadata, struct file_checksum *seal,
                         struct error *error);
/* The same without the tensors of the body. */
enum status trainer_save_without_body(struct trainer *trainer, const char *path,
                                      struct metadata_list metadata,
                                      struct file_checksum *seal, struct error *error);

/* Returns the name of the map by which the body is read from a file (name_map.h). */
const char *trainer_body_names(const struct trainer *trainer);

/* Returns whether the outputs of frozen layers were computed once for the whole run. */
bool trainer_has_features(const struct trainer *trainer);

/* Returns the number of frozen floats of the model, and fills in their SHA-256, in the
 * order of memory, if there are any. No step changes them. */
size_t trainer_frozen(const struct trainer *trainer, uint8_t sha256[SHA256_SIZE]);

/* Fills in what the last step released, and paid for, besides the gradient
 * (algorithm.h). Returns the number of values: 0 if the algorithm releases nothing else
 * or no step was taken. Values are valid until the next step. */
size_t trainer_released(const struct trainer *trainer,
                        struct released_value values[RELEASED_SERIES_MAX]);

/* The method by which the noise is generated, for the certificate (noise.md 5). */
struct noise_certificate {
    struct noise_plan plan; /* of the last step */
    char kernel[64];        /* of the BLAS: products in double */
    char gemm_kernel[16];   /* from gemm_choice.h: products in float */
};

/* Returns false if the algorithm adds no noise. */
bool trainer_noise_certificate(const struct trainer *trainer,
                               struct noise_certificate *certificate);

#endif
