#include "engine/data/string_index.h"

#include <stdlib.h>
#include <string.h>

struct word {
    const char *text;
    size_t size;
    uint32_t place;
};

struct string_index {
    size_t count;
    struct word words[]; /* sorted by length, then by bytes */
};

static int word_compare(const void *a, const void *b)
{
    const struct word *left = a, *right = b;
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return memcmp(left->text, right->text, left->size);
}

struct string_index *string_index_create(char *const *texts, size_t count)
{
    size_t size;
    if (__builtin_mul_overflow(count, sizeof(struct word), &size) ||
        __builtin_add_overflow(size, sizeof(struct string_index), &size))
        return NULL;
    struct string_index *lexicon = malloc(size);
    if (lexicon == NULL)
        return NULL;
    lexicon->count = count;
    for (size_t i = 0; i < count; i++)
        lexicon->words[i] = (struct word){texts[i], strlen(texts[i]), (uint32_t)i};
    qsort(lexicon->words, count, sizeof *lexicon->words, word_compare);
    return lexicon;
}

void string_index_destroy(struct string_index *lexicon)
{
    free(lexicon);
}

uint32_t string_index_find(const struct string_index *lexicon, const char *text,
                           size_t size)
{
    struct word key = {text, size, 0};
    const struct word *found =
        bsearch(&key, lexicon->words, lexicon->count, sizeof key, word_compare);
    return found != NULL ? found->place : STRING_INDEX_ABSENT;
}
