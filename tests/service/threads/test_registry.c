/* Goal: items are found by id and listed in the order in which they were added. */
#include "service/threads/registry.h"

#include <string.h>

#include "tests/expect.h"

enum { COUNT = 1000 };

struct item {
    char id[16];
    int number;
};

static int destroyed;

static void count_destroyed(void *item)
{
    (void)item;
    destroyed++;
}

static void items_are_found_by_id_and_kept_in_order(void **state)
{
    (void)state;
    destroyed = 0;
    static struct item items[COUNT];
    struct registry registry = {0};
    for (int i = 0; i < COUNT; i++) {
        /* 7919 is prime to 1000: ids are in no order. */
        snprintf(items[i].id, sizeof items[i].id, "id-%d", i * 7919 % COUNT);
        items[i].number = i;
        registry_add(&registry, &items[i]);
    }
    assert_int_equal(registry.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const struct item *found = registry_find(&registry, items[i].id);
        assert_ptr_equal(found, &items[i]);
        assert_ptr_equal(registry.items[i], &items[i]);
    }
    assert_null(registry_find(&registry, "id-1000"));
    registry_fini(&registry, count_destroyed);
    assert_int_equal(destroyed, COUNT);
    assert_null(registry_find(&registry, "id-1"));
}

static void an_item_is_replaced_in_its_place(void **state)
{
    (void)state;
    static struct item items[] = {{"b", 1}, {"a", 2}, {"c", 3}}, again = {"a", 4};
    struct registry registry = {0};
    for (int i = 0; i < 3; i++)
        registry_add(&registry, &items[i]);
    assert_ptr_equal(registry_replace(&registry, &again), &items[1]);
    assert_ptr_equal(registry_find(&registry, "a"), &again);
    assert_ptr_equal(registry.items[1], &again);
    assert_int_equal(registry.count, 3);
    destroyed = 0;
    registry_fini(&registry,
                  count_destroyed); /* a returned item is not the registry's */
    assert_int_equal(destroyed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_replaced_in_its_place),
        cmocka_unit_test(items_are_found_by_id_and_kept_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
