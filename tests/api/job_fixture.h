/*
 * job_fixture.h - the jobs that the tests of job_request.h start from, and the data
 * that they train on. Include after tests/expect.h.
 *
 * Ownership: release a request that was parsed or resolved with job_request_fini.
 */
#ifndef TESTS_API_JOB_FIXTURE_H
#define TESTS_API_JOB_FIXTURE_H

#include <string.h>

#include "api/requests/job_defaults.h"
#include "tests/api/verdict_fixture.h"
#include "engine/data/readers/reader_registry.h"

#define JOB                                                                            \
    "{\"dataset\":\"mnist\",\"evaluation\":\"mnist-test\","                            \
    "\"model\":{\"preset\":\"mlp\",\"hidden\":[128],\"activation\":\"relu\"},"         \
    "\"algorithm\":{\"name\":\"dpsgd\",\"clip_norm\":1.5},"                            \
    "\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0},"         \
    "\"batch_size\":1024,\"epochs\":20,\"privacy\":{\"epsilon\":2}}"
#define SHORT                                                                          \
    "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\"},"                            \
    "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":2}}"
#define LAYERS                                                                         \
    "{\"dataset\":\"d\",\"model\":{\"layers\":[{\"type\":\"dense\",\"out\":32},"       \
    "{\"type\":\"tanh\"},{\"type\":\"dense\",\"out\":10,\"bias\":false}]},"            \
    "\"algorithm\":{\"name\":\"dpsgd\"},\"optimizer\":{\"name\":\"adam\"},"            \
    "\"privacy\":{\"noise_multiplier\":1.25}}"
#define OPEN                                                                           \
    "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\"},"                            \
    "\"algorithm\":{\"name\":\"sgd\"}}"

static const struct schema images = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {1, 28, 28},
                                     .scale = 255};
static const struct schema pairs = {.reader = &libsvm_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 2,
                                    .feature_count = 123};
static const struct schema prices = {.reader = &libsvm_reader,
                                     .task = TASK_REGRESSION,
                                     .feature_count = 8,
                                     .has_target_range = true,
                                     .target_low = 0,
                                     .target_high = 5};

static inline struct job_dataset private_data(const struct schema *schema,
                                              uint64_t records)
{
    return (struct job_dataset){schema, records,           0,   {0, 0},
                                false,  RELATION_ZERO_OUT, 1e-5};
}

static inline struct job_dataset public_data(const struct schema *schema,
                                             uint64_t records)
{
    return (struct job_dataset){schema, records, 0, {0, 0}, true, RELATION_ZERO_OUT, 0};
}

static inline void must_parse(struct job_request *request, const char *body)
{
    struct error error = {0};
    assert_taken(job_request_parse(request, json_text_of(body), &error), body, &error);
}

static inline void must_resolve(struct job_request *request, const char *body,
                                struct job_dataset dataset)
{
    struct error error = {0};
    must_parse(request, body);
    assert_taken(job_defaults_fill(request, &dataset, &error), body, &error);
}

#endif
