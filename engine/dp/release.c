#include "engine/dp/release.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/parallel/span.h"

enum status release_init(struct release *release, struct team *team,
                         const struct noise_key *key, size_t dim, struct error *error)
{
    *release = (struct release){.team = team, .key = key};
    release->noises = calloc(team_size(team), sizeof(struct noise *));
    release->gradient = calloc(dim, sizeof *release->gradient);
    if (release->noises == NULL || release->gradient == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", dim);
    for (unsigned k = 0; k < team_size(team); k++)
        release->noises[k] = noise_create();
    return ST_OK;
}

void release_fini(struct release *release)
{
    for (unsigned k = 0; release->noises != NULL && k < team_size(release->team); k++)
        noise_destroy(release->noises[k]);
    free(release->noises);
    free(release->gradient);
    *release = (struct release){0};
}

void release_begin_step(struct release *release)
{
    release->query = 0;
}

/* The address of the next release. */
static struct noise_address address_of(struct release *release)
{
    return (struct noise_address){release->key, release->query++};
}

/* The work that all members do on their spans of a sum. */
struct release_work {
    struct release *release;
    struct reduction *reduction;
    struct noise_release noise;
    const struct release_use *use; /* NULL: the gradient is kept */
    double unit;                   /* of a public sum */
};

/* A member's part of the slice that this process releases. */
static struct span part_of(const struct release_work *work, unsigned member)
{
    return span_part(work->reduction->slice, member, team_size(work->release->team),
                     NOISE_CHUNK);
}

/* The cost of a coordinate, counted as in team.h; noise costs more than any use of the
 * gradient. */
enum { NOISE_FLOPS = 100, AVERAGE_FLOPS = 20 };

/* The number of coordinates that are released and used at a time: their parts of the
 * vectors stay in the second-level cache. */
enum { AT_ONCE = 16 * NOISE_CHUNK };

static void run_on_spans(struct release *release,
                         void (*run)(void *context, unsigned member),
                         struct release_work *work, int flops)
{
    size_t count = work->reduction->slice.count;
    team_run(release->team,
             &(struct team_work){.run = run,
                                 .context = work,
                                 .shares = span_shares(count, NOISE_CHUNK),
                                 .flops = flops * (double)count});
}

static void release_member(void *context, unsigned member)
{
    const struct release_work *work = context;
    struct release *release = work->release;
    struct span part = part_of(work, member);
    float *out = release->gradient + part.first;
    for (size_t done = 0; done < part.count; done += AT_ONCE) {
        size_t left = part.count - done;
        struct span span = {part.first + done, left < AT_ONCE ? left : AT_ONCE};
        int64_t *sum = work->reduction->sum + span.first;
        noise_release(release->noises[member], out, sum, span, &work->noise);
        memset(sum, 0, span.count * sizeof *sum);
        if (work->use != NULL)
            work->use->run(work->use->context, out, span);
        else
            out += span.count;
    }
}

void release_sum(struct release *release, struct reduction *reduction,
                 const struct grid *grid, double divisor, const struct release_use *use)
{
    struct release_work work = {
        .release = release,
        .reduction = reduction,
        .noise = {.address = address_of(release), .grid = grid, .divisor = divisor},
        .use = use};
    reduction_meet(reduction);
    run_on_spans(release, release_member, &work, NOISE_FLOPS);
    reduction->has_met = false;
}

void release_counts(struct release *release, struct reduction *reduction, size_t bins,
                    const struct grid *grid, double *out)
{
    int64_t counts[HISTOGRAM_BINS_MAX];
    const struct group *group = reduction->group;
    struct noise_release noise = {
        .address = address_of(release), .grid = grid, .divisor = 1};
    for (size_t j = 0; j < bins; j++)
        counts[j] = atomic_exchange(&reduction->counts[j], 0);
    group_collect(group, counts, bins);
    if (group->rank == 0)
        noise_release_counts(release->noises[0], out, counts, bins, &noise);
    hash_zero(counts, sizeof counts);
    group_tell(group, out, bins * sizeof *out);
}

double release_norm(struct release *release, struct reduction *reduction,
                    const struct norm_grid *norm)
{
    static const struct grid whole = {.scale = 1};
    const struct group *group = reduction->group;
    const struct span slice = reduction->slice;
    double released;
    struct noise_release noise = {
        .address = address_of(release), .grid = &whole, .divisor = norm->scale};
    reduction_meet(reduction);
    struct norm_squares squares =
        norm_squares_of(reduction->sum + slice.first, slice.count);
    group_collect(group, squares.limbs, NORM_LIMBS);
    int64_t steps = norm_measure(norm, &squares);
    if (group->rank == 0)
        noise_release_counts(release->noises[0], &released, &steps, 1, &noise);
    hash_zero(&steps, sizeof steps);
    hash_zero(&squares, sizeof squares);
    group_tell(group, &released, sizeof released);
    return released;
}

static void average_member(void *context, unsigned member)
{
    const struct release_work *work = context;
    struct span span = part_of(work, member);
    int64_t *sum = work->reduction->sum + span.first;
    float *out = work->release->gradient + span.first;
    for (size_t j = 0; j < span.count; j++)
        out[j] = (float)((double)sum[j] * work->unit);
    memset(sum, 0, span.count * sizeof *sum);
}

void release_average(struct release *release, struct reduction *reduction,
                     const struct grid *grid, double divisor)
{
    struct release_work work = {.release = release,
                                .reduction = reduction,
                                .unit = 1 / (grid->scale * divisor)};
    run_on_spans(release, average_member, &work, AVERAGE_FLOPS);
}
