#include "engine/text/merge_queue.h"

static bool comes_before(struct possible_merge one, struct possible_merge other)
{
    return one.rank != other.rank ? one.rank < other.rank
                                  : one.position < other.position;
}

void merge_queue_push(struct merge_queue *queue, struct possible_merge merge)
{
    size_t place = queue->count++;
    while (place > 0) {
        size_t parent = (place - 1) / 2;
        if (!comes_before(merge, queue->entries[parent]))
            break;
        queue->entries[place] = queue->entries[parent];
        place = parent;
    }
    queue->entries[place] = merge;
}

bool merge_queue_pop(struct merge_queue *queue, struct possible_merge *merge)
{
    if (queue->count == 0)
        return false;
    *merge = queue->entries[0];
    struct possible_merge last = queue->entries[--queue->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count &&
            comes_before(queue->entries[child + 1], queue->entries[child]))
            child++;
        if (!comes_before(queue->entries[child], last))
            break;
        queue->entries[place] = queue->entries[child];
        place = child;
    }
    queue->entries[place] = last;
    return true;
}
