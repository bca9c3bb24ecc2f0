/* Goal: what a dataset was declared as before stays for whoever still reads it, and for
 * nobody else. Method: a service on a directory of its own. */
#include "service/datasets.h"

#include <malloc.h>

#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { DECLARATIONS = 250, COLUMNS = 200 };

#define PRIVACY "\"public\""

/* Points on a line beside many columns that are called by a number. */
static struct dataset_spec wide_spec(const char *id, unsigned number)
{
    size_t size;
    char *text = NULL;
    struct dataset_spec spec;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out,
            "{\"id\":\"%s\",\"format\":\"csv\",\"task\":\"classification\","
            "\"classes\":2,\"columns\":[",
            id);
    for (unsigned i = 0; i < COLUMNS; i++)
        fprintf(out, "{\"name\":\"x%u_%u\",\"kind\":\"numeric\",\"range\":[0,1]},",
                number, i);
    fprintf(out, "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"
                 "\"privacy\":" PRIVACY "}");
    assert_int_equal(fclose(out), 0);
    assert_int_equal(dataset_spec_parse(&spec, text, size, NULL), ST_OK);
    free(text);
    return spec;
}

static struct dataset *declare_anew(struct scene *scene, const char *id,
                                    unsigned number)
{
    struct dataset *dataset = NULL;
    struct dataset_spec spec = wide_spec(id, number);
    const struct proposal nobody_is_asked = {0};
    const struct dataset_renewal renewal = {&spec, &nobody_is_asked};
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, datasets_declare_anew(scene->context.datasets, tx, &renewal,
                                           &dataset, NULL));
    return dataset;
}

static void whoever_reads_a_declaration_goes_on_reading_it(void **state)
{
    (void)state;
    struct scene scene;
    struct visit visit;
    scene_open(&scene);
    struct datasets *datasets = scene.context.datasets;
    scene_declare(&scene, "points", PRIVACY);
    datasets_enter(datasets, &visit);
    const struct dataset *first = datasets_find(datasets, "points");
    const struct dataset *second = declare_anew(&scene, "points", 0);
    const struct dataset *third = declare_anew(&scene, "points", 1);
    assert_int_equal(dataset_spec(first)->schema.column_count, 2);
    assert_int_equal(dataset_spec(second)->schema.column_count, COLUMNS + 1);
    assert_string_equal(dataset_spec(second)->schema.columns[0].name, "x0_0");
    assert_ptr_equal(datasets_find(datasets, "points"), third);
    datasets_leave(datasets, &visit);
    assert_string_equal(dataset_spec(third)->schema.columns[0].name, "x1_0");
    scene_close(&scene);
}

/* Bytes that are allocated, of all threads. */
static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

static void many_declarations_take_the_memory_of_one(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene);
    scene_declare(&scene, "points", PRIVACY);
    for (unsigned i = 0; i < 20; i++) /* the store's pages fill up */
        declare_anew(&scene, "points", i);
    size_t before = allocated();
    for (unsigned i = 0; i < DECLARATIONS; i++)
        declare_anew(&scene, "points", i);
    size_t after = allocated(), size = COLUMNS * sizeof(struct column);
    print_message("%zu bytes more, a declaration takes %zu at least\n",
                  after > before ? after - before : 0, size);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(after < before + DECLARATIONS * size / 10);
#endif
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_reads_a_declaration_goes_on_reading_it),
        cmocka_unit_test(many_declarations_take_the_memory_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
