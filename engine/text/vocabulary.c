#include "engine/text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const char *bytes;
    uint32_t size, id;
};

struct vocabulary {
    char *bytes; /* of all tokens */
    uint32_t count;
    struct entry entries[]; /* sorted by bytes; a token before those it begins */
};

static int entry_compare(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    uint32_t size = left->size < right->size ? left->size : right->size;
    int order = memcmp(left->bytes, right->bytes, size);
    return order != 0 ? order : (left->size > right->size) - (left->size < right->size);
}

static enum status find_repeated(const struct vocabulary *v, uint32_t repeated[2])
{
    for (uint32_t i = 1; i < v->count; i++) {
        const struct entry *one = &v->entries[i - 1], *other = &v->entries[i];
        if (entry_compare(one, other) != 0)
            continue;
        repeated[0] = one->id < other->id ? one->id : other->id;
        repeated[1] = one->id < other->id ? other->id : one->id;
        return ST_INVALID;
    }
    return ST_OK;
}

enum status vocabulary_create(struct vocabulary **out, const struct token *tokens,
                              uint32_t count, uint32_t repeated[2])
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += tokens[i].size;
    struct vocabulary *v = calloc(1, sizeof *v + count * sizeof *v->entries);
    char *bytes = malloc(size);
    if (v == NULL || bytes == NULL) {
        free(v);
        free(bytes);
        return ST_NO_MEMORY;
    }
    v->bytes = bytes;
    v->count = count;
    for (uint32_t i = 0; i < count; bytes += tokens[i++].size) {
        memcpy(bytes, tokens[i].bytes, tokens[i].size);
        v->entries[i] = (struct entry){bytes, tokens[i].size, i};
    }
    qsort(v->entries, count, sizeof *v->entries, entry_compare);
    enum status status = find_repeated(v, repeated);
    if (status != ST_OK) {
        vocabulary_destroy(v);
        return status;
    }
    *out = v;
    return ST_OK;
}

void vocabulary_destroy(struct vocabulary *vocabulary)
{
    if (vocabulary == NULL)
        return;
    free(vocabulary->bytes);
    free(vocabulary);
}

uint32_t vocabulary_find(const struct vocabulary *vocabulary, const char *text,
                         size_t size)
{
    if (size > VOCABULARY_TOKEN_SIZE_MAX)
        return VOCABULARY_ABSENT;
    struct entry key = {text, (uint32_t)size, 0};
    const struct entry *found = bsearch(&key, vocabulary->entries, vocabulary->count,
                                        sizeof key, entry_compare);
    return found != NULL ? found->id : VOCABULARY_ABSENT;
}

struct token_range vocabulary_all(const struct vocabulary *vocabulary)
{
    return (struct token_range){0, vocabulary->count, 0};
}

/* Returns the first place of the range from which on tokens have a byte of at least
 * `least` after the common ones. A token that ends there comes before all others. */
static uint32_t place_of(const struct vocabulary *v, const struct token_range *range,
                         unsigned least)
{
    uint32_t first = range->first, last = range->last;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        const struct entry *entry = &v->entries[middle];
        if (entry->size > range->size &&
            (unsigned char)entry->bytes[range->size] >= least)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

bool vocabulary_narrow(const struct vocabulary *vocabulary, struct token_range *range,
                       unsigned char byte)
{
    uint32_t last = place_of(vocabulary, range, byte + 1U);
    range->first = place_of(vocabulary, range, byte);
    range->last = last;
    range->size++;
    return range->first < range->last;
}

uint32_t vocabulary_whole(const struct vocabulary *vocabulary,
                          const struct token_range *range)
{
    const struct entry *entry = &vocabulary->entries[range->first];
    return range->first < range->last && entry->size == range->size ? entry->id
                                                                    : VOCABULARY_ABSENT;
}
