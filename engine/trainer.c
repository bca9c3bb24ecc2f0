/* trainer_create first uses only public values (build): the algorithm's start plans the
 * grids. After that it creates the parameters, the team, the stepper with its buffers
 * and the evaluator. After a failure, trainer_destroy releases what was created. The
 * algorithm takes a step; the trainer begins it with new keys and counts it.
 *
 * trainer_cost, which a request calls beforehand, does the same as far as public values
 * allow, so that it refuses every spec that trainer_create would refuse. */
#include "engine/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/algorithm_start.h"
#include "engine/dp/stepper.h"
#include "engine/frozen_features.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/holdout_evaluation.h"
#include "engine/model_file/model_file.h"
#include "engine/model_file/name_map.h"
#include "engine/nn/network.h"
#include "engine/parallel/team.h"
#include "engine/rounding/blas.h"
#include "engine/start_point.h"

/* What a thread takes besides: its stack, its keys, and a small product's part of
 * OpenBLAS's packing buffers. */
static const uint64_t thread_size = UINT64_C(256) << 10;

struct trainer {
    const struct algorithm *algorithm;
    uint64_t steps, steps_done;
    const struct group *group;
    const atomic_bool *cancel;
    void *state;                   /* the algorithm's */
    const struct network *network; /* the spec's */
    float *parameters;             /* (network_floats) */
    struct team *team;
    struct stepper *stepper;
    struct workspace **workspaces;             /* (team_size) the stepper's */
    struct feature_file *features, *evaluated; /* NULL: features are computed at each
                                                * use */
    struct average *average;                   /* NULL if the model is the last point */
    struct evaluator *evaluator;               /* NULL without an evaluation matrix */
};

enum status trainer_choose_rate(struct train_spec *spec, struct error *error)
{
    const struct algorithm *algorithm = spec->algorithm.algorithm;
    struct optimizer_spec *optimizer = &spec->optimizer;
    struct algorithm_model model;
    if (algorithm->learning_rate == NULL)
        return ST_OK;
    enum status status = algorithm_start_model(&model, algorithm, spec->network, error);
    if (status != ST_OK)
        return status;
    struct algorithm_inputs inputs = train_spec_inputs(spec);
    optimizer_spec_set_rate(
        optimizer, algorithm->learning_rate(&inputs, &model, optimizer->learning_rate));
    return ST_OK;
}

enum status trainer_cost(struct trainer_cost *cost, const struct train_spec *spec,
                         unsigned threads, struct error *error)
{
    const struct network *network = spec->network;
    void *state = NULL;
    enum status status = algorithm_start(&state, spec, error);
    if (status == ST_OK)
        status =
            algorithm_check_ranks(spec->algorithm.algorithm,
                                  algorithm_noise(spec->algorithm.algorithm, state),
                                  train_spec_ranks(spec), error);
    if (status == ST_OK) {
        struct stepper_setup setup = {.network = network,
                                      .optimizer = &spec->optimizer,
                                      .records = spec->records,
                                      .batch_size = spec->batch_size,
                                      .views = spec->views};
        uint64_t parameters = network_parameters(network);
        uint64_t floats = network_floats(network);
        algorithm_start_needs(&setup, spec->algorithm.algorithm, state);
        *cost = (struct trainer_cost){
            .memory = stepper_size(&setup, threads) +
                      algorithm_start_allocated(spec->algorithm.algorithm, state) +
                      floats * sizeof(float) +
                      average_size(&spec->averaging, (size_t)floats) +
                      model_file_copy_size(network) + threads * thread_size,
            .parameters = parameters};
    }
    algorithm_finish(spec->algorithm.algorithm, state);
    return status;
}

static enum status check_matrices(const struct trainer_options *options,
                                  struct error *error)
{
    const struct matrix *data = options->data, *evaluation = options->evaluation;
    struct network_shape shape = network_shape(options->spec->network);
    if (data->features != shape.features ||
        model_spec_outputs(&options->spec->model, data->classes) != shape.outputs)
        return error_set(error, ST_INVALID, "the model was compiled for other data");
    if ((data->starts != NULL) != (options->spec->unit == PRIVACY_UNIT_PERSON))
        return error_set(error, ST_INVALID, "the spec is for another privacy unit");
    if (matrix_units(data) != options->spec->records)
        return error_set(error, ST_INVALID, "the spec is for %llu units, not %llu",
                         (unsigned long long)options->spec->records,
                         (unsigned long long)matrix_units(data));
    const struct view_spec *views = &options->spec->views;
    if (views->count > 0 &&
        (uint64_t)views->planes * views->height * views->width != data->features)
        return error_set(error, ST_INVALID, "the spec's views are of other records");
    if (evaluation != NULL && (evaluation->features != data->features ||
                               evaluation->classes != data->classes))
        return error_set(error, ST_INVALID,
                         "the evaluation dataset has other features or targets");
    if (options->threads < 1 || options->threads > TEAM_SIZE_MAX)
        return error_set(error, ST_INVALID, "threads must be in [1, %d]",
                         TEAM_SIZE_MAX);
    return ST_OK;
}

static enum status create_stepper(struct trainer *trainer,
                                  const struct trainer_options *options,
                                  struct error *error)
{
    const struct train_spec *spec = options->spec;
    struct noise_key seed;
    struct stepper_setup setup = {.network = trainer->network,
                                  .data = options->data,
                                  .team = trainer->team,
                                  .group = trainer->group,
                                  .parameters = trainer->parameters,
                                  .optimizer = &spec->optimizer,
                                  .class_weights = spec->class_weights.values,
                                  .steps = spec->steps,
                                  .records = spec->records,
                                  .batch_size = spec->batch_size,
                                  .views = spec->views,
                                  .cancel = options->cancel};
    algorithm_start_needs(&setup, trainer->algorithm, trainer->state);
    if (options->test_key != NULL) {
        memcpy(seed.bytes, options->test_key, sizeof seed.bytes);
        setup.seed = &seed;
    }
    return stepper_create(&trainer->stepper, &setup, error);
}

static void find_workspaces(struct trainer *trainer)
{
    unsigned size = team_size(trainer->team);
    trainer->workspaces = calloc(size, sizeof *trainer->workspaces);
    CHECK(trainer->workspaces != NULL);
    for (unsigned m = 0; m < size; m++)
        trainer->workspaces[m] = stepper_workspace(trainer->stepper, m);
}

static struct frozen_features_setup
features_setup(const struct trainer *trainer, const struct trainer_options *options)
{
    return (struct frozen_features_setup){.spec = options->spec,
                                          .matrix = options->data,
                                          .parameters = trainer->parameters,
                                          .team = trainer->team,
                                          .stepper = trainer->stepper,
                                          .place = options->features,
                                          .cancel = options->cancel};
}

static enum status create_features(struct trainer *trainer,
                                   const struct trainer_options *options,
                                   struct error *error)
{
    const struct frozen_features_setup setup = features_setup(trainer, options);
    /* A rank reads only its own records, but would compute the features of all. */
    if (!frozen_features_serve(&setup) || trainer->group->size > 1)
        return ST_OK;
    enum status status = frozen_features_make(&trainer->features, &setup, error);
    if (trainer->features != NULL)
        stepper_use_features(trainer->stepper, feature_file_rows(trainer->features));
    return status;
}

static enum status create_average(struct trainer *trainer,
                                  const struct train_spec *spec, struct error *error)
{
    const struct average_extent extent = {network_parameters(trainer->network),
                                          network_floats(trainer->network)};
    return average_create(&trainer->average, &spec->averaging, extent, spec->steps,
                          trainer->team, error);
}

/* The features of the records that the model is evaluated on. */
static enum status create_evaluated(struct trainer *trainer,
                                    const struct trainer_options *options,
                                    struct error *error)
{
    struct frozen_features_setup setup = features_setup(trainer, options);
    setup.matrix = options->evaluation;
    setup.place.dataset = options->evaluation_name;
    if (!frozen_features_serve_evaluation(&setup))
        return ST_OK;
    return frozen_features_make(&trainer->evaluated, &setup, error);
}

static enum status create_evaluator(struct trainer *trainer,
                                    const struct trainer_options *options,
                                    struct error *error)
{
    struct evaluator_setup setup = {.network = trainer->network,
                                    .matrix = options->evaluation,
                                    .team = trainer->team,
                                    .workspaces = trainer->workspaces,
                                    .cancel = options->cancel};
    if (options->evaluation == NULL)
        return ST_OK;
    enum status status = create_evaluated(trainer, options, error);
    if (status != ST_OK)
        return status;
    if (trainer->evaluated != NULL)
        setup.features = feature_file_rows(trainer->evaluated);
    return evaluator_create(&trainer->evaluator, &setup, error);
}

static enum status build(struct trainer *trainer, const struct trainer_options *options,
                         struct error *error)
{
    const struct train_spec *spec = options->spec;
    enum status status = check_matrices(options, error);
    if (status == ST_OK)
        status = algorithm_start(&trainer->state, spec, error);
    if (status == ST_OK)
        status = algorithm_check_ranks(
            trainer->algorithm, algorithm_noise(trainer->algorithm, trainer->state),
            trainer->group->size, error);
    if (status == ST_OK)
        status = team_create(&trainer->team, options->threads, error);
    if (status == ST_OK)
        status =
            start_point_make(&trainer->parameters, trainer->network,
                             &(struct start_point){spec->model.init_seed,
                                                   options->weights, options->scale},
                             trainer->team, error);
    if (status == ST_OK)
        status = create_stepper(trainer, options, error);
    if (status == ST_OK)
        find_workspaces(trainer);
    if (status == ST_OK)
        status = create_features(trainer, options, error);
    if (status == ST_OK)
        status = create_average(trainer, spec, error);
    if (status == ST_OK)
        status = create_evaluator(trainer, options, error);
    return status;
}

enum status trainer_create(struct trainer **out, const struct trainer_options *options,
                           struct error *error)
{
    struct trainer *trainer = calloc(1, sizeof *trainer);
    CHECK(trainer != NULL);
    trainer->algorithm = options->spec->algorithm.algorithm;
    trainer->network = options->spec->network;
    trainer->steps = options->spec->steps;
    trainer->group = options->group != NULL ? options->group : &group_alone;
    trainer->cancel = options->cancel;
    blas_use_one_thread();
    enum status status = ST_NOT_FLOAT_SAFE;
    if (blas_rounding_is_exact())
        status = build(trainer, options, error);
    else
        error_set(error, status, "floats are not rounded to nearest");
    if (status != ST_OK) {
        trainer_destroy(trainer);
        return status;
    }
    *out = trainer;
    return ST_OK;
}

void trainer_destroy(struct trainer *trainer)
{
    if (trainer == NULL)
        return;
    evaluator_destroy(trainer->evaluator);
    average_destroy(trainer->average);
    stepper_destroy(trainer->stepper);
    free(trainer->workspaces);
    feature_file_let_go(trainer->features);
    feature_file_let_go(trainer->evaluated);
    team_destroy(trainer->team);
    free(trainer->parameters);
    algorithm_finish(trainer->algorithm, trainer->state);
    free(trainer);
}

enum status trainer_step(struct trainer *trainer, struct error *error)
{
    CHECK(trainer->steps_done < trainer->steps);
    /* If only one rank acted on the flag here, the others would wait for it: the ranks
     * agree on the flag in stepper_sum. */
    if (trainer->group->size == 1 && trainer->cancel != NULL &&
        atomic_load(trainer->cancel))
        return error_set(error, ST_CANCELLED, "cancelled");
    stepper_begin_step(trainer->stepper, trainer->steps_done);
    enum status status =
        trainer->algorithm->step(trainer->state, trainer->stepper, error);
    if (status != ST_OK)
        return status;
    average_take(trainer->average, trainer->parameters, trainer->steps_done);
    trainer->steps_done++;
    return ST_OK;
}

/* The model that is shown and published: the average, once it has a point. */
static const float *model_of(const struct trainer *trainer)
{
    const float *point = average_point(trainer->average);
    return point != NULL ? point : trainer->parameters;
}

uint64_t trainer_steps_done(const struct trainer *trainer)
{
    return trainer->steps_done;
}

const float *trainer_model(const struct trainer *trainer, size_t *count)
{
    *count = network_floats(trainer->network);
    return model_of(trainer);
}

/* If the spec has an average, values are the average, which was computed elsewhere. */
void trainer_adopt(struct trainer *trainer, uint64_t steps_done, const float *values)
{
    CHECK(steps_done >= trainer->steps_done && steps_done <= trainer->steps);
    average_destroy(trainer->average);
    trainer->average = NULL;
    trainer->steps_done = steps_done;
    if (values != NULL)
        memcpy(trainer->parameters, values,
               network_floats(trainer->network) * sizeof *values);
}

enum status trainer_check(const struct trainer *trainer, struct error *error)
{
    size_t count;
    const float *values = trainer_model(trainer, &count);
    for (size_t j = 0; j < count; j++)
        if (!isfinite(values[j]))
            return error_set(error, ST_INTERNAL, "a parameter is not finite");
    return ST_OK;
}

enum status trainer_evaluate(struct trainer *trainer, struct evaluation *evaluation,
                             struct error *error)
{
    CHECK(trainer->evaluator != NULL);
    return evaluator_run(trainer->evaluator, model_of(trainer), evaluation, error);
}

enum status trainer_measure(struct trainer *trainer, const struct quality_plan *plan,
                            const struct matrix *holdout, double *released,
                            struct error *error)
{
    const struct holdout_evaluation_setup setup = {.plan = plan,
                                                   .matrix = holdout,
                                                   .parameters = model_of(trainer),
                                                   .team = trainer->team,
                                                   .workspaces = trainer->workspaces,
                                                   .cancel = trainer->cancel};
    return holdout_evaluation_run(&setup, released, error);
}

bool trainer_has_body(const struct trainer *trainer)
{
    return model_file_has_body(trainer->network);
}

enum status trainer_save(struct trainer *trainer, const char *path,
                         struct metadata_list metadata, struct file_checksum *seal,
                         struct error *error)
{
    struct model_content content = {.network = trainer->network,
                                    .parameters = model_of(trainer),
                                    .metadata = metadata};
    return model_file_write(path, &content, seal, error);
}

enum status trainer_save_without_body(struct trainer *trainer, const char *path,
                                      struct metadata_list metadata,
                                      struct file_checksum *seal, struct error *error)
{
    struct model_content content = {.network = trainer->network,
                                    .parameters = model_of(trainer),
                                    .metadata = metadata};
    return model_file_write_without_body(path, &content, seal, error);
}

const char *trainer_body_names(const struct trainer *trainer)
{
    return name_map_name(name_map_of(trainer->network));
}

bool trainer_has_features(const struct trainer *trainer)
{
    return trainer->features != NULL;
}

size_t trainer_frozen(const struct trainer *trainer, uint8_t sha256[SHA256_SIZE])
{
    size_t first = network_parameters(trainer->network);
    size_t count = network_floats(trainer->network) - first;
    if (count > 0)
        sha256_of(sha256, trainer->parameters + first, count * sizeof(float));
    return count;
}

bool trainer_next(const struct trainer *trainer, struct mechanism_run *step)
{
    const struct algorithm *algorithm = trainer->algorithm;
    return algorithm->next != NULL && algorithm->next(trainer->state, step);
}

size_t trainer_released(const struct trainer *trainer,
                        struct released_value values[RELEASED_SERIES_MAX])
{
    if (trainer->algorithm->released == NULL || trainer->steps_done == 0)
        return 0;
    return trainer->algorithm->released(trainer->state, values);
}

bool trainer_noise_certificate(const struct trainer *trainer,
                               struct noise_certificate *certificate)
{
    const struct noise_plan *noise =
        algorithm_noise(trainer->algorithm, trainer->state);
    if (noise == NULL)
        return false;
    *certificate = (struct noise_certificate){.plan = *noise};
    snprintf(certificate->kernel, sizeof certificate->kernel, "%s", blas_kernel());
    snprintf(certificate->gemm_kernel, sizeof certificate->gemm_kernel, "%s",
             gemm_choice_best()->name);
    return true;
}
