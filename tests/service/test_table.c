/* Goal: items are found by id and listed in the order in which they came. */
#include "service/table.h"

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
    struct table table = {0};
    for (int i = 0; i < COUNT; i++) {
        /* 7919 is prime to 1000: ids come in no order. */
        snprintf(items[i].id, sizeof items[i].id, "id-%d", i * 7919 % COUNT);
        items[i].number = i;
        table_add(&table, &items[i]);
    }
    assert_int_equal(table.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const struct item *found = table_find(&table, items[i].id);
        assert_ptr_equal(found, &items[i]);
        assert_ptr_equal(table.items[i], &items[i]);
    }
    assert_null(table_find(&table, "id-1000"));
    table_fini(&table, count_destroyed);
    assert_int_equal(destroyed, COUNT);
    assert_null(table_find(&table, "id-1"));
}

static void an_item_is_replaced_in_its_place(void **state)
{
    (void)state;
    static struct item items[] = {{"b", 1}, {"a", 2}, {"c", 3}}, again = {"a", 4};
    struct table table = {0};
    for (int i = 0; i < 3; i++)
        table_add(&table, &items[i]);
    assert_ptr_equal(table_replace(&table, &again), &items[1]);
    assert_ptr_equal(table_find(&table, "a"), &again);
    assert_ptr_equal(table.items[1], &again);
    assert_int_equal(table.count, 3);
    destroyed = 0;
    table_fini(&table, count_destroyed); /* what was handed back is not the table's */
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
