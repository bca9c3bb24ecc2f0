/* The algorithm (Rao 1961, Sandelius 1962): each item goes to one of 256 buckets,
 * chosen uniformly and independently. Then each bucket is separately put into a
 * uniformly random order (Fisher and Yates), and the buckets are concatenated. All
 * orders of n items are equally likely, because the buckets are the first digit of
 * independent random numbers by which the items are sorted, and ties are broken
 * uniformly.
 *
 * Choosing the bucket of an item does not need n, and buckets are read after all items
 * were added. Each bucket collects a chunk of items in memory, which is appended to one
 * file when it is full. So the file is written sequentially, and a bucket is read chunk
 * by chunk. There is no seek per item, however large the file is. */
#include "engine/data/shuffle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

enum {
    BUCKETS = 256,         /* a byte of the stream chooses one */
    CHUNK_SIZE = 16 << 10, /* bytes of a chunk, unless an item is longer */
    WORDS = 1 << 10,       /* words drawn at a time; whole blocks */
    PATH_SIZE = 4096,
    CHUNKS_FIRST = 4,
};

/* The nonces of the stream: one for the buckets of all items, one for each bucket's
 * order. */
enum { NONCE_BUCKETS, NONCE_FIRST_ORDER };

struct bucket {
    /* (items_a_chunk) the items that are not in the file yet; NULL: the bucket never
     * had items */
    char *held;
    size_t held_count;
    uint32_t *chunks; /* (chunk_count) their places in the file, in chunks */
    size_t chunk_count, chunk_room;
};

struct draws { /* the words of one nonce, in order */
    uint64_t nonce, block;
    size_t at;
    uint32_t words[WORDS];
};

struct shuffle {
    char path[PATH_SIZE];
    size_t item_size, items_a_chunk, chunk_size;
    uint8_t key[STREAM_KEY_SIZE];
    struct stream *stream;
    struct draws draws;
    uint8_t choices[sizeof(uint32_t)]; /* of buckets, of the last word */
    uint64_t count;                    /* items added */
    int file;                          /* -1: memory holds all items so far */
    uint32_t chunk_count;              /* of the file */
    struct bucket buckets[BUCKETS];

    char *map; /* the file, while items are read; NULL: there is none */
    size_t map_size;
    bool is_reading;
    size_t reading;  /* the bucket that is being read */
    uint32_t *order; /* (left) the items of that bucket that are not read yet */
    size_t left, order_size;
};

static enum status io_failed(struct error *error)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return error_set(error, full ? ST_DISK_FULL : ST_IO,
                     "the records cannot be put in order: %s", strerror(errno));
}

static enum status no_memory(struct error *error)
{
    return error_set(error, ST_NO_MEMORY, "no memory to put the records in order");
}

/* --- the random words --- */

static void begin_draws(struct shuffle *shuffle, uint64_t nonce)
{
    shuffle->draws.nonce = nonce;
    shuffle->draws.block = 0;
    shuffle->draws.at = WORDS;
}

static uint32_t draw(struct shuffle *shuffle)
{
    struct draws *draws = &shuffle->draws;
    if (draws->at == WORDS) {
        const struct stream_position from = {shuffle->key, draws->nonce, draws->block};
        stream_read(shuffle->stream, draws->words, sizeof draws->words, &from);
        draws->block += sizeof draws->words / STREAM_BLOCK_SIZE;
        draws->at = 0;
    }
    return draws->words[draws->at++];
}

/* Returns an exactly uniform number below bound, which is > 0, by the method of Lemire
 * 2019 with rejection. */
static uint32_t draw_below(struct shuffle *shuffle, uint32_t bound)
{
    uint32_t refused = -bound % bound; /* 2^32 mod bound */
    for (;;) {
        uint64_t product = (uint64_t)draw(shuffle) * bound;
        if ((uint32_t)product >= refused)
            return (uint32_t)(product >> 32);
    }
}

/* Draws the bucket of the next item. */
static size_t draw_bucket(struct shuffle *shuffle)
{
    size_t byte = shuffle->count % sizeof shuffle->choices;
    if (byte == 0) {
        uint32_t word = draw(shuffle);
        memcpy(shuffle->choices, &word, sizeof word);
    }
    return shuffle->choices[byte];
}

/* --- adding items --- */

struct shuffle *shuffle_create(const struct shuffle_spec *spec)
{
    CHECK(spec->item_size > 0);
    struct shuffle *shuffle = calloc(1, sizeof *shuffle);
    if (shuffle == NULL)
        return NULL;
    CHECK((size_t)snprintf(shuffle->path, PATH_SIZE, "%s", spec->path) < PATH_SIZE);
    shuffle->item_size = spec->item_size;
    shuffle->items_a_chunk =
        spec->item_size < CHUNK_SIZE ? CHUNK_SIZE / spec->item_size : 1;
    shuffle->chunk_size = shuffle->items_a_chunk * spec->item_size;
    memcpy(shuffle->key, spec->key, sizeof shuffle->key);
    shuffle->stream = stream_create();
    shuffle->file = -1;
    begin_draws(shuffle, NONCE_BUCKETS);
    return shuffle;
}

static void forget_order(struct shuffle *shuffle)
{
    if (shuffle->order != NULL)
        hash_zero(shuffle->order, shuffle->order_size);
    free(shuffle->order);
    shuffle->order = NULL;
}

void shuffle_destroy(struct shuffle *shuffle)
{
    if (shuffle == NULL)
        return;
    for (size_t b = 0; b < BUCKETS; b++) {
        free(shuffle->buckets[b].held);
        free(shuffle->buckets[b].chunks);
    }
    if (shuffle->map != NULL)
        munmap(shuffle->map, shuffle->map_size);
    if (shuffle->file >= 0)
        close(shuffle->file);
    forget_order(shuffle);
    stream_destroy(shuffle->stream);
    hash_zero(shuffle, sizeof *shuffle);
    free(shuffle);
}

static enum status file_open(struct shuffle *shuffle, struct error *error)
{
    if (shuffle->file >= 0)
        return ST_OK;
    shuffle->file = open(shuffle->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (shuffle->file < 0 || unlink(shuffle->path) != 0)
        return io_failed(error);
    return ST_OK;
}

static enum status append(struct shuffle *shuffle, const char *chunk,
                          struct error *error)
{
    enum status status = file_open(shuffle, error);
    size_t left = shuffle->chunk_size;
    while (left > 0 && status == ST_OK) {
        ssize_t done = write(shuffle->file, chunk, left);
        if (done < 0 && errno != EINTR)
            return io_failed(error);
        if (done > 0) {
            chunk += done;
            left -= (size_t)done;
        }
    }
    return status;
}

/* Appends a full chunk of the bucket to the file. */
static enum status write_chunk(struct shuffle *shuffle, struct bucket *bucket,
                               const char *chunk, struct error *error)
{
    if (bucket->chunk_count == bucket->chunk_room) {
        size_t room = bucket->chunk_room > 0 ? 2 * bucket->chunk_room : CHUNKS_FIRST;
        uint32_t *chunks = realloc(bucket->chunks, room * sizeof *chunks);
        if (chunks == NULL)
            return no_memory(error);
        bucket->chunks = chunks;
        bucket->chunk_room = room;
    }
    enum status status = append(shuffle, chunk, error);
    if (status == ST_OK)
        bucket->chunks[bucket->chunk_count++] = shuffle->chunk_count++;
    return status;
}

static enum status add_one(struct shuffle *shuffle, const char *item,
                           struct error *error)
{
    struct bucket *bucket = &shuffle->buckets[draw_bucket(shuffle)];
    shuffle->count++;
    if (shuffle->items_a_chunk == 1)
        return write_chunk(shuffle, bucket, item, error);
    if (bucket->held == NULL)
        bucket->held = malloc(shuffle->chunk_size);
    if (bucket->held == NULL)
        return no_memory(error);
    memcpy(bucket->held + bucket->held_count * shuffle->item_size, item,
           shuffle->item_size);
    if (++bucket->held_count < shuffle->items_a_chunk)
        return ST_OK;
    bucket->held_count = 0;
    return write_chunk(shuffle, bucket, bucket->held, error);
}

enum status shuffle_add(struct shuffle *shuffle, const void *items, size_t count,
                        struct error *error)
{
    CHECK(!shuffle->is_reading && shuffle->count + count <= UINT32_MAX);
    const char *at = items;
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i++, at += shuffle->item_size)
        status = add_one(shuffle, at, error);
    return status;
}

/* --- reading items in random order --- */

static enum status file_map(struct shuffle *shuffle, struct error *error)
{
    if (shuffle->chunk_count == 0)
        return ST_OK;
    shuffle->map_size = shuffle->chunk_count * shuffle->chunk_size;
    void *map = mmap(NULL, shuffle->map_size, PROT_READ, MAP_SHARED, shuffle->file, 0);
    if (map == MAP_FAILED)
        return io_failed(error);
    madvise(map, shuffle->map_size, MADV_DONTDUMP);
    shuffle->map = map;
    return ST_OK;
}

/* Makes the kernel read the chunks of a bucket before they are needed. */
static void expect_bucket(const struct shuffle *shuffle, const struct bucket *bucket)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t k = 0; k < bucket->chunk_count; k++) {
        uint64_t begin = bucket->chunks[k] * (uint64_t)shuffle->chunk_size;
        uint64_t skipped = begin % page;
        madvise(shuffle->map + begin - skipped, shuffle->chunk_size + skipped,
                MADV_WILLNEED);
    }
}

/* Puts the items of the bucket that is being read into a random order. */
static enum status order_bucket(struct shuffle *shuffle, struct error *error)
{
    const struct bucket *bucket = &shuffle->buckets[shuffle->reading];
    size_t count = bucket->chunk_count * shuffle->items_a_chunk + bucket->held_count;
    forget_order(shuffle);
    shuffle->order = calloc(count + 1, sizeof *shuffle->order);
    if (shuffle->order == NULL)
        return no_memory(error);
    begin_draws(shuffle, NONCE_FIRST_ORDER + shuffle->reading);
    for (uint32_t i = 0; i < count; i++) { /* to a random place among those before */
        uint32_t place = draw_below(shuffle, i + 1);
        shuffle->order[i] = shuffle->order[place];
        shuffle->order[place] = i;
    }
    shuffle->order_size = (count + 1) * sizeof *shuffle->order;
    shuffle->left = count;
    expect_bucket(shuffle, bucket);
    return ST_OK;
}

static const void *item_at(const struct shuffle *shuffle, uint32_t index)
{
    const struct bucket *bucket = &shuffle->buckets[shuffle->reading];
    size_t chunk = index / shuffle->items_a_chunk,
           place = index % shuffle->items_a_chunk;
    const char *items =
        chunk < bucket->chunk_count
            ? shuffle->map + bucket->chunks[chunk] * (uint64_t)shuffle->chunk_size
            : bucket->held;
    return items + place * shuffle->item_size;
}

static enum status begin_reading(struct shuffle *shuffle, struct error *error)
{
    if (shuffle->is_reading)
        return ST_OK;
    enum status status = file_map(shuffle, error);
    if (status == ST_OK)
        status = order_bucket(shuffle, error);
    shuffle->is_reading = status == ST_OK;
    return status;
}

enum status shuffle_next(struct shuffle *shuffle, const void **item,
                         struct error *error)
{
    enum status status = begin_reading(shuffle, error);
    while (status == ST_OK && shuffle->left == 0) {
        *item = NULL;
        if (shuffle->reading + 1 == BUCKETS)
            return ST_OK;
        shuffle->reading++;
        status = order_bucket(shuffle, error);
    }
    if (status == ST_OK)
        *item = item_at(shuffle, shuffle->order[--shuffle->left]);
    return status;
}
