/* Goal: the queue is bounded and first in, first out; a paused pool takes nothing; a
 * run also takes items that fit. Method: the test holds one worker at a gate. */
#include "service/threads/pool.h"

#include <pthread.h>

#include "tests/expect.h"

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool open;
    int ran[16];
    int ran_count, started;
};

static void gate_run(void *context, void *item)
{
    struct gate *gate = context;
    pthread_mutex_lock(&gate->lock);
    gate->started++;
    pthread_cond_broadcast(&gate->change);
    while (!gate->open)
        pthread_cond_wait(&gate->change, &gate->lock);
    gate->ran[gate->ran_count++] = *(int *)item;
    pthread_mutex_unlock(&gate->lock);
}

static void gate_await_start(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->started == 0)
        pthread_cond_wait(&gate->change, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->change);
    pthread_mutex_unlock(&gate->lock);
}

#define GATE                                                                           \
    {                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER          \
    }

static int numbers[] = {0, 1, 2, 3, 4, 5};

static void items_run_in_the_order_of_submission(void **state)
{
    (void)state;
    struct gate gate = GATE;
    struct pool *pool = pool_create(1, 8, gate_run, &gate);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pool_submit(pool, &numbers[i], NULL), ST_OK);
    gate_open(&gate);
    assert_true(pool_wait_idle(pool, 60000));
    assert_int_equal(gate.ran_count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(gate.ran[i], i);
    pool_destroy(pool);
}

static void a_full_queue_refuses(void **state)
{
    (void)state;
    struct gate gate = GATE;
    struct error error = {0};
    struct pool *pool = pool_create(1, 2, gate_run, &gate);
    assert_int_equal(pool_submit(pool, &numbers[0], NULL), ST_OK);
    gate_await_start(&gate);
    assert_int_equal(pool_submit(pool, &numbers[1], NULL), ST_OK);
    assert_int_equal(pool_submit(pool, &numbers[2], NULL), ST_OK);
    assert_int_equal(pool_submit(pool, &numbers[3], &error), ST_QUEUE_FULL);
    gate_open(&gate);
    assert_true(pool_wait_idle(pool, 60000));
    assert_int_equal(gate.ran_count, 3);
    pool_destroy(pool);
}

static void a_paused_pool_takes_nothing(void **state)
{
    (void)state;
    struct gate gate = GATE;
    struct pool *pool = pool_create(2, 4, gate_run, &gate);
    gate_open(&gate);
    pool_pause(pool);
    assert_int_equal(pool_submit(pool, &numbers[0], NULL), ST_OK);
    assert_true(pool_wait_idle(pool, 60000));
    pool_destroy(pool);
    assert_int_equal(gate.ran_count, 0);
}

struct taker { /* takes small items along; taken[i]: how many in run i */
    struct pool *pool;
    struct gate gate;
    size_t taken[8];
    int runs;
};

static bool is_small(const void *item)
{
    return *(const int *)item < 3;
}

static void take_along(void *context, void *item)
{
    struct taker *taker = context;
    void *more[2];
    gate_run(&taker->gate, item);
    size_t count = pool_take_along(taker->pool, more, 2, is_small);
    taker->taken[taker->runs++] = count;
    for (size_t i = 0; i < count; i++)
        gate_run(&taker->gate, more[i]);
}

/* 0 takes 1 and 2 along, and no more; the second 0 takes 1, because 3 is large. */
static void a_run_takes_along_those_behind_it_that_fit(void **state)
{
    (void)state;
    static int items[] = {0, 1, 2, 0, 1, 3, 2};
    struct taker taker = {.gate = GATE};
    taker.pool = pool_create(1, 8, take_along, &taker);
    for (int i = 0; i < 7; i++)
        assert_int_equal(pool_submit(taker.pool, &items[i], NULL), ST_OK);
    gate_open(&taker.gate);
    assert_true(pool_wait_idle(taker.pool, 60000));
    pool_destroy(taker.pool);
    assert_int_equal(taker.gate.ran_count, 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(taker.gate.ran[i], items[i]);
    assert_int_equal(taker.runs, 3);
    assert_int_equal(taker.taken[0], 2);
    assert_int_equal(taker.taken[1], 1);
    assert_int_equal(taker.taken[2], 1);
}

static void waiting_for_idle_ends_at_its_deadline(void **state)
{
    (void)state;
    struct gate gate = GATE;
    struct pool *pool = pool_create(1, 4, gate_run, &gate);
    assert_int_equal(pool_submit(pool, &numbers[0], NULL), ST_OK);
    assert_false(pool_wait_idle(pool, 1));
    gate_open(&gate);
    assert_true(pool_wait_idle(pool, 60000));
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_run_in_the_order_of_submission),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(a_paused_pool_takes_nothing),
        cmocka_unit_test(a_run_takes_along_those_behind_it_that_fit),
        cmocka_unit_test(waiting_for_idle_ends_at_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
