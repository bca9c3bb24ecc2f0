/*
 * vectors_fixture.h - tiny public models of tokens with their answers in float64, from
 * ../shared/vectors/deep. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_VECTORS_FIXTURE_H
#define TESTS_ENGINE_VECTORS_FIXTURE_H

#include <math.h>
#include <string.h>

#include <jansson.h>

static inline json_t *vectors(const char *name)
{
    char path[1024], file[64];
    snprintf(file, sizeof file, "vectors/deep/%s.json", name);
    shared_path(path, file);
    json_t *known = json_load_file(path, 0, NULL);
    assert_non_null(known);
    return known;
}

static inline void weights_path(char path[1024], const char *name)
{
    char file[64];
    snprintf(file, sizeof file, "vectors/deep/%s.safetensors", name);
    shared_path(path, file);
}

static inline uint32_t number(const json_t *config, const char *name)
{
    return (uint32_t)json_integer_value(json_object_get(config, name));
}

static inline size_t ids_of(const json_t *record, float *ids)
{
    const json_t *list = json_object_get(record, "ids");
    for (size_t t = 0; t < json_array_size(list); t++)
        ids[t] = (float)json_integer_value(json_array_get(list, t));
    return json_array_size(list);
}

static inline double logit(const json_t *expected, size_t record, size_t j)
{
    return json_real_value(json_array_get(json_array_get(expected, record), j));
}

/* The largest error of a difference of outputs, divided by the largest output. The
 * engine gives the softmax of its outputs, in which only differences remain.
 *   shares  (records, classes) */
static inline double worst(const double *shares, const json_t *expected, size_t classes)
{
    double error = 0, most = 0;
    for (size_t i = 0; i < json_array_size(expected); i++)
        for (size_t j = 0; j < classes; j++) {
            const double *own = shares + i * classes;
            double difference = logit(expected, i, j) - logit(expected, i, 0);
            error = fmax(error, fabs(log(own[j] / own[0]) - difference));
            most = fmax(most, fabs(logit(expected, i, j)));
        }
    return error / most;
}

#endif
