/* Goal: an import whose allocation fails reports this and leaves no file. Method: each
 * large allocation (small ones abort by rule) fails in turn, through the test's own
 * malloc; not under the sanitizers, which replace malloc themselves. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/reader_registry.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
    skip_part("a sanitizer has an allocator of its own");
    return 0;
}

#else

enum { LARGE = 4096 };

static int large_left = -1; /* large allocations until one fails; negative: none does */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static bool refused(size_t size)
{
    return size >= LARGE && large_left >= 0 && large_left-- == 0;
}

void *malloc(size_t size)
{
    return refused(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused(count * size) ? NULL : __libc_calloc(count, size);
}

/* Repeats until an import meets no failure. An import may survive one: qsort then sorts
 * in place. */
static void refuse_each(struct ingest *ingest, const struct schema *schema,
                        int expected)
{
    int failures = 0;
    bool met = true;
    ingest_run(ingest, schema);
    assert_int_equal(ingest->status, ST_OK);
    assert_int_equal(unlink(ingest->out), 0);
    for (int number = 0; met; number++) {
        struct import_failure failure = {0};
        const struct import import = ingest_import(ingest, schema);
        large_left = number;
        enum status status = import_run(&import, &ingest->result, &failure);
        met = large_left < 0;
        large_left = -1;
        assert_int_equal(failure.status, status);
        if (status == ST_OK)
            continue;
        assert_int_equal(status, ST_NO_MEMORY);
        assert_int_equal(access(ingest->out, F_OK), -1);
        failures++;
    }
    assert_int_equal(failures, expected);
}

static void each_large_allocation_may_fail(void **state)
{
    (void)state;
    struct ingest ingest;
    double labels[600];
    struct schema schema = {.reader = &libsvm_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 600,
                            .feature_count = 3,
                            .labels = labels};
    for (int i = 0; i < 600; i++)
        labels[i] = 600 - i;
    ingest_init(&ingest);
    write_gzip(ingest.data, "7 1:1\n", 6);
    ingest.files.paths[0] = ingest.data;
    /* writer, packed bytes, zlib's state, lines, labels, two buffers of rows */
    refuse_each(&ingest, &schema, 7);
    ingest_fini(&ingest);
}

static void a_wide_csv_may_fail_too(void **state)
{
    (void)state;
    enum { COLUMNS = 600 };
    static struct column columns[COLUMNS];
    static char name[] = "x", text[2 * COLUMNS + 1];
    static char value[] = "1";
    static char *values[COLUMNS];
    struct ingest ingest;
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = (struct column){.name = name, .kind = COLUMN_NUMERIC, .high = 1};
        values[i] = value;
        memcpy(text + 2 * i, "1,", 2);
    }
    columns[7] = (struct column){
        .name = name, .kind = COLUMN_LABEL, .value_count = COLUMNS, .values = values};
    const struct schema schema = {.reader = &csv_reader,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = COLUMNS,
                                  .column_count = COLUMNS,
                                  .columns = columns};
    text[2 * COLUMNS - 1] = '\n';
    ingest_init(&ingest);
    write_file(ingest.data, text, 2 * COLUMNS);
    ingest.files.paths[0] = ingest.data;
    /* writer, lines, encoders, cells, places, lexicon, first features and first texts of
     * columns, two buffers of rows */
    refuse_each(&ingest, &schema, 10);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_large_allocation_may_fail),
        cmocka_unit_test(a_wide_csv_may_fail_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
