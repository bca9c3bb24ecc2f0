#include "engine/dp/algorithms/shards.h"

#include "base/check.h"

__extension__ typedef unsigned __int128 wide;

static size_t start_of(const struct shards *shards, uint64_t client)
{
    return (size_t)((wide)shards->records * client / shards->clients);
}

struct index_range shards_range(const struct shards *shards, uint64_t client)
{
    CHECK(client < shards->clients && shards->clients <= shards->records);
    size_t first = start_of(shards, client);
    return (struct index_range){first, start_of(shards, client + 1) - first};
}

uint64_t shards_least(const struct shards *shards)
{
    return shards->records / shards->clients;
}

double shards_share(const struct shards *shards, uint64_t client)
{
    return (double)shards_least(shards) / (double)shards_range(shards, client).count;
}
