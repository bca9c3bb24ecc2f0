/*
 * ranks_fixture.h - the runs that several ranks must make exactly as one process does:
 * one run for each way in which an algorithm, an optimizer or an average uses what
 * ranks share. Include after tests/expect.h.
 *
 * Ownership: world_destroy releases what ranks_world returns.
 */
#ifndef TESTS_ENGINE_RANKS_FIXTURE_H
#define TESTS_ENGINE_RANKS_FIXTURE_H

#include "base/check.h"
#include "tests/engine/trainer_fixture.h"

enum { RANKS_STEPS = 6, RANKS_VALUES = 3 };

struct ranks_run {
    const char *about, *algorithm;
    struct {
        const char *name;
        double value;
    } values[RANKS_VALUES];
    struct optimizer_spec optimizer; /* no learning rate: 0.5 and sgd */
    struct averaging_spec averaging;
    double dropout; /* above 0: a model with group norms and dropout */
    bool convolves; /* a model with a convolution, of one chunk of noise */
    bool of_persons;
    size_t views;
};

#define RANKS_ADAM                                                                     \
    {                                                                                  \
        .kind = OPTIMIZER_ADAM, .learning_rate = 0.01, .learning_rate_final = 0.01,    \
        .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8                                  \
    }

static const struct ranks_run ranks_runs[] = {
    {.about = "flat clipping", .algorithm = "dpsgd"},
    {.about = "automatic clipping, momentum, a cosine after a warm-up",
     .algorithm = "dpsgd",
     .values = {{"clipping", 1}},
     .optimizer = {.kind = OPTIMIZER_SGD,
                   .learning_rate = 0.3,
                   .momentum = 0.9,
                   .schedule = RATE_COSINE,
                   .warmup = 0.4,
                   .weight_decay = 0.01}},
    {.about = "clipping by layer, an average of the tail",
     .algorithm = "dpsgd",
     .values = {{"clipping", 2}},
     .averaging = {.kind = AVERAGING_TAIL, .share = 0.5}},
    {.about = "adam, an average that forgets",
     .algorithm = "dpsgd",
     .optimizer = RANKS_ADAM,
     .averaging = {.kind = AVERAGING_EMA, .decay = 0.7}},
    {.about = "dropout", .algorithm = "dpsgd", .dropout = 0.3},
    {.about = "a convolution", .algorithm = "dpsgd", .convolves = true},
    {.about = "persons", .algorithm = "dpsgd", .of_persons = true},
    {.about = "views", .algorithm = "adp", .views = 2},
    {.about = "full batches", .algorithm = "dpgd"},
    {.about = "a percentile of norms", .algorithm = "dcsgd_p"},
    {.about = "the error of clipping, adam",
     .algorithm = "dcsgd_e",
     .optimizer = RANKS_ADAM},
    {.about = "noise by a schedule", .algorithm = "adp"},
    {.about = "a norm that is released",
     .algorithm = "adp",
     .values = {{"schedule", 4}, {"norm_noise", 4}}},
    {.about = "the norm of the gradient, noise that follows it",
     .algorithm = "adp",
     .values = {{"schedule", 4}, {"norm_noise", 0}, {"noise_follows", 1}}},
    {.about = "bounds by losses", .algorithm = "value_clip"},
    {.about = "differences of two clients' gradients",
     .algorithm = "diff2_gd",
     .values = {{"clients", 2}, {"restart_interval", 4}}},
    {.about = "local steps",
     .algorithm = "diff2_bvr_l_sgd",
     .values = {{"clients", 3}, {"local_steps", 3}, {"local_batch", 300}}},
};

enum { RANKS_RUNS = sizeof ranks_runs / sizeof *ranks_runs };

/* Makes every four successive rows one person, of whom a step reads two rows. */
static inline void ranks_group_persons(struct world *world)
{
    enum { ROWS = 4, PERSONS = RECORDS / ROWS };
    static uint32_t starts[PERSONS + 1]; /* shared by all worlds */
    for (uint32_t k = 0; k <= PERSONS; k++)
        starts[k] = k * ROWS;
    world->data.starts = starts;
    world->data.units = PERSONS;
    world->spec.unit = PRIVACY_UNIT_PERSON;
    world->spec.unit_rows = 2;
    world->spec.records = PERSONS;
    world->spec.batch_size = PERSONS / 2;
}

/* A world whose parameters fill four chunks of noise, or more, or one, and whose
 * batches have at least five cells, or four if units are persons; its model is
 * compiled. */
static inline struct world *ranks_world(const struct ranks_run *run)
{
    struct world *world = world_create(run->algorithm);
    struct train_spec *spec = &world->spec;
    const bool differs = strncmp(run->algorithm, "diff2", 5) == 0;
    set_model(&spec->model, 256, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    if (run->dropout > 0)
        set_dropping_model(world, run->dropout);
    for (size_t k = 0; k < RANKS_VALUES && run->values[k].name != NULL; k++)
        set_parameter(world, run->values[k].name, run->values[k].value);
    spec->batch_size = spec->algorithm.algorithm->full_batch ? RECORDS : 600;
    spec->steps = RANKS_STEPS;
    spec->averaging = run->averaging;
    if (run->optimizer.learning_rate > 0)
        spec->optimizer = run->optimizer;
    if (differs) {
        spec->noise_multiplier = 4;
        spec->optimizer.learning_rate = spec->optimizer.learning_rate_final = 0.01;
    }
    if (run->of_persons)
        ranks_group_persons(world);
    if (run->convolves)
        set_image_model(world);
    if (run->views > 0)
        spec->views = (struct view_spec){.count = run->views,
                                         .flips = true,
                                         .shift = 2,
                                         .planes = 1,
                                         .height = 1,
                                         .width = FEATURES};
    compile_model(world);
    return world;
}

/* Computes the digest of the model that a rank of group trains in the world with the
 * fixture's key; if group is NULL, the model of one process. */
static inline void ranks_digest(struct world *world, const struct group *group,
                                unsigned threads, uint8_t digest[SHA256_SIZE])
{
    struct trainer_options options = options_of(world, threads);
    struct trainer *trainer;
    options.group = group;
    options.evaluation = NULL;
    CHECK(trainer_create(&trainer, &options, NULL) == ST_OK);
    for (uint64_t k = 0; k < world->spec.steps; k++)
        CHECK(trainer_step(trainer, NULL) == ST_OK);
    digest_of(trainer, digest);
    trainer_destroy(trainer);
}

#endif
