/*
 * thread_group_fixture.h - a group of ranks (engine/dp/group.h) that are threads of the
 * test, so that a test sees the work of several processes without a network between
 * them.
 *
 * thread_group_run starts the ranks, each with a group of its own, and returns when all
 * are done. A table holds the addresses of the vectors of all ranks, and a barrier
 * before and after its use keeps the ranks in step.
 */
#ifndef TESTS_ENGINE_DP_THREAD_GROUP_FIXTURE_H
#define TESTS_ENGINE_DP_THREAD_GROUP_FIXTURE_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/dp/group.h"
#include "tests/expect.h"

enum { THREAD_RANKS_MAX = 7 };

/* Ways to add sums: as group.h says, or in a way that it forbids. */
enum thread_adding { ADD_INTEGERS, ADD_FLOATS, ADD_ROUNDED };

struct thread_meeting {
    unsigned size;
    enum thread_adding adding;
    pthread_barrier_t barrier;
    void *places[THREAD_RANKS_MAX];
    bool votes[THREAD_RANKS_MAX];
};

struct thread_rank {
    struct thread_meeting *meeting;
    struct group group;
    void (*work)(struct thread_rank *rank, void *context);
    void *context;
};

static inline void thread_group_wait(struct thread_meeting *meeting)
{
    pthread_barrier_wait(&meeting->barrier);
}

static inline void thread_group_show(struct thread_rank *rank, void *place)
{
    rank->meeting->places[rank->group.rank] = place;
    thread_group_wait(rank->meeting);
}

/* Returns the total of coordinate j. */
static inline int64_t thread_group_total(const struct thread_meeting *meeting, size_t j)
{
    const uint64_t step = UINT64_C(1) << 30;
    uint64_t exact = 0, rounded = 0;
    float floats = 0;
    for (unsigned k = 0; k < meeting->size; k++) {
        int64_t part = ((const int64_t *)meeting->places[k])[j];
        exact += (uint64_t)part;
        rounded += ((uint64_t)part + step / 2) & ~(step - 1);
        floats += (float)part;
    }
    switch (meeting->adding) {
    case ADD_INTEGERS: break;
    case ADD_FLOATS: return (int64_t)floats;
    case ADD_ROUNDED: return (int64_t)rounded;
    }
    return (int64_t)exact;
}

static inline void thread_group_meet(void *context, int64_t *sum, size_t dim)
{
    struct thread_rank *rank = context;
    struct span slice = group_slice(&rank->group, rank->group.rank, dim);
    int64_t *total = calloc(dim, sizeof *total);
    thread_group_show(rank, sum);
    for (size_t j = slice.first; j < slice.first + slice.count; j++)
        total[j] = thread_group_total(rank->meeting, j);
    thread_group_wait(rank->meeting);
    memcpy(sum, total, dim * sizeof *sum);
    free(total);
}

static inline void thread_group_collect(void *context, int64_t *numbers, size_t count)
{
    struct thread_rank *rank = context;
    int64_t *total = calloc(count, sizeof *total);
    thread_group_show(rank, numbers);
    for (size_t j = 0; j < count && rank->group.rank == 0; j++)
        for (unsigned k = 0; k < rank->group.size; k++)
            total[j] += ((const int64_t *)rank->meeting->places[k])[j];
    thread_group_wait(rank->meeting);
    memcpy(numbers, total, count * sizeof *numbers);
    free(total);
}

static inline void thread_group_tell(void *context, void *bytes, size_t size)
{
    struct thread_rank *rank = context;
    thread_group_show(rank, bytes);
    if (rank->group.rank != 0)
        memcpy(bytes, rank->meeting->places[0], size);
    thread_group_wait(rank->meeting);
}

static inline void thread_group_gather(void *context, float *vector, size_t dim)
{
    struct thread_rank *rank = context;
    thread_group_show(rank, vector);
    for (unsigned k = 0; k < rank->group.size; k++) {
        struct span slice = group_slice(&rank->group, k, dim);
        if (k != rank->group.rank)
            memcpy(vector + slice.first,
                   (const float *)rank->meeting->places[k] + slice.first,
                   slice.count * sizeof *vector);
    }
    thread_group_wait(rank->meeting);
}

static inline bool thread_group_all(void *context, bool mine)
{
    struct thread_rank *rank = context;
    bool all = true;
    rank->meeting->votes[rank->group.rank] = mine;
    thread_group_wait(rank->meeting);
    for (unsigned k = 0; k < rank->group.size; k++)
        all = all && rank->meeting->votes[k];
    thread_group_wait(rank->meeting);
    return all;
}

static inline void *thread_group_main(void *argument)
{
    struct thread_rank *rank = argument;
    rank->work(rank, rank->context);
    return NULL;
}

/* Calls work once in each of size ranks, all with the same context. */
static inline void
thread_group_run(unsigned size, enum thread_adding adding,
                 void (*work)(struct thread_rank *rank, void *context), void *context)
{
    static const struct group_calls calls = {.meet = thread_group_meet,
                                             .collect = thread_group_collect,
                                             .tell = thread_group_tell,
                                             .gather = thread_group_gather,
                                             .all = thread_group_all};
    struct thread_meeting meeting = {.size = size, .adding = adding};
    struct thread_rank ranks[THREAD_RANKS_MAX];
    pthread_t threads[THREAD_RANKS_MAX];
    assert_true(size <= THREAD_RANKS_MAX);
    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, size), 0);
    for (unsigned k = 0; k < size; k++) {
        ranks[k] = (struct thread_rank){
            .meeting = &meeting,
            .group = {.rank = k, .size = size, .calls = &calls, .context = &ranks[k]},
            .work = work,
            .context = context};
        assert_int_equal(
            pthread_create(&threads[k], NULL, thread_group_main, &ranks[k]), 0);
    }
    for (unsigned k = 0; k < size; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&meeting.barrier);
}

#endif
