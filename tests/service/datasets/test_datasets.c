/* Goal: an earlier declaration of a dataset stays for threads that are still reading
 * it, and for no others. Method: a service on its own directory. */
#include "service/datasets/datasets.h"
#include "service/datasets/dataset_refresh.h"
#include "service/datasets/dataset_write.h"

#include <malloc.h>

#include "service/threads/epoch_reclaim.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { DECLARATIONS = 250, COLUMNS = 200 };

#define PRIVACY "\"public\""

/* Points on a line, with many more columns whose names contain a number. */
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
    assert_int_equal(dataset_spec_parse(&spec, json_text_sized(text, size), NULL),
                     ST_OK);
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
    struct reclaim_reader visit;
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

/* Returns the allocated bytes of all threads. */
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

static unsigned told; /* changes announced to all */

static void note(void *context, const struct dataset_id *id)
{
    (void)context, (void)id;
    told++;
}

static void move_to(struct scene *scene, const char *id, enum dataset_state state)
{
    struct dataset_info info = {.state = state};
    struct datasets *datasets = scene->context.datasets;
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx,
                 dataset_move(datasets, tx, datasets_find(datasets, id), &info, NULL));
}

static enum dataset_state shown_to(struct scene *scene, const char *id,
                                   const struct principal *reader)
{
    struct dataset_info info;
    struct datasets *datasets = scene->context.datasets;
    dataset_read_as(datasets, datasets_find(datasets, id), reader, &info);
    return info.state;
}

static void add_of(struct scene *scene, const char *id, const struct principal *owner)
{
    struct dataset *dataset;
    struct dataset_spec spec = wide_spec(id, 0);
    const struct dataset_addition addition = {&spec, owner, false};
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx,
                 datasets_add(scene->context.datasets, tx, &addition, &dataset, NULL));
}

static const struct principal ward = {.name = "ward", .project = "fraud"},
                              mallory = {.name = "mallory", .project = "fraud"};

static void an_import_that_is_refused_changes_nothing_for_others(void **state)
{
    (void)state;
    static const enum dataset_state moves[] = {DATASET_IMPORTING, DATASET_FAILED,
                                               DATASET_IMPORTING, DATASET_CREATED,
                                               DATASET_IMPORTING};
    struct scene scene;
    scene_open(&scene);
    add_of(&scene, "points", &ward);
    datasets_watch(scene.context.datasets, note, NULL);
    uint64_t version = datasets_version(scene.context.datasets);
    told = 0;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        move_to(&scene, "points", moves[i]);
        assert_int_equal(shown_to(&scene, "points", &ward), moves[i]);
        assert_int_equal(shown_to(&scene, "points", &mallory), DATASET_CREATED);
        assert_int_equal(shown_to(&scene, "points", NULL), DATASET_CREATED);
        assert_int_equal(datasets_version(scene.context.datasets), version);
        assert_int_equal(told, 0);
    }
    move_to(&scene, "points", DATASET_READY);
    assert_int_equal(shown_to(&scene, "points", NULL), DATASET_READY);
    assert_true(datasets_version(scene.context.datasets) > version);
    assert_int_equal(told, 1);
    scene_close(&scene);
}

/* The other daemon reads the rows of the same store. */
static void a_refused_import_of_another_daemon_changes_nothing_for_others(void **state)
{
    (void)state;
    struct scene scene;
    struct datasets *elsewhere;
    scene_open(&scene);
    add_of(&scene, "points", &ward);
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(datasets_open(&elsewhere, tx, NULL), ST_OK);
    store_rollback(tx);
    datasets_watch(elsewhere, note, NULL);
    uint64_t version = datasets_version(elsewhere);
    told = 0;
    static const enum dataset_state moves[] = {DATASET_IMPORTING, DATASET_FAILED,
                                               DATASET_IMPORTING, DATASET_READY};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        move_to(&scene, "points", moves[i]);
        tx = scene_begin(&scene);
        assert_int_equal(dataset_renew(elsewhere, tx, "points", NULL), ST_OK);
        store_rollback(tx);
        bool is_seen = moves[i] == DATASET_READY;
        assert_int_equal(told, is_seen);
        assert_true((datasets_version(elsewhere) > version) == is_seen);
        struct dataset_info info;
        dataset_read(elsewhere, datasets_find(elsewhere, "points"), &info);
        assert_int_equal(info.state, moves[i]);
    }
    datasets_close(elsewhere);
    scene_close(&scene);
}

/* Without keys every user is the local principal, and sees imports in lists and
 * streams. */
static void an_import_without_keys_is_shown_to_everybody(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene);
    add_of(&scene, "points", &principal_local);
    datasets_watch(scene.context.datasets, note, NULL);
    told = 0;
    move_to(&scene, "points", DATASET_IMPORTING);
    assert_int_equal(shown_to(&scene, "points", NULL), DATASET_IMPORTING);
    assert_int_equal(told, 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_reads_a_declaration_goes_on_reading_it),
        cmocka_unit_test(many_declarations_take_the_memory_of_one),
        cmocka_unit_test(an_import_that_is_refused_changes_nothing_for_others),
        cmocka_unit_test(a_refused_import_of_another_daemon_changes_nothing_for_others),
        cmocka_unit_test(an_import_without_keys_is_shown_to_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
