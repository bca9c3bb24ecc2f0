#include "engine/dp/average.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/span.h"
#include "engine/parallel/vector_math.h"

enum {
    CHUNK = 16384,   /* floats: members do not share cache lines */
    MOVE_FLOPS = 10, /* of a float, as team.h counts: memory-bound */
};

struct average {
    struct averaging_spec spec;
    struct average_extent extent;
    uint64_t first; /* the first step whose point counts */
    bool has_point;
    float *point; /* (floats) */
    struct team *team;
};

const char *const averaging_kind_names[] = {[AVERAGING_NONE] = "none",
                                            [AVERAGING_TAIL] = "tail",
                                            [AVERAGING_EMA] = "ema",
                                            NULL};

size_t average_size(const struct averaging_spec *spec, size_t floats)
{
    return spec->kind == AVERAGING_NONE ? 0 : floats * sizeof(float);
}

/* The number of steps before the first that is averaged. The tail has at least one
 * step. */
static uint64_t skipped(const struct averaging_spec *spec, uint64_t steps)
{
    if (spec->kind != AVERAGING_TAIL)
        return 0;
    uint64_t tail = (uint64_t)ceil(spec->share * (double)steps);
    tail = tail > steps ? steps : tail;
    return steps - (tail > 0 ? tail : 1);
}

enum status average_create(struct average **out, const struct averaging_spec *spec,
                           struct average_extent extent, uint64_t steps,
                           struct team *team, struct error *error)
{
    if (spec->kind == AVERAGING_NONE)
        return ST_OK;
    struct average *average = calloc(1, sizeof *average);
    CHECK(average != NULL && steps > 0);
    *average = (struct average){
        .spec = *spec, .extent = extent, .first = skipped(spec, steps), .team = team};
    average->point = calloc(extent.floats, sizeof *average->point);
    if (average->point == NULL) {
        average_destroy(average);
        return error_set(error, ST_NO_MEMORY, "no memory to average %zu parameters",
                         extent.floats);
    }
    *out = average;
    return ST_OK;
}

void average_destroy(struct average *average)
{
    if (average == NULL)
        return;
    free(average->point);
    free(average);
}

/* The weight of the point after step; the first averaged point has weight 1. */
static double weight_of(const struct average *average, uint64_t step)
{
    uint64_t count = step - average->first + 1;
    if (average->spec.kind == AVERAGING_TAIL)
        return 1 / (double)count;
    double decay = average->spec.decay;
    return (1 - decay) / (1 - pow(decay, (double)count));
}

struct take_work {
    struct average *average;
    const float *point;
    double weight;
};

VECTOR_CLONES
static void move_towards(float *restrict a, const float *restrict p, size_t count,
                         double weight)
{
    for (size_t j = 0; j < count; j++)
        a[j] = (float)((double)a[j] + weight * ((double)p[j] - (double)a[j]));
}

static void take_member(void *context, unsigned member)
{
    const struct take_work *work = context;
    struct average *average = work->average;
    struct span span =
        span_of_member(member, team_size(average->team), average->extent.dim, CHUNK);
    move_towards(average->point + span.first, work->point + span.first, span.count,
                 work->weight);
}

void average_take(struct average *average, const float *point, uint64_t step)
{
    struct take_work work = {.average = average, .point = point};
    if (average == NULL || step < average->first)
        return;
    if (!average->has_point) {
        memcpy(average->point, point, average->extent.floats * sizeof *point);
        average->has_point = true;
        return;
    }
    work.weight = weight_of(average, step);
    size_t dim = average->extent.dim;
    team_run(average->team, &(struct team_work){.run = take_member,
                                                .context = &work,
                                                .shares = span_shares(dim, CHUNK),
                                                .flops = MOVE_FLOPS * (double)dim});
}

const float *average_point(const struct average *average)
{
    return average != NULL && average->has_point ? average->point : NULL;
}
