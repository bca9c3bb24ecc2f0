#include "engine/sampling/partition.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/sampling/word_stream.h"

__extension__ typedef unsigned __int128 wide;

/* A number that is uniform in [0, count) to within 2^-64 count. */
static size_t draw_below(struct word_stream *words, size_t count)
{
    return (size_t)((wide)word_stream_next(words) * count >> 64);
}

enum status partition_init(struct partition *partition, size_t records,
                           struct error *error)
{
    *partition = (struct partition){.records = records};
    partition->batch_of = calloc(records, sizeof *partition->batch_of);
    if (partition->batch_of == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to deal %zu records", records);
    return ST_OK;
}

void partition_fini(struct partition *partition)
{
    if (partition->batch_of != NULL)
        hash_zero(partition->batch_of,
                  partition->records * sizeof *partition->batch_of);
    free(partition->batch_of);
    *partition = (struct partition){0};
}

void partition_deal(struct partition *partition, size_t batches,
                    const struct noise_key *key)
{
    uint32_t *batch_of = partition->batch_of;
    struct word_stream words;
    CHECK(batches > 0 && batches <= partition->records);
    for (size_t i = 0; i < partition->records; i++)
        batch_of[i] = (uint32_t)((wide)i * batches / partition->records);
    word_stream_open(&words, key, NONCE_PARTITION);
    for (size_t i = partition->records; i > 1; i--) {
        size_t j = draw_below(&words, i);
        uint32_t kept = batch_of[i - 1];
        batch_of[i - 1] = batch_of[j];
        batch_of[j] = kept;
    }
    word_stream_close(&words);
}

size_t partition_take(const struct partition *partition, uint32_t *indices,
                      size_t batch)
{
    size_t count = 0;
    for (size_t i = 0; i < partition->records; i++)
        if (partition->batch_of[i] == batch)
            indices[count++] = (uint32_t)i;
    return count;
}
