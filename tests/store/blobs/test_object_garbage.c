/* Goal: an object without a row is deleted once it is old by the bucket's clock, and an
 * object that is being published is never deleted, also under concurrent work. */
#define _GNU_SOURCE /* for memmem */
#include "store/blobs/object_garbage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "store/blobs/blob_objects.h"
#include "tests/expect.h"
#include "tests/store/bucket_fixture.h"
#include "tests/store/place_fixture.h"

static const atomic_bool goes_on = false;

/* --- a machine that was suspended --- */

static atomic_long slept_s;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int code = __real_clock_gettime(clock, now);
    if (code == 0 && clock == CLOCK_BOOTTIME)
        now->tv_sec += atomic_load(&slept_s);
    return code;
}

struct scene {
    struct place place;
    struct memory_bucket memory;
    struct store *store;
    struct blobs *blobs;
};

static void use(struct scene *scene)
{
    assert_int_equal(store_open_beside(&scene->store, scene->place.path, NULL), ST_OK);
    assert_int_equal(blobs_open(&scene->blobs, scene->place.folder, NULL), ST_OK);
    const struct blob_objects_setup setup = {
        scene->store, &scene->memory.bucket, {1}, 1 << 20};
    assert_int_equal(blob_objects_use(scene->blobs, &setup, NULL), ST_OK);
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){.place = place_make()};
    memory_bucket_init(&scene->memory);
    use(scene);
    assert_int_equal(blob_objects_collect(scene->blobs, NULL), ST_OK);
}

static void leave(struct scene *scene)
{
    blob_objects_leave(scene->blobs);
    store_close(scene->store);
    blobs_close(scene->blobs);
}

static void end(struct scene *scene)
{
    leave(scene);
    memory_bucket_fini(&scene->memory);
    place_remove(&scene->place);
}

static struct blob_name name_of(int number)
{
    char id[16];
    struct dataset_id dataset;
    snprintf(id, sizeof id, "d%d", number);
    assert_true(dataset_id_parse(&dataset, id));
    return blob_of_dataset(&dataset, BLOB_DATA);
}

static enum status try_to_publish(struct scene *scene, int number)
{
    struct blob_draft draft;
    char path[BLOB_PATH_SIZE];
    const struct blob_name name = name_of(number);
    blob_draft_init(&draft, &name);
    blob_draft_path(scene->blobs, path, &draft);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "records %d", number);
    assert_int_equal(fclose(file), 0);
    return blob_publish(scene->blobs, &draft, NULL);
}

static void publish(struct scene *scene, int number)
{
    assert_int_equal(try_to_publish(scene, number), ST_OK);
}

static void put_stray(struct scene *scene, int number)
{
    char name[33];
    snprintf(name, sizeof name, "%032d", number);
    assert_int_equal(memory_put(&scene->memory.bucket, name, "x", 1, NULL), ST_OK);
}

static void move_clock(struct scene *scene, int64_t seconds)
{
    pthread_mutex_lock(&scene->memory.lock);
    scene->memory.now_s += seconds;
    pthread_mutex_unlock(&scene->memory.lock);
}

static size_t collect(struct scene *scene)
{
    size_t removed = 0;
    assert_int_equal(object_garbage_collect(&scene->memory.bucket, scene->store,
                                            &goes_on, &removed, NULL),
                     ST_OK);
    return removed;
}

static void only_old_objects_without_a_row_go(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    publish(&scene, 1);
    for (int i = 0; i < 450; i++) /* more than one listing returns */
        put_stray(&scene, i);
    memory_put(&scene.memory.bucket, "readme", "of somebody else", 16, NULL);
    memory_put(&scene.memory.bucket, "0123456789abcdef0123456789abcdef0", "x", 1, NULL);
    move_clock(&scene, GARBAGE_AGE_S);
    put_stray(&scene, 1000);
    assert_int_equal(collect(&scene), 0);
    move_clock(&scene, 1);
    assert_int_equal(collect(&scene), 450);
    assert_int_equal(memory_count(&scene.memory),
                     5); /* the young objects and those of others stay */
    move_clock(&scene, (int64_t)GARBAGE_AGE_S * 10);
    assert_int_equal(collect(&scene), 1);
    assert_int_equal(collect(&scene), 0);
    end(&scene);
}

/* The latest moment that a publisher may take: the object exists, and its row is not
 * inserted yet. */
static void collect_half_way(void *context)
{
    struct scene *scene = context;
    move_clock(scene, OBJECT_PUBLISH_MAX_S);
    assert_int_equal(collect(scene), 0);
}

static void a_stop_ends_the_collection_between_two_pages(void **state)
{
    (void)state;
    struct scene scene;
    size_t removed = 7;
    const atomic_bool stops = true;
    begin(&scene);
    size_t before = memory_count(&scene.memory);
    for (int i = 0; i < 450; i++)
        put_stray(&scene, i);
    move_clock(&scene, GARBAGE_AGE_S + 1);
    assert_int_equal(object_garbage_collect(&scene.memory.bucket, scene.store, &stops,
                                            &removed, NULL),
                     ST_CANCELLED);
    assert_int_equal(removed, 0);
    collect(&scene); /* or the scene's own thread does, which collects at its start */
    assert_true(memory_count(&scene.memory) <= before);
    end(&scene);
}

static void what_was_put_and_waits_for_its_row_is_not_taken(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.memory.context = &scene;
    scene.memory.after_put = collect_half_way;
    for (int i = 0; i < 5; i++)
        publish(&scene, i);
    scene.memory.after_put = NULL;
    end(&scene);
}

static void sleep_half_way(void *context)
{
    struct scene *scene = context;
    atomic_fetch_add(&slept_s, GARBAGE_AGE_S + 1);
    move_clock(scene, GARBAGE_AGE_S + 1);
    assert_int_equal(collect(scene), 1);
}

/* The object was deleted in the meantime, so a row would name a missing object. */
static void a_publisher_that_slept_for_too_long_commits_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct blob_loan loan = {.is_lent = false};
    const struct blob_name name = name_of(1);
    begin(&scene);
    publish(&scene, 1);
    scene.memory.context = &scene;
    scene.memory.after_put = sleep_half_way;
    assert_int_equal(try_to_publish(&scene, 1), ST_IO);
    assert_int_equal(try_to_publish(&scene, 2), ST_IO);
    scene.memory.after_put = NULL;
    leave(&scene);
    use(&scene); /* published earlier, still there */
    assert_int_equal(blob_fetch(scene.blobs, &loan, &name, NULL), ST_OK);
    blob_give_back(scene.blobs, &loan);
    const struct blob_name none = name_of(2);
    assert_int_equal(blob_find(scene.blobs, &none, NULL), ST_NOT_FOUND);
    publish(&scene, 2);
    end(&scene);
}

struct publisher {
    struct scene *scene;
    atomic_bool ended;
};

enum { PUBLISHED = 60 };

static void *publish_many(void *context)
{
    struct publisher *publisher = context;
    for (int i = 0; i < PUBLISHED; i++) {
        move_clock(publisher->scene,
                   OBJECT_PUBLISH_MAX_S); /* all but the newest are old */
        publish(publisher->scene, i);
    }
    atomic_store(&publisher->ended, true);
    return NULL;
}

static void what_is_being_published_is_never_taken(void **state)
{
    (void)state;
    struct scene scene;
    pthread_t thread;
    begin(&scene);
    struct publisher publisher = {.scene = &scene};
    assert_int_equal(pthread_create(&thread, NULL, publish_many, &publisher), 0);
    while (!atomic_load(&publisher.ended))
        assert_int_equal(collect(&scene), 0);
    pthread_join(thread, NULL);
    assert_int_equal(memory_count(&scene.memory), PUBLISHED + 1);
    end(&scene);
}

enum { PAGE_SIZE = 4096, INDEX_LEAF = 10 }; /* of SQLite's file format */

/* Changes the first digit of the object's name in an index, so that a lookup by it
 * misses the row. */
static void damage_index(const struct scene *scene, const char *object)
{
    static uint8_t page[PAGE_SIZE];
    unsigned damaged = 0;
    FILE *file = fopen(scene->place.path, "r+b");
    assert_non_null(file);
    for (long at = 0; fread(page, 1, sizeof page, file) == sizeof page;
         at += PAGE_SIZE) {
        const uint8_t *found = memmem(page, sizeof page, object, strlen(object));
        if (page[0] != INDEX_LEAF || found == NULL)
            continue;
        assert_int_equal(fseek(file, at + (found - page), SEEK_SET), 0);
        fputc(*found == '0' ? '1' : '0', file);
        assert_int_equal(fseek(file, at + PAGE_SIZE, SEEK_SET), 0);
        damaged++;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(damaged, 1);
}

static void nothing_goes_by_a_damaged_database(void **state)
{
    (void)state;
    struct scene scene;
    struct error error = {0};
    begin(&scene);
    publish(&scene, 1);
    leave(&scene);
    const struct kept_object *kept = scene.memory.list;
    if (strcmp(kept->name, OBJECT_MARKER) == 0)
        kept = kept->next;
    damage_index(&scene, kept->name);
    move_clock(&scene, GARBAGE_AGE_S + 1);
    use(&scene);
    assert_int_equal(blob_objects_collect(scene.blobs, &error), ST_CORRUPT);
    leave(&scene); /* waits until all work that was started has ended */
    assert_int_equal(memory_count(&scene.memory), 2);
    memory_bucket_fini(&scene.memory);
    place_remove(&scene.place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_old_objects_without_a_row_go),
        cmocka_unit_test(a_stop_ends_the_collection_between_two_pages),
        cmocka_unit_test(what_was_put_and_waits_for_its_row_is_not_taken),
        cmocka_unit_test(a_publisher_that_slept_for_too_long_commits_nothing),
        cmocka_unit_test(what_is_being_published_is_never_taken),
        cmocka_unit_test(nothing_goes_by_a_damaged_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
