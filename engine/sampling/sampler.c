#include "engine/sampling/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum { COIN_FLOPS = 16 }; /* of a record, as team.h counts: a byte of key stream */

struct sampler {
    struct team *team;
    struct poisson **poissons; /* (team size) */
    size_t *counts;            /* (team size) number of indices that each has drawn */
};

struct sampler *sampler_create(struct team *team)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);
    unsigned size = team_size(team);
    CHECK(sampler != NULL);
    sampler->team = team;
    sampler->poissons = calloc(size, sizeof(struct poisson *));
    sampler->counts = calloc(size, sizeof *sampler->counts);
    CHECK(sampler->poissons != NULL && sampler->counts != NULL);
    for (unsigned k = 0; k < size; k++)
        sampler->poissons[k] = poisson_create();
    return sampler;
}

void sampler_destroy(struct sampler *sampler)
{
    if (sampler == NULL)
        return;
    unsigned size = team_size(sampler->team);
    for (unsigned k = 0; k < size; k++)
        poisson_destroy(sampler->poissons[k]);
    hash_zero(sampler->counts, size * sizeof *sampler->counts);
    free(sampler->counts);
    free(sampler->poissons);
    free(sampler);
}

struct draw {
    struct sampler *sampler;
    uint32_t *indices;
    struct poisson_range range;
    double rate;
    const struct noise_key *key;
};

static uint32_t count_of(const struct poisson_range *range)
{
    return range->end - range->first;
}

static size_t part_count(const struct poisson_range *range)
{
    return ((size_t)count_of(range) + POISSON_PART - 1) / POISSON_PART;
}

static uint32_t first_of(const struct draw *draw, unsigned member)
{
    unsigned size = team_size(draw->sampler->team);
    const struct poisson_range *all = &draw->range;
    uint64_t first = all->first + part_count(all) * member / size * POISSON_PART;
    return first < all->end ? (uint32_t)first : all->end;
}

static void draw_member(void *context, unsigned member)
{
    const struct draw *draw = context;
    struct poisson_range range = {first_of(draw, member), first_of(draw, member + 1)};
    size_t *count = &draw->sampler->counts[member];
    *count = 0;
    if (range.first < range.end)
        *count = poisson_draw_range(draw->sampler->poissons[member],
                                    draw->indices + (range.first - draw->range.first),
                                    range, draw->rate, draw->key);
}

/* Removes the indices before first, which were drawn because a part is always drawn
 * from its start. */
static size_t leave_out(uint32_t *indices, size_t drawn, size_t first)
{
    size_t before = 0;
    while (before < drawn && indices[before] < first)
        before++;
    if (before == 0)
        return drawn;
    memmove(indices, indices + before, (drawn - before) * sizeof *indices);
    hash_zero(indices + (drawn - before), before * sizeof *indices);
    return drawn - before;
}

size_t sampler_draw(struct sampler *sampler, uint32_t *indices,
                    struct index_range range, double rate, const struct noise_key *key)
{
    struct draw draw = {.sampler = sampler,
                        .indices = indices,
                        .range = {(uint32_t)(range.first / POISSON_PART * POISSON_PART),
                                  (uint32_t)(range.first + range.count)},
                        .rate = rate,
                        .key = key};
    size_t drawn = 0;
    team_run(sampler->team,
             &(struct team_work){.run = draw_member,
                                 .context = &draw,
                                 .shares = part_count(&draw.range),
                                 .flops = COIN_FLOPS * (double)count_of(&draw.range)});
    for (unsigned k = 0; k < team_size(sampler->team); k++) {
        size_t first = first_of(&draw, k) - draw.range.first;
        size_t count = sampler->counts[k], end = drawn + count;
        size_t left = first > end ? first : end; /* zeroed from here on */
        memmove(indices + drawn, indices + first, count * sizeof *indices);
        if (left < first + count)
            hash_zero(indices + left, (first + count - left) * sizeof *indices);
        drawn = end;
    }
    return leave_out(indices, drawn, range.first);
}
