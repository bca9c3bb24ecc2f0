/* Goal: a replaced object is freed when no reader can still hold it, no sooner and no
 * later; and threads that read what others replace never read freed memory. */
#include "service/threads/epoch_reclaim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/expect.h"

enum { READERS = 4, ROUNDS = 2000 };

static int gone[8];
static size_t gone_count;

static void note(void *item)
{
    gone[gone_count++] = *(int *)item;
}

static int items[] = {0, 1, 2, 3};

static struct epoch_reclaim *begin(void)
{
    gone_count = 0;
    return epoch_reclaim_create(note);
}

static void what_nobody_may_hold_goes_at_once(void **state)
{
    (void)state;
    struct reclaim_reader visit;
    struct epoch_reclaim *visits = begin();
    epoch_reclaim_leave_behind(visits, &items[1]);
    assert_int_equal(gone_count, 1);
    epoch_reclaim_enter(visits, &visit);
    epoch_reclaim_leave(visits, &visit);
    epoch_reclaim_leave_behind(visits, &items[2]);
    assert_int_equal(gone_count, 2);
    epoch_reclaim_destroy(visits);
}

static void the_last_who_came_before_lets_it_go(void **state)
{
    (void)state;
    struct reclaim_reader first, second, later;
    struct epoch_reclaim *visits = begin();
    epoch_reclaim_enter(visits, &first);
    epoch_reclaim_enter(visits, &second);
    epoch_reclaim_leave_behind(visits, &items[1]);
    epoch_reclaim_enter(visits, &later);
    epoch_reclaim_leave(visits, &first);
    assert_int_equal(gone_count, 0);
    epoch_reclaim_leave(visits, &second);
    assert_int_equal(gone_count, 1);
    assert_int_equal(gone[0], 1);
    epoch_reclaim_leave_behind(visits, &items[2]);
    assert_int_equal(gone_count, 1);
    epoch_reclaim_leave(visits, &later);
    assert_int_equal(gone_count, 2);
    assert_int_equal(gone[1], 2);
    epoch_reclaim_destroy(visits);
}

/* Short overlapping readers, as on a busy server. */
static void visits_without_a_gap_keep_nothing_for_ever(void **state)
{
    (void)state;
    struct reclaim_reader visit[2];
    struct epoch_reclaim *visits = begin();
    epoch_reclaim_enter(visits, &visit[0]);
    for (size_t i = 1; i <= 4; i++) {
        epoch_reclaim_enter(visits, &visit[i % 2]);
        epoch_reclaim_leave_behind(visits, &items[i - 1]);
        epoch_reclaim_leave(visits, &visit[(i - 1) % 2]);
        assert_int_equal(gone_count, i - 1);
    }
    epoch_reclaim_leave(visits, &visit[0]);
    assert_int_equal(gone_count, 4);
    epoch_reclaim_destroy(visits);
}

static void a_visit_within_another_keeps_what_the_outer_one_found(void **state)
{
    (void)state;
    struct reclaim_reader outer, inner;
    struct epoch_reclaim *visits = begin();
    epoch_reclaim_enter(visits, &outer);
    epoch_reclaim_enter(visits, &inner);
    epoch_reclaim_leave_behind(visits, &items[3]);
    epoch_reclaim_leave(visits, &inner);
    assert_int_equal(gone_count, 0);
    epoch_reclaim_leave(visits, &outer);
    assert_int_equal(gone_count, 1);
    epoch_reclaim_destroy(visits);
}

/* --- threads --- */

struct shared {
    struct epoch_reclaim *visits;
    pthread_mutex_t lock; /* guards current */
    int *current;
    atomic_bool over;
};

static int *find(struct shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    int *found = shared->current;
    pthread_mutex_unlock(&shared->lock);
    return found;
}

/* A value that was found stays unchanged: no thread reads one that was overwritten when
 * it was freed. */
static void *read_on(void *argument)
{
    struct shared *shared = argument;
    intptr_t wrong = 0;
    do {
        struct reclaim_reader visit;
        epoch_reclaim_enter(shared->visits, &visit);
        const int *found = find(shared);
        wrong += *found != 7;
        wrong += *found != 7;
        epoch_reclaim_leave(shared->visits, &visit);
    } while (!atomic_load(&shared->over));
    return (void *)wrong; /* NOLINT: a number */
}

static void overwrite(void *item)
{
    *(int *)item = 0;
    free(item);
}

static int *make_seven(void)
{
    int *made = malloc(sizeof *made);
    assert_non_null(made);
    *made = 7;
    return made;
}

static void readers_never_read_what_is_gone(void **state)
{
    (void)state;
    pthread_t readers[READERS];
    struct shared shared = {.visits = epoch_reclaim_create(overwrite),
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .current = make_seven()};
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &shared), 0);
    for (int i = 0; i < ROUNDS; i++) {
        int *next = make_seven();
        pthread_mutex_lock(&shared.lock);
        int *before = shared.current;
        shared.current = next;
        pthread_mutex_unlock(&shared.lock);
        epoch_reclaim_leave_behind(shared.visits, before);
    }
    atomic_store(&shared.over, true);
    for (size_t i = 0; i < READERS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
    epoch_reclaim_destroy(shared.visits);
    free(shared.current);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_may_hold_goes_at_once),
        cmocka_unit_test(the_last_who_came_before_lets_it_go),
        cmocka_unit_test(visits_without_a_gap_keep_nothing_for_ever),
        cmocka_unit_test(a_visit_within_another_keeps_what_the_outer_one_found),
        cmocka_unit_test(readers_never_read_what_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
