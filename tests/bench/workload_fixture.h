/*
 * workload_fixture.h - shared by the training benches: made-up records of MNIST's
 * shape, models given by their hidden layers, trainers of them, a clock and quantiles.
 *
 * A measurement is a task that runs again and again. measure_all alternates between all
 * of them, forwards and backwards, so that other load on the machine, and the caches
 * that the previous task left, affect all of them alike.
 */
#ifndef TESTS_BENCH_WORKLOAD_FIXTURE_H
#define TESTS_BENCH_WORKLOAD_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "base/check.h"
#include "base/random.h"
#include "engine/trainer.h"

enum { FEATURES = 784, CLASSES = 10, ROUNDS_MAX = 400 };

/* DIFF2 has fifty restarts in a run by default: here one in every 200 steps. */
enum { DIFFERENCE_STEPS = 10000 };

static inline struct matrix made_up_records(uint64_t records)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {7, 8, 4};
    size_t bytes = (size_t)records * FEATURES;
    uint8_t *rows = aligned_alloc(64, (bytes + 63) / 64 * 64);
    uint32_t *targets = calloc(records, sizeof *targets);
    struct stream *stream = stream_create();
    CHECK(rows != NULL && targets != NULL);
    stream_read(stream, rows, bytes / STREAM_BLOCK_SIZE * STREAM_BLOCK_SIZE,
                &(struct stream_position){.key = key});
    stream_destroy(stream);
    for (uint64_t i = 0; i < records; i++)
        targets[i] = (uint32_t)(i % CLASSES);
    return (struct matrix){.records = records,
                           .features = FEATURES,
                           .classes = CLASSES,
                           .element = ELEMENT_U8,
                           .scale = 255,
                           .rows = rows,
                           .targets = targets};
}

struct shape {
    const char *name;
    size_t hidden_count;
    uint32_t hidden[MODEL_HIDDEN_MAX];
    bool is_cnn; /* the preset cnn_mnist */
};

static const struct shape shapes[] = {
    {"784-10", 0, {0}, false},
    {"784-128-10", 1, {128}, false},
    {"784-1024-1024-10", 2, {1024, 1024}, false},
    {"cnn_mnist", 0, {0}, true},
};

static inline enum preset preset_of(const struct shape *shape)
{
    if (shape->is_cnn)
        return PRESET_CNN_MNIST;
    return shape->hidden_count > 0 ? PRESET_MLP : PRESET_LINEAR;
}

static inline struct train_spec spec_of(const char *algorithm,
                                        const struct shape *shape, uint64_t records,
                                        uint64_t batch)
{
    struct train_spec spec = {.model = {.preset = preset_of(shape),
                                        .input = {28, 28, 1},
                                        .hidden_count = shape->hidden_count,
                                        .activation = &layer_relu,
                                        .bias = true,
                                        .loss = LOSS_SOFTMAX_CROSS_ENTROPY},
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = 0.01,
                                            .learning_rate_final = 0.01},
                              .records = records,
                              .batch_size = batch,
                              .steps = algorithm_find(algorithm)->uses_differences
                                           ? DIFFERENCE_STEPS
                                           : UINT32_MAX,
                              .noise_multiplier = 1};
    memcpy(spec.model.hidden, shape->hidden, sizeof shape->hidden);
    algorithm_spec_init(&spec.algorithm, algorithm_find(algorithm));
    preset_expand(&spec.model, CLASSES);
    return spec;
}

struct company { /* the processes that take the steps */
    unsigned threads;
    const struct group *group; /* NULL: only this process */
};

static inline struct trainer *trainer_in(const char *algorithm,
                                         const struct shape *shape,
                                         const struct matrix *data, uint64_t batch,
                                         struct company company)
{
    struct train_spec *spec = malloc(sizeof *spec); /* lives as long as the process */
    struct trainer_options options = {
        .spec = spec, .data = data, .threads = company.threads, .group = company.group};
    struct trainer *trainer;
    struct error error = {0};
    CHECK(spec != NULL);
    *spec = spec_of(algorithm, shape, data->records, batch);
    if (train_spec_compile(spec, (struct data_shape){FEATURES, CLASSES}, &error) !=
            ST_OK ||
        trainer_choose_rate(spec, &error) != ST_OK ||
        trainer_create(&trainer, &options, &error) != ST_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return trainer;
}

static inline struct trainer *trainer_of(const char *algorithm,
                                         const struct shape *shape,
                                         const struct matrix *data, uint64_t batch,
                                         unsigned threads)
{
    return trainer_in(algorithm, shape, data, batch, (struct company){threads, NULL});
}

static inline void step(void *trainer)
{
    CHECK(trainer_step(trainer, NULL) == ST_OK);
}

struct measurement {
    void (*run)(void *context);
    void *context;
    bool alone;     /* one thread: measure its own processor time */
    size_t repeats; /* chosen so that one turn takes turn_seconds */
    double seconds; /* for one run: the median over the turns */
    double turns[ROUNDS_MAX];
};

static inline double now(bool alone)
{
    struct timespec t;
    clock_gettime(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double seconds_of(const struct measurement *m, size_t repeats)
{
    double start = now(m->alone);
    for (size_t k = 0; k < repeats; k++)
        m->run(m->context);
    return (now(m->alone) - start) / (double)repeats;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double quantile(const double *values, size_t count, double share)
{
    double sorted[ROUNDS_MAX];
    CHECK(count > 0 && count <= ROUNDS_MAX);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    double place = share * (double)(count - 1);
    size_t below = (size_t)place, above = below + (below + 1 < count);
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* Runs all measurements in turns of turn_seconds each, at least five times and for
 * about `seconds` in total; share 0.5 gives medians. Returns the number of turns. */
struct measure_plan {
    double seconds, turn_seconds, share;
};
static inline size_t measure_all(struct measurement *all, size_t count,
                                 const struct measure_plan *plan)
{
    size_t rounds = 0;
    double start = now(false);
    for (size_t k = 0; k < count; k++) {
        double once = (seconds_of(&all[k], 1), seconds_of(&all[k], 1));
        all[k].repeats =
            once < plan->turn_seconds ? (size_t)(plan->turn_seconds / once) : 1;
    }
    while (rounds < ROUNDS_MAX && (rounds < 5 || now(false) - start < plan->seconds)) {
        for (size_t k = 0; k < count; k++) {
            struct measurement *m = &all[rounds % 2 == 0 ? k : count - 1 - k];
            m->turns[rounds] = seconds_of(m, m->repeats);
        }
        rounds++;
    }
    for (size_t k = 0; k < count; k++)
        all[k].seconds = quantile(all[k].turns, rounds, plan->share);
    return rounds;
}

/* Returns a + sign * b for each turn. */
static inline struct measurement added(const struct measurement *a, double sign,
                                       const struct measurement *b)
{
    struct measurement sum = {.seconds = a->seconds + sign * b->seconds};
    for (size_t k = 0; k < ROUNDS_MAX; k++)
        sum.turns[k] = a->turns[k] + sign * b->turns[k];
    return sum;
}

/* Returns the median over the turns of over / under. */
static inline double ratio(const struct measurement *over,
                           const struct measurement *under, size_t turns)
{
    double ratios[ROUNDS_MAX];
    for (size_t k = 0; k < turns; k++)
        ratios[k] = over->turns[k] / under->turns[k];
    return quantile(ratios, turns, 0.5);
}

#endif
