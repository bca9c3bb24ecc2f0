/* Goal: merges leave the queue by rank, then by position, in every order in
 * which they came. Method: random pushes and pops against a search of all that wait. */
#include "tests/expect.h"

#include "engine/text/merge_queue.h"

enum { ROOM = 200 };

static uint64_t key(struct possible_merge merge)
{
    return (uint64_t)merge.rank << 32 | merge.position;
}

static size_t least(const struct possible_merge *waiting, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (key(waiting[i]) < key(waiting[best]))
            best = i;
    return best;
}

static void the_first_merge_leaves_first(void **state)
{
    struct possible_merge entries[ROOM], waiting[ROOM], merge;
    struct merge_queue queue = {entries, 0};
    uint64_t word = 5;
    size_t count = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        word = word * 6364136223846793005ULL + 1442695040888963407ULL;
        /* More come in one half of the time, more go in the other. */
        bool comes = (word >> 60) < (i / 500 % 2 == 0 ? 10 : 6);
        if (comes && count < ROOM) {
            merge = (struct possible_merge){(uint32_t)(word >> 50) % 8,
                                            (uint32_t)(word >> 40) % 64};
            waiting[count++] = merge;
            merge_queue_push(&queue, merge);
        } else if (merge_queue_pop(&queue, &merge)) {
            size_t first = least(waiting, count);
            assert_int_equal(key(merge), key(waiting[first]));
            waiting[first] = waiting[--count];
        }
        assert_int_equal(queue.count, count);
    }
}

static void an_empty_queue_gives_nothing(void **state)
{
    struct possible_merge entries[1], merge = {7, 8};
    struct merge_queue queue = {entries, 0};
    (void)state;
    assert_false(merge_queue_pop(&queue, &merge));
    assert_int_equal(merge.rank, 7);
    assert_int_equal(merge.position, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_merge_leaves_first),
        cmocka_unit_test(an_empty_queue_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
