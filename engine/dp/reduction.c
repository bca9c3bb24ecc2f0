#include "engine/dp/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/huge_alloc.h"

enum status reduction_init(struct reduction *reduction, const struct network *network,
                           const struct group *group, bool has_error_memory,
                           struct error *error)
{
    size_t dim = network_parameters(network), tiles = network_tile_count(network);
    *reduction = (struct reduction){.network = network,
                                    .group = group,
                                    .dim = dim,
                                    .slice = group_slice(group, group->rank, dim)};
    reduction->sum = huge_alloc_zeroed(dim, sizeof *reduction->sum);
    reduction->locks = calloc(tiles, sizeof *reduction->locks);
    if (has_error_memory)
        reduction->error_memory =
            huge_alloc_zeroed(dim, sizeof *reduction->error_memory);
    if (reduction->sum == NULL || reduction->locks == NULL ||
        (has_error_memory && reduction->error_memory == NULL))
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", dim);
    for (; reduction->lock_count < tiles; reduction->lock_count++)
        pthread_mutex_init(&reduction->locks[reduction->lock_count], NULL);
    return ST_OK;
}

void reduction_fini(struct reduction *reduction)
{
    for (size_t k = 0; k < reduction->lock_count; k++)
        pthread_mutex_destroy(&reduction->locks[k]);
    if (reduction->sum != NULL)
        hash_zero(reduction->sum, reduction->dim * sizeof *reduction->sum);
    if (reduction->error_memory != NULL)
        hash_zero(reduction->error_memory,
                  reduction->dim * sizeof *reduction->error_memory);
    free(reduction->locks);
    free(reduction->sum);
    free(reduction->error_memory);
    hash_zero(reduction, sizeof *reduction);
}

uint64_t reduction_size(const struct network *network)
{
    return network_parameters(network) * sizeof(int64_t) +
           network_tile_count(network) * sizeof(pthread_mutex_t);
}

void reduction_add(struct reduction *reduction, int64_t *to, size_t tile,
                   const float *block, const struct grid *grid)
{
    struct tile place = network_tile(reduction->network, tile);
    pthread_mutex_lock(&reduction->locks[tile]);
    grid_add(grid, to + place.offset, block, place.count);
    pthread_mutex_unlock(&reduction->locks[tile]);
}

/* The first lock serves all of them: no tile is added to the same sum. */
void reduction_add_integers(struct reduction *reduction, const int64_t *part,
                            size_t count)
{
    pthread_mutex_lock(&reduction->locks[0]);
    for (size_t j = 0; j < count; j++)
        reduction->sum[j] = (int64_t)((uint64_t)reduction->sum[j] + (uint64_t)part[j]);
    pthread_mutex_unlock(&reduction->locks[0]);
}

void reduction_count(struct reduction *reduction, const int64_t *counts, size_t bins)
{
    for (size_t j = 0; j < bins; j++)
        atomic_fetch_add(&reduction->counts[j], counts[j]);
}

void reduction_meet(struct reduction *reduction)
{
    if (reduction->has_met)
        return;
    group_meet(reduction->group, reduction->sum, reduction->dim);
    reduction->has_met = true;
}

void reduction_clear(struct reduction *reduction)
{
    reduction->has_met = false;
    memset(reduction->sum, 0, reduction->dim * sizeof *reduction->sum);
    for (size_t j = 0; j < HISTOGRAM_BINS_MAX; j++)
        atomic_store(&reduction->counts[j], 0);
}
