/* Goal: a blob that the write queue borrows is either local or is fetched outside the
 * write queue, and stays until the request is answered. Method: blobs in a bucket in
 * memory, which counts the calls. */
#include "service/http/blob_prefetch.h"

#include <unistd.h>

#include "store/blobs/blob_objects.h"
#include "tests/expect.h"
#include "tests/store/bucket_fixture.h"
#include "tests/store/place_fixture.h"

enum { LARGE = 9 << 20 };

struct scene {
    struct place place;
    struct memory_bucket memory;
    struct store *store;
    struct blobs *blobs;
    struct blob_name first, second;
    struct blob_prefetch prefetch;
};

static void open_blobs(struct scene *scene)
{
    const struct blob_objects_setup setup = {.bucket = &scene->memory.bucket,
                                             .store = scene->store,
                                             .cache_size = LARGE + LARGE / 2};
    assert_int_equal(blobs_open(&scene->blobs, scene->place.folder, NULL), ST_OK);
    assert_int_equal(blob_objects_use(scene->blobs, &setup, NULL), ST_OK);
}

static void close_blobs(struct scene *scene)
{
    blob_objects_leave(scene->blobs);
    blobs_close(scene->blobs);
}

static struct blob_name publish(struct scene *scene, const char *id)
{
    char path[BLOB_PATH_SIZE];
    struct dataset_id dataset;
    struct blob_draft draft;
    assert_true(dataset_id_parse(&dataset, id));
    const struct blob_name name = blob_of_dataset(&dataset, BLOB_DATA);
    blob_draft_init(&draft, &name);
    blob_draft_path(scene->blobs, path, &draft);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(path, LARGE), 0);
    assert_int_equal(blob_publish(scene->blobs, &draft, NULL), ST_OK);
    return name;
}

/* Two files are in the bucket, and none is local. */
static void begin(struct scene *scene)
{
    *scene = (struct scene){.place = place_make()};
    memory_bucket_init(&scene->memory);
    assert_int_equal(store_open(&scene->store, scene->place.path, NULL), ST_OK);
    open_blobs(scene);
    scene->first = publish(scene, "first");
    scene->second = publish(scene, "second");
    close_blobs(scene);
    open_blobs(scene);
    scene->memory.gets = 0;
}

static void end(struct scene *scene)
{
    blob_prefetch_end(&scene->prefetch, scene->blobs);
    close_blobs(scene);
    store_close(scene->store);
    memory_bucket_fini(&scene->memory);
    place_remove(&scene->place);
}

static enum status borrow(struct scene *scene, const struct blob_name *name)
{
    struct blob_loan loan = {.is_lent = false};
    enum status status =
        blob_prefetch_borrow(&scene->prefetch, scene->blobs, &loan, name, NULL);
    assert_true(loan.is_lent == (status == ST_OK));
    if (status == ST_OK)
        assert_int_equal(access(loan.path, R_OK), 0);
    blob_give_back(scene->blobs, &loan);
    return status;
}

static void only_the_prefetch_fetches_a_file(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    assert_int_equal(borrow(&scene, &scene.first), ST_QUEUE_FULL);
    assert_true(scene.prefetch.is_due);
    assert_int_equal(scene.memory.gets, 0);
    blob_prefetch_run(&scene.prefetch, scene.blobs, NULL);
    assert_false(scene.prefetch.is_due);
    size_t gets = scene.memory.gets;
    assert_true(gets > 0);
    assert_int_equal(borrow(&scene, &scene.first), ST_OK);
    assert_false(scene.prefetch.is_due);
    assert_int_equal(scene.memory.gets, gets);
    end(&scene);
}

static void a_fetched_file_stays_until_the_prefetch_ends(void **state)
{
    (void)state;
    struct scene scene;
    struct blob_loan loan = {.is_lent = false};
    begin(&scene);
    assert_int_equal(borrow(&scene, &scene.first), ST_QUEUE_FULL);
    blob_prefetch_run(&scene.prefetch, scene.blobs, NULL);
    /* The cache has room for one of the two. */
    assert_int_equal(blob_fetch(scene.blobs, &loan, &scene.second, NULL), ST_DISK_FULL);
    assert_int_equal(borrow(&scene, &scene.first), ST_OK);
    blob_prefetch_end(&scene.prefetch, scene.blobs);
    assert_int_equal(blob_fetch(scene.blobs, &loan, &scene.second, NULL), ST_OK);
    blob_give_back(scene.blobs, &loan);
    end(&scene);
}

static void what_cannot_be_brought_is_told_and_not_sought_again(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.memory.failures = 1;
    assert_int_equal(borrow(&scene, &scene.first), ST_QUEUE_FULL);
    blob_prefetch_run(&scene.prefetch, scene.blobs, NULL);
    assert_int_equal(borrow(&scene, &scene.first), ST_IO);
    assert_false(scene.prefetch.is_due);
    assert_int_equal(borrow(&scene, &scene.second), ST_QUEUE_FULL); /* another is due */
    blob_prefetch_run(&scene.prefetch, scene.blobs, NULL);
    assert_int_equal(borrow(&scene, &scene.second), ST_OK);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_prefetch_fetches_a_file),
        cmocka_unit_test(a_fetched_file_stays_until_the_prefetch_ends),
        cmocka_unit_test(what_cannot_be_brought_is_told_and_not_sought_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
