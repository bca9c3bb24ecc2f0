/*
 * merge_queue.h - the merges that a word still allows, lowest rank first, and from left
 * to right among those of one rank: a binary heap.
 *
 * Threads: a queue belongs to one thread.
 */
#ifndef ENGINE_TEXT_MERGE_QUEUE_H
#define ENGINE_TEXT_MERGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct possible_merge {
    uint32_t rank;
    uint32_t position; /* of its left token in the word */
};

struct merge_queue {
    struct possible_merge *entries; /* the caller's, with room for all that it pushes */
    size_t count;
};

/* Takes a logarithm of count. */
void merge_queue_push(struct merge_queue *queue, struct possible_merge merge);

/* Removes the first one into merge. Returns false, and changes nothing, if there is
 * none. Takes a logarithm of count. */
bool merge_queue_pop(struct merge_queue *queue, struct possible_merge *merge);

#endif
