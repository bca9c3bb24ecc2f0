/*
 * trainer.h - one training run: everything is allocated by create, a step allocates
 * nothing, and only the model leaves.
 *
 * Every function that takes a train_spec wants one whose model is compiled.
 *
 *   trainer_create --> trainer_step, at most spec->steps times
 *                  --> trainer_save, trainer_destroy
 *
 * Invariants
 *   (1) The caller has authorised a step, durably, before it calls trainer_step for it.
 *   (2) Between the weighted sum and the noise nothing is kept, logged or returned.
 *   (3) Each run draws its own keys (getrandom), never stored, zeroed by destroy.
 *   (4) The same test key gives the same model, bit for bit, at any number of threads, and
 *       of ranks. All ranks of a group have the same model after a step.
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
#include "engine/train_spec.h"

struct trainer; /* opaque */
struct group;

struct trainer_options {
    const struct train_spec *spec; /* outlives the trainer, its network too */
    const struct matrix *data;
    const struct matrix *evaluation; /* public, same features and targets; or NULL */
    unsigned threads;                /* >= 1 */
    const struct group *group;       /* that takes the run's steps; NULL: alone */
    const atomic_bool *cancel;       /* or NULL */
    const struct weights_source
        *weights;                  /* what to begin with; NULL: init_seed alone */
    struct feature_place features; /* of data; zeroes: none are kept */
    const char *evaluation_name;   /* id of the dataset of evaluation; with a cache */
    const uint8_t *test_key;       /* (32) tests only; NULL: getrandom */
};

/* What a run would take, computed from public numbers alone before it is created. */
struct trainer_cost {
    uint64_t memory;     /* bytes beyond the mapped matrices */
    uint64_t parameters; /* trainable floats */
};

/* Sets the algorithm's own learning rate. Call it for a spec that names none and has the
 * usual one.
 *   ST_INVALID  the algorithm has no rule for a layer of the model */
enum status trainer_choose_rate(struct train_spec *spec, struct error *error);

/* *cost = that of spec at so many threads.
 *   ST_INVALID  limits exceeded, a layer that the algorithm has no rule for, the noise
 *               plan refuses, or there are fewer cells than ranks ("/ranks")
 *   ST_ONE_RANK_ONLY  more ranks than one, and an algorithm that has no proof of them */
enum status trainer_cost(struct trainer_cost *cost, const struct train_spec *spec,
                         unsigned threads, struct error *error);

/*   ST_INVALID    as trainer_cost, or the matrices are not what the spec says
 *   ST_NOT_FLOAT_SAFE  this thread does not round as noise.md 2.1 asks (E3)
 *   ST_CANCELLED  the flag was seen while features were computed
 *   ST_MODEL_CORRUPT  the file of weights is not there, not what it was, or not of this
 *                 model
 *   ST_NO_MEMORY  an allocation failed */
enum status trainer_create(struct trainer **out, const struct trainer_options *options,
                           struct error *error);
void trainer_destroy(struct trainer *trainer); /* NULL is allowed */

/* False where the plan says every step's noise. Otherwise *step = what the next step will
 * be, from what was released so far: the caller takes it off what was reserved before it
 * calls trainer_step. */
bool trainer_next(const struct trainer *trainer, struct mechanism_run *step);

/* One noisy step. Over ranks it returns the same to all of them.
 *   ST_CANCELLED  the flag was seen: the step released nothing, the model is as before
 *   ST_INTERNAL   parameters are no longer finite ("diverged") */
enum status trainer_step(struct trainer *trainer, struct error *error);

uint64_t trainer_steps_done(const struct trainer *trainer);

/* --- a run whose steps other processes take --- */

/* The model as it stands, the average where the spec asks for one: *count = network_floats
 * values, which are released. Good until the next step. */
const float *trainer_model(const struct trainer *trainer, size_t *count);

/* Says that others have taken the steps up to this one, with the same spec, and, where values
 * is not NULL, that their trainer_model is that: the trainer evaluates, measures and saves
 * it. It takes no step itself from then on.
 *   values  (network_floats) */
void trainer_adopt(struct trainer *trainer, uint64_t steps_done, const float *values);

/* Runs the model as it stands, the average where the spec asks for one, on options->evaluation, which must not be NULL.
 *   ST_CANCELLED  the flag was seen
 *   ST_INTERNAL   the loss is not finite */
enum status trainer_evaluate(struct trainer *trainer, struct evaluation *evaluation,
                             struct error *error);

/* Checks the model as it is saved: a finite number for each parameter. An average of finite
 * numbers may not be one.
 *   ST_INTERNAL  one is not */
enum status trainer_check(const struct trainer *trainer, struct error *error);

/* Measures the model as it is saved, on the records held out (holdout_evaluation.h);
 * the caller has authorised that, durably.
 *   released  (quality_counts) ST_INVALID, ST_NO_MEMORY, ST_CANCELLED  as
 *   holdout_evaluation_run; nothing was released */
enum status trainer_measure(struct trainer *trainer, const struct quality_plan *plan,
                            const struct matrix *holdout, double *released,
                            struct error *error);

/* Writes the model, the average where the spec asks for one, to path as safetensors (model_file.h).
 *   ST_IO  the file cannot be written; *seal is untouched */
enum status trainer_save(struct trainer *trainer, const char *path,
                         struct metadata_list metadata, struct file_checksum *seal,
                         struct error *error);

/* Whether what frozen layers make of the records was computed once, for the whole run. */
bool trainer_has_features(const struct trainer *trainer);

/* Returns how many floats of the model are frozen, and fills in the SHA-256 of them, as they
 * lie, if there are any. No step changes them. */
size_t trainer_frozen(const struct trainer *trainer, uint8_t sha256[SHA256_SIZE]);

/* Fills in what the last step released beside the gradient, and paid for (algorithm.h).
 * Returns how many values there are, 0 where the algorithm releases nothing else or no
 * step was taken. Values are good until the next step. */
size_t trainer_released(const struct trainer *trainer,
                        struct released_value values[RELEASED_SERIES_MAX]);

/* How the noise is made, for the certificate (noise.md 5). */
struct noise_certificate {
    struct noise_plan plan; /* as the last step had it */
    char kernel[64];        /* the BLAS's: products in double */
    char gemm_kernel[16];   /* gemm_choice.h's: those in float */
};

/* False where the algorithm adds no noise. */
bool trainer_noise_certificate(const struct trainer *trainer,
                               struct noise_certificate *certificate);

#endif
