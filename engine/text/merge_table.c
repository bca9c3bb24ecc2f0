#include "engine/text/merge_table.h"

#include <stdlib.h>
#include <string.h>

struct right {
    uint32_t token, rank;
};

struct merge_table {
    struct merge *merges; /* by rank */
    uint32_t *first;      /* by left token, and one more: where its rights begin */
    struct right *rights; /* by left token, then sorted by token and rank */
};

static int right_compare(const void *a, const void *b)
{
    const struct right *left = a, *right = b;
    if (left->token != right->token)
        return left->token < right->token ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Puts the rights of each left token next to each other, sorted. */
static void sort_rights(struct merge_table *table, uint32_t count, uint32_t vocabulary)
{
    uint32_t *first = table->first;
    for (uint32_t i = 0; i < count; i++)
        first[table->merges[i].left + 1]++;
    for (uint32_t i = 0; i < vocabulary; i++)
        first[i + 1] += first[i];
    for (uint32_t i = count; i-- > 0;) {
        uint32_t place = --first[table->merges[i].left + 1];
        table->rights[place] = (struct right){table->merges[i].right, i};
    }
    /* first[left + 1] is now where the rights of left begin. */
    memmove(first, first + 1, vocabulary * sizeof *first);
    first[vocabulary] = count;
    for (uint32_t i = 0; i < vocabulary; i++)
        qsort(table->rights + first[i], first[i + 1] - first[i], sizeof *table->rights,
              right_compare);
}

static enum status find_repeated(const struct merge_table *table, uint32_t count,
                                 uint32_t repeated[2])
{
    for (uint32_t i = 1; i < count; i++) {
        const struct right *one = &table->rights[i - 1], *other = &table->rights[i];
        if (one->token != other->token ||
            table->merges[one->rank].left != table->merges[other->rank].left)
            continue;
        repeated[0] = one->rank;
        repeated[1] = other->rank;
        return ST_INVALID;
    }
    return ST_OK;
}

enum status merge_table_create(struct merge_table **out, const struct merge *merges,
                               uint32_t count, uint32_t vocabulary,
                               uint32_t repeated[2])
{
    struct merge_table *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->merges = calloc(count + (size_t)1, sizeof *table->merges);
        table->rights = calloc(count + (size_t)1, sizeof *table->rights);
        table->first = calloc(vocabulary + (size_t)1, sizeof *table->first);
    }
    if (table == NULL || table->merges == NULL || table->rights == NULL ||
        table->first == NULL) {
        merge_table_destroy(table);
        return ST_NO_MEMORY;
    }
    if (count > 0)
        memcpy(table->merges, merges, count * sizeof *merges);
    sort_rights(table, count, vocabulary);
    enum status status = find_repeated(table, count, repeated);
    if (status != ST_OK) {
        merge_table_destroy(table);
        return status;
    }
    *out = table;
    return ST_OK;
}

void merge_table_destroy(struct merge_table *table)
{
    if (table == NULL)
        return;
    free(table->merges);
    free(table->rights);
    free(table->first);
    free(table);
}

uint32_t merge_table_find(const struct merge_table *table, uint32_t left,
                          uint32_t right)
{
    uint32_t first = table->first[left], end = table->first[left + 1], last = end;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (table->rights[middle].token < right)
            first = middle + 1;
        else
            last = middle;
    }
    return first < end && table->rights[first].token == right
               ? table->rights[first].rank
               : MERGE_ABSENT;
}

const struct merge *merge_table_at(const struct merge_table *table, uint32_t rank)
{
    return &table->merges[rank];
}
