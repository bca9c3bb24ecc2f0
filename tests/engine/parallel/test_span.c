/* Goal: members' parts of a vector are adjacent and cover it, in whole chunks. Method:
 * every team of up to nine members, vectors around multiples of the chunk. */
#include "engine/parallel/span.h"

#include "tests/expect.h"

static void parts_cover_a_vector_once(void **state)
{
    (void)state;
    for (size_t dim = 1; dim < 60; dim++)
        for (unsigned size = 1; size < 10; size++) {
            size_t next = 0;
            for (unsigned member = 0; member < size; member++) {
                struct span span = span_of_member(member, size, dim, 7);
                if (span.count == 0)
                    continue;
                assert_int_equal(span.first, next);
                assert_int_equal(span.first % 7, 0);
                next = span.first + span.count;
                assert_true(next % 7 == 0 || next == dim);
            }
            assert_int_equal(next, dim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_a_vector_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
