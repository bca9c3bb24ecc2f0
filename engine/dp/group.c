#include "engine/dp/group.h"

#include "engine/noise/noise_chunk.h"

const struct group group_alone = {.size = 1};

struct index_range group_records(const struct group *group, const struct grid *grid)
{
    if (group->size == 1)
        return (struct index_range){0, (size_t)grid->records};
    uint64_t cell = grid->cells * group->rank / group->size;
    uint64_t end = grid->cells * (group->rank + 1) / group->size;
    size_t first = (size_t)grid_cell_start(grid, cell);
    return (struct index_range){first, (size_t)grid_cell_start(grid, end) - first};
}

struct span group_slice(const struct group *group, unsigned rank, size_t dim)
{
    return span_of_member(rank, group->size, dim, NOISE_CHUNK);
}

void group_meet(const struct group *group, int64_t *sum, size_t dim)
{
    if (group->size > 1)
        group->calls->meet(group->context, sum, dim);
}

void group_collect(const struct group *group, int64_t *numbers, size_t count)
{
    if (group->size > 1)
        group->calls->collect(group->context, numbers, count);
}

void group_tell(const struct group *group, void *bytes, size_t size)
{
    if (group->size > 1)
        group->calls->tell(group->context, bytes, size);
}

void group_gather(const struct group *group, float *vector, size_t dim)
{
    if (group->size > 1)
        group->calls->gather(group->context, vector, dim);
}

bool group_all(const struct group *group, bool mine)
{
    return group->size > 1 ? group->calls->all(group->context, mine) : mine;
}
