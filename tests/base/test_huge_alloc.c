/* Goal: memory that is allocated with its pages is zero and resident. Method: the
 * kernel reports which pages are resident (mincore), if it supports faulting them in at
 * once. */
#include "base/huge_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/expect.h"

enum { MIB = 1 << 20, LONG = 8 * MIB, PAGES_MAX = LONG / 4096 + 1 };

/* Returns whether all whole pages between first and end are in memory. */
static bool resident(uintptr_t first, uintptr_t end, uintptr_t page)
{
    static unsigned char there[PAGES_MAX];
    size_t count = (end - first) / page;
    assert_true(count <= PAGES_MAX);
    assert_int_equal(mincore((void *)first, end - first, there), 0);
    for (size_t k = 0; k < count; k++)
        if ((there[k] & 1) == 0)
            return false;
    return true;
}

static bool kernel_brings_pages(uintptr_t page)
{
#ifdef MADV_POPULATE_WRITE
    void *map =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    bool brings = madvise(map, page, MADV_POPULATE_WRITE) == 0;
    munmap(map, page);
    return brings;
#else
    (void)page;
    return false;
#endif
}

static void a_long_vector_has_all_its_pages(void **state)
{
    (void)state;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char *vector = huge_alloc_zeroed(LONG, 1);
    assert_non_null(vector);
    uintptr_t first = ((uintptr_t)vector + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)vector + LONG) / page * page;
    if (kernel_brings_pages(page))
        assert_true(resident(first, end, page));
    for (size_t k = 0; k < LONG; k++)
        assert_true(vector[k] == 0);
    free(vector);
}

static void short_ones_are_zeros_too(void **state)
{
    (void)state;
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        unsigned char *vector = huge_alloc_zeroed(size, 1);
        assert_non_null(vector);
        for (size_t k = 0; k < size; k++) {
            assert_true(vector[k] == 0);
            vector[k] = 0xff;
        }
        free(vector);
    }
}

static void what_cannot_be_had_is_null(void **state)
{
    (void)state;
    volatile size_t most = SIZE_MAX / 2;
    if (SANITIZED)
        skip_because("a sanitizer's allocator aborts");
    assert_null(huge_alloc_zeroed(most, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_vector_has_all_its_pages),
        cmocka_unit_test(short_ones_are_zeros_too),
        cmocka_unit_test(what_cannot_be_had_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
