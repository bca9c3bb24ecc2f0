#include "engine/sampling/partition.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

enum { WORDS = 512, BLOCKS = WORDS * 8 / STREAM_BLOCK_SIZE };

__extension__ typedef unsigned __int128 wide;

struct words { /* the words of a key's stream, drawn a few at a time */
    struct stream *stream;
    const struct noise_key *key;
    uint64_t at[WORDS], block;
    size_t next;
};

/* A number that is uniform in [0, count) to within 2^-64 count. */
static size_t word_below(struct words *words, size_t count)
{
    if (words->next == WORDS) {
        const struct stream_position from = {words->key->bytes, 2, words->block};
        stream_read(words->stream, words->at, sizeof words->at, &from);
        words->block += BLOCKS;
        words->next = 0;
    }
    return (size_t)((wide)words->at[words->next++] * count >> 64);
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
    struct words words = {.stream = stream_create(), .key = key, .next = WORDS};
    CHECK(batches > 0 && batches <= partition->records);
    for (size_t i = 0; i < partition->records; i++)
        batch_of[i] = (uint32_t)((wide)i * batches / partition->records);
    for (size_t i = partition->records; i > 1; i--) {
        size_t j = word_below(&words, i);
        uint32_t kept = batch_of[i - 1];
        batch_of[i - 1] = batch_of[j];
        batch_of[j] = kept;
    }
    stream_destroy(words.stream);
    hash_zero(&words, sizeof words);
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
