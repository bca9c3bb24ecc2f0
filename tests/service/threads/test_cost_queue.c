/* Goal: small items run before large ones, no large one is overtaken for ever, the
 * waiting work is bounded, and an item that waits too long is reported. Method: items
 * whose runs are recorded; a large one holds, at a gate, the thread that takes any
 * item, so that the order of the rest depends only on the queue; costs of items that
 * only this thread may take are above small_max. */
#include "service/threads/cost_queue.h"

#include <pthread.h>
#include <stdbool.h>

#include "tests/expect.h"

enum { ITEMS_MAX = COST_QUEUE_WAITING_MAX + 4, SMALL = 10 };

struct item {
    uint64_t cost;
    bool held; /* runs until the gate opens, or lets one pass */
};

struct record {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool open;
    size_t passes; /* how many more pass the closed gate */
    const struct item *started[ITEMS_MAX], *late[ITEMS_MAX];
    size_t started_count, ended, late_count;
    struct cost_queue *predictors;
};

static void run(void *context, void *argument)
{
    struct record *record = context;
    const struct item *item = argument;
    pthread_mutex_lock(&record->lock);
    record->started[record->started_count++] = item;
    pthread_cond_broadcast(&record->change);
    while (item->held && !record->open && record->passes == 0)
        pthread_cond_wait(&record->change, &record->lock);
    record->passes -= item->held && !record->open;
    record->ended++;
    pthread_cond_broadcast(&record->change);
    pthread_mutex_unlock(&record->lock);
}

static void late(void *context, void *argument)
{
    struct record *record = context;
    pthread_mutex_lock(&record->lock);
    record->late[record->late_count++] = argument;
    pthread_cond_broadcast(&record->change);
    pthread_mutex_unlock(&record->lock);
}

static void await(struct record *record, const size_t *counter, size_t count)
{
    pthread_mutex_lock(&record->lock);
    while (*counter < count)
        pthread_cond_wait(&record->change, &record->lock);
    pthread_mutex_unlock(&record->lock);
}

static void open_gate(struct record *record)
{
    pthread_mutex_lock(&record->lock);
    record->open = true;
    pthread_cond_broadcast(&record->change);
    pthread_mutex_unlock(&record->lock);
}

static void let_one_pass(struct record *record)
{
    pthread_mutex_lock(&record->lock);
    record->passes++;
    pthread_cond_broadcast(&record->change);
    pthread_mutex_unlock(&record->lock);
}

static void begin(struct record *record, uint64_t queued_max, int64_t wait_max_ms)
{
    *record = (struct record){.lock = PTHREAD_MUTEX_INITIALIZER,
                              .change = PTHREAD_COND_INITIALIZER};
    const struct cost_queue_setup setup = {.threads = 1,
                                           .small_max = SMALL,
                                           .queued_max = queued_max,
                                           .wait_max_ms = wait_max_ms,
                                           .run = run,
                                           .late = late,
                                           .context = record};
    record->predictors = cost_queue_create(&setup);
}

static void submit(struct record *record, struct item *item)
{
    assert_int_equal(cost_queue_submit(record->predictors, item, item->cost, NULL),
                     ST_OK);
}

/* The one thread that takes any item is in the middle of this one. */
static void hold(struct record *record, struct item *item)
{
    item->held = true;
    submit(record, item);
    await(record, &record->started_count, 1);
}

enum { HOUR_MS = 3600 * 1000 };

static void the_small_pass_the_large_that_came_before(void **state)
{
    static struct record record;
    struct item items[] = {
        {1000, false}, {900, false}, {20, false}, {500, false}, {20, false}};
    static const size_t order[] = {0, 2, 4, 3, 1};
    (void)state;
    begin(&record, 1 << 20, HOUR_MS);
    hold(&record, &items[0]);
    for (size_t i = 1; i < 5; i++)
        submit(&record, &items[i]);
    open_gate(&record);
    await(&record, &record.ended, 5);
    for (size_t i = 0; i < 5; i++)
        assert_ptr_equal(record.started[i], &items[order[i]]);
    cost_queue_destroy(record.predictors);
}

/* Each small one is submitted while the one before runs, without end if the queue
 * allows it. */
static void a_large_one_is_passed_by_no_more_work_than_it_is(void **state)
{
    static struct record record;
    struct item first = {20, false}, large = {200, true}, small[40];
    size_t passed = 0;
    (void)state;
    begin(&record, 1 << 20, HOUR_MS);
    hold(&record, &first);
    submit(&record, &large);
    for (size_t i = 0; i < 40; i++) {
        small[i] = (struct item){20, true};
        submit(&record, &small[i]);
        let_one_pass(&record);
        await(&record, &record.started_count, i + 2);
        if (record.started[i + 1] == &large)
            break;
        passed++;
    }
    /* Its turn is at 20 + 200. The tenth small one would also be done then, and arrived
     * later. */
    assert_int_equal(passed, 9);
    open_gate(&record);
    await(&record, &record.ended, 2 + passed + 1); /* the last small one runs last */
    cost_queue_destroy(record.predictors);
}

static void equals_run_in_the_order_of_submission(void **state)
{
    static struct record record;
    struct item first = {50, false}, items[10];
    (void)state;
    begin(&record, 1 << 20, HOUR_MS);
    hold(&record, &first);
    for (size_t i = 0; i < 10; i++) {
        items[i] = (struct item){30, false};
        submit(&record, &items[i]);
    }
    open_gate(&record);
    await(&record, &record.ended, 11);
    for (size_t i = 0; i < 10; i++)
        assert_ptr_equal(record.started[i + 1], &items[i]);
    cost_queue_destroy(record.predictors);
}

/* The gate stays closed until the small one has ended. */
static void a_small_one_runs_while_a_large_one_holds_the_others(void **state)
{
    static struct record record;
    struct item large[] = {{1000, false}, {1000, false}}, small = {SMALL, false};
    (void)state;
    begin(&record, 1 << 20, HOUR_MS);
    hold(&record, &large[0]);
    submit(&record, &large[1]);
    submit(&record, &small);
    await(&record, &record.ended, 1);
    assert_ptr_equal(record.started[1], &small);
    assert_int_equal(record.started_count, 2);
    open_gate(&record);
    await(&record, &record.ended, 3);
    cost_queue_destroy(record.predictors);
}

static void what_waits_is_bounded(void **state)
{
    static struct record record;
    struct item first = {500, false}, waits = {60, false}, fits = {40, false},
                over = {41, false}, huge = {5000, false};
    struct error error = {0};
    (void)state;
    begin(&record, 100, HOUR_MS);
    hold(&record, &first); /* a running item does not wait */
    submit(&record, &waits);
    assert_int_equal(cost_queue_submit(record.predictors, &over, over.cost, &error),
                     ST_QUEUE_FULL);
    assert_true(error.text[0] != '\0');
    submit(&record, &fits);
    assert_int_equal(cost_queue_submit(record.predictors, &over, 11, NULL),
                     ST_QUEUE_FULL);
    open_gate(&record);
    await(&record, &record.ended, 3);
    submit(&record, &huge); /* above the bound, but the queue is empty */
    await(&record, &record.ended, 4);
    cost_queue_destroy(record.predictors);
}

static void what_large_ones_hold_turns_no_small_one_away(void **state)
{
    static struct record record;
    struct item first = {50, false}, full = {100, false};
    struct item small_held = {SMALL, true}, small = {SMALL, false};
    (void)state;
    begin(&record, 100, HOUR_MS);
    hold(&record, &first);
    submit(&record, &small_held); /* on the thread for small ones */
    await(&record, &record.started_count, 2);
    submit(&record, &full); /* all that large ones may hold */
    submit(&record, &small);
    open_gate(&record);
    await(&record, &record.ended, 4);
    cost_queue_destroy(record.predictors);
}

static void the_number_of_those_that_wait_is_bounded(void **state)
{
    static struct record record;
    struct item first = {50, false};
    static struct item free_of_cost[COST_QUEUE_WAITING_MAX];
    (void)state;
    begin(&record, 1 << 20, HOUR_MS);
    hold(&record, &first);
    struct item second = {SMALL, true}; /* holds the thread for small ones too */
    submit(&record, &second);
    await(&record, &record.started_count, 2);
    for (size_t i = 0; i < COST_QUEUE_WAITING_MAX; i++)
        submit(&record, &free_of_cost[i]);
    assert_int_equal(cost_queue_submit(record.predictors, &first, 0, NULL),
                     ST_QUEUE_FULL);
    open_gate(&record);
    await(&record, &record.ended, COST_QUEUE_WAITING_MAX + 2);
    cost_queue_destroy(record.predictors);
}

/* Like hold, but on a busy machine the item itself may be late, so it is submitted
 * until it starts. Returns how often it was late. */
static size_t hold_in_time(struct record *record, struct item *item)
{
    size_t late_count = 0;
    bool started = false;
    item->held = true;
    while (!started) {
        submit(record, item);
        pthread_mutex_lock(&record->lock);
        while (record->started_count == 0 && record->late_count == late_count)
            pthread_cond_wait(&record->change, &record->lock);
        started = record->started_count > 0;
        late_count = record->late_count;
        pthread_mutex_unlock(&record->lock);
    }
    return late_count;
}

/* Only the thread for small items is free to notice. */
static void whoever_waits_too_long_is_told(void **state)
{
    static struct record record;
    struct item first = {500, false}, second = {600, false};
    (void)state;
    begin(&record, 1 << 20, 1);
    size_t late_firsts = hold_in_time(&record, &first);
    submit(&record, &second);
    await(&record, &record.late_count, late_firsts + 1);
    assert_ptr_equal(record.late[late_firsts], &second);
    assert_int_equal(record.started_count, 1);
    open_gate(&record);
    await(&record, &record.ended, 1);
    cost_queue_destroy(record.predictors);
    assert_int_equal(record.started_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_pass_the_large_that_came_before),
        cmocka_unit_test(a_large_one_is_passed_by_no_more_work_than_it_is),
        cmocka_unit_test(equals_run_in_the_order_of_submission),
        cmocka_unit_test(a_small_one_runs_while_a_large_one_holds_the_others),
        cmocka_unit_test(what_waits_is_bounded),
        cmocka_unit_test(what_large_ones_hold_turns_no_small_one_away),
        cmocka_unit_test(the_number_of_those_that_wait_is_bounded),
        cmocka_unit_test(whoever_waits_too_long_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
