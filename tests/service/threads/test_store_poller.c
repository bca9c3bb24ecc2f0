/* Goal: a caller is resumed once, after a poll that began later; and polls repeat by
 * themselves. Method: polls that count, and one that blocks. */
#include "service/threads/store_poller.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "tests/expect.h"

static atomic_int begun, ended;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

struct asked {
    atomic_int resumed;
    int after; /* how many polls had ended when it was resumed */
};

static void look(void *context)
{
    (void)context;
    begun++;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    ended++;
}

static void resume(void *waiting)
{
    struct asked *asked = waiting;
    asked->after = ended;
    asked->resumed++;
}

static struct store_poller *make(void)
{
    const struct store_poller_hooks hooks = {look, NULL, resume};
    begun = ended = 0;
    return store_poller_create(&hooks);
}

/* Bounded: what is waited for comes within STORE_POLLER_MS. */
static void wait_for(const atomic_int *counter, int least)
{
    for (int i = 0; i < 60000 && *counter < least; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(*counter >= least);
}

/* Returns how long two callers wait. */
static int64_t asked_ns(void)
{
    struct asked asked[2] = {{0}};
    struct store_poller *poller = make();
    wait_for(&ended, 1);
    int64_t from_ns = clock_monotonic_ns();
    store_poller_ask(poller, &asked[0]);
    store_poller_ask(poller, &asked[1]);
    wait_for(&asked[0].resumed, 1);
    wait_for(&asked[1].resumed, 1);
    int64_t took_ns = clock_monotonic_ns() - from_ns;
    store_poller_destroy(poller);
    assert_int_equal(asked[0].resumed, 1);
    assert_int_equal(asked[1].resumed, 1);
    return took_ns;
}

/* If no one requested a poll, each caller waits STORE_POLLER_MS; on a busy machine some
 * callers wait that need not. */
static void who_asks_is_resumed_by_the_next_look(void **state)
{
    (void)state;
    enum { TRIES = 40 };
    int tries = 1;
    while (asked_ns() >= STORE_POLLER_MS * INT64_C(1000000) / 2)
        assert_in_range(++tries, 1, TRIES);
}

/* A poll that has begun may read data older than the request. */
static void a_look_that_has_begun_is_not_enough(void **state)
{
    (void)state;
    struct asked asked = {0};
    pthread_mutex_lock(&gate);
    struct store_poller *poller = make();
    wait_for(&begun, 1);
    store_poller_ask(poller, &asked);
    pthread_mutex_unlock(&gate);
    wait_for(&asked.resumed, 1);
    assert_int_equal(asked.after, 2);
    store_poller_destroy(poller);
}

static void it_looks_though_nobody_asks(void **state)
{
    (void)state;
    struct store_poller *poller = make();
    wait_for(&ended, 2);
    store_poller_destroy(poller);
}

static void who_still_asks_at_the_end_is_resumed(void **state)
{
    (void)state;
    struct asked asked = {0};
    struct store_poller *poller = make();
    store_poller_ask(poller, &asked);
    store_poller_destroy(poller);
    assert_int_equal(asked.resumed, 1);
    store_poller_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_is_resumed_by_the_next_look),
        cmocka_unit_test(a_look_that_has_begun_is_not_enough),
        cmocka_unit_test(it_looks_though_nobody_asks),
        cmocka_unit_test(who_still_asks_at_the_end_is_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
