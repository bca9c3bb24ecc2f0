/* Goal: every member works on every piece, once, and its writes are visible. Method:
 * many short pieces and a few long ones, at several sizes; also run under tsan. */
#include "engine/parallel/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "tests/expect.h"

enum { SIZE_MAX_TRIED = 7 };

struct tally {
    unsigned size;
    uint64_t runs[SIZE_MAX_TRIED][8]; /* one cache line each */
    bool slow;
};

static void count_run(void *context, unsigned member)
{
    struct tally *tally = context;
    struct timespec pause = {.tv_nsec = 3000000};
    assert_true(member < tally->size);
    if (tally->slow && member == tally->size - 1)
        nanosleep(&pause, NULL);
    tally->runs[member][0]++;
}

static void every_member_works_once_on_every_piece(void **state)
{
    (void)state;
    for (unsigned size = 1; size <= SIZE_MAX_TRIED; size++) {
        struct tally tally = {.size = size};
        struct team *team;
        assert_int_equal(team_create(&team, size, NULL), ST_OK);
        assert_int_equal(team_size(team), size);
        for (uint64_t piece = 1; piece <= 300; piece++) {
            tally.slow =
                piece % 50 == 0; /* long enough for the others to fall asleep */
            team_run(team, &(struct team_work){.run = count_run,
                                               .context = &tally,
                                               .shares = size,
                                               .flops = TEAM_FLOPS_MIN});
            for (unsigned k = 0; k < size; k++)
                assert_int_equal(tally.runs[k][0], piece);
            assert_int_equal(team_wakes(team), size > 1 ? piece : 0);
        }
        team_destroy(team);
    }
}

struct callers { /* the thread that did each member's part, and when */
    pthread_t threads[SIZE_MAX_TRIED];
    unsigned order[SIZE_MAX_TRIED], count;
};

static void note_caller(void *context, unsigned member)
{
    struct callers *callers = context;
    callers->threads[member] = pthread_self();
    callers->order[callers->count++] = member;
}

/* If there is too little to do, or nothing to share, sleeping threads are not woken. */
static void what_is_not_worth_waking_for_the_caller_does_in_order(void **state)
{
    (void)state;
    const struct team_work small[] = {
        {.run = note_caller, .shares = 100, .flops = TEAM_FLOPS_MIN - 1},
        {.run = note_caller, .shares = 1, .flops = 1e12},
    };
    struct team *team;
    assert_int_equal(team_create(&team, 4, NULL), ST_OK);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct callers callers = {.count = 0};
        struct team_work work = small[i];
        work.context = &callers;
        team_run(team, &work);
        assert_int_equal(callers.count, 4);
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(callers.order[k], k);
            assert_true(pthread_equal(callers.threads[k], pthread_self()));
        }
    }
    assert_int_equal(team_wakes(team), 0);
    team_destroy(team);
}

static void a_team_that_never_worked_ends(void **state)
{
    (void)state;
    struct team *team;
    assert_int_equal(team_create(&team, 3, NULL), ST_OK);
    team_destroy(team);
    team_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_works_once_on_every_piece),
        cmocka_unit_test(what_is_not_worth_waking_for_the_caller_does_in_order),
        cmocka_unit_test(a_team_that_never_worked_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
