/* Goal: as many of one principal's requests are priced at once as the limit allows, and
 * no more, while another principal's are still accepted. Method: items that wait for a
 * gate. */
#include "base/principal.h"
#include "service/planning/pricers.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tests/expect.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static int ran;

static void run(void *context, void *item)
{
    (void)context, (void)item;
    pthread_mutex_lock(&lock);
    while (!gate_open)
        pthread_cond_wait(&change, &lock);
    ran++;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

static void close_gate(void)
{
    pthread_mutex_lock(&lock);
    gate_open = false;
    ran = 0;
    pthread_mutex_unlock(&lock);
}

/* Lets all items run, and waits until count have. */
static void open_gate(int count)
{
    pthread_mutex_lock(&lock);
    gate_open = true;
    pthread_cond_broadcast(&change);
    while (ran < count)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
}

static const struct principal ana = {.name = "ana", .project = "default"},
                              ben = {.name = "ben", .project = "default"};

static void one_principal_has_a_few_places(void **state)
{
    (void)state;
    int item;
    struct error error = {0};
    close_gate();
    struct pricers *pricers = pricers_create(run, NULL);
    for (int i = 0; i < PRICERS_EACH_MAX; i++)
        assert_int_equal(pricers_submit(pricers, &item, &ana, NULL), ST_OK);
    assert_int_equal(pricers_submit(pricers, &item, &ana, &error), ST_QUEUE_FULL);
    assert_non_null(strstr(error.text, "of yours"));
    assert_int_equal(pricers_submit(pricers, &item, &ben, NULL), ST_OK);
    open_gate(PRICERS_EACH_MAX + 1);
    pricers_destroy(pricers);
}

static void a_place_is_free_again_when_its_item_has_run(void **state)
{
    (void)state;
    int item;
    close_gate();
    open_gate(0);
    struct pricers *pricers = pricers_create(run, NULL);
    int taken = 0;
    for (int i = 0; i < 4 * PRICERS_EACH_MAX; i++) {
        while (pricers_submit(pricers, &item, &ana, NULL) != ST_OK)
            open_gate(taken); /* the place is given back a moment later */
        taken++;
    }
    open_gate(taken);
    pricers_destroy(pricers);
}

static void all_places_are_the_local_principals(void **state)
{
    (void)state;
    int item;
    struct error error = {0};
    close_gate();
    struct pricers *pricers = pricers_create(run, NULL);
    for (int i = 0; i < PRICERS_WAITING_MAX; i++)
        assert_int_equal(pricers_submit(pricers, &item, &principal_local, NULL), ST_OK);
    assert_int_equal(pricers_submit(pricers, &item, &ben, &error), ST_QUEUE_FULL);
    open_gate(PRICERS_WAITING_MAX);
    pricers_destroy(pricers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_principal_has_a_few_places),
        cmocka_unit_test(a_place_is_free_again_when_its_item_has_run),
        cmocka_unit_test(all_places_are_the_local_principals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
