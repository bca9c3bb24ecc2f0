#include "engine/dp/algorithms/diff2_shards.h"

#include "base/check.h"

__extension__ typedef unsigned __int128 wide;

static size_t start_of(const struct diff2_shards *shards, uint64_t client)
{
    return (size_t)((wide)shards->records * client / shards->clients);
}

struct index_range diff2_shards_range(const struct diff2_shards *shards,
                                      uint64_t client)
{
    CHECK(client < shards->clients && shards->clients <= shards->records);
    size_t first = start_of(shards, client);
    return (struct index_range){first, start_of(shards, client + 1) - first};
}

uint64_t diff2_shards_least(const struct diff2_shards *shards)
{
    return shards->records / shards->clients;
}

double diff2_shards_share(const struct diff2_shards *shards, uint64_t client)
{
    return (double)diff2_shards_least(shards) /
           (double)diff2_shards_range(shards, client).count;
}
