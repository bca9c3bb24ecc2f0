/* Goal: the cache never exceeds its limit, evicts the file used longest ago and never
 * one that is on loan, and lends only complete files. */
#include "store/blobs/blob_cache.h"

#include <pthread.h>

#include "tests/expect.h"
#include "tests/store/place_fixture.h"

struct scene {
    struct place place;
    char folder[64];
    struct blob_cache *cache;
};

static void begin(struct scene *scene, uint64_t size_max)
{
    scene->place = place_make();
    snprintf(scene->folder, sizeof scene->folder, "%s/cache", scene->place.folder);
    assert_int_equal(blob_cache_open(&scene->cache, scene->folder, size_max, NULL),
                     ST_OK);
}

static void end(struct scene *scene)
{
    blob_cache_close(scene->cache);
    place_remove(&scene->place);
}

/* Borrows the file of an object, and creates the file if is_new is true. */
static struct cached_blob *borrow(struct scene *scene, const char *object,
                                  uint64_t size, bool is_new)
{
    bool found = !is_new;
    struct cached_blob *cached = NULL;
    assert_int_equal(blob_cache_take(scene->cache, object, size, &cached, &found, NULL),
                     ST_OK);
    assert_int_equal(found, is_new);
    if (is_new) {
        FILE *file = fopen(cached_blob_path(cached), "wb");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        blob_cache_filled(scene->cache, cached, true);
    }
    return cached;
}

static bool has(const struct scene *scene, const char *object)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", scene->folder, object);
    return access(path, F_OK) == 0;
}

static void what_was_used_longest_ago_goes_first(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, 100);
    blob_cache_give(scene.cache, borrow(&scene, "a", 40, true));
    blob_cache_give(scene.cache, borrow(&scene, "b", 40, true));
    blob_cache_give(scene.cache, borrow(&scene, "a", 40, false));
    blob_cache_give(scene.cache, borrow(&scene, "c", 30, true));
    assert_true(has(&scene, "a") && has(&scene, "c") && !has(&scene, "b"));
    blob_cache_give(scene.cache, borrow(&scene, "d", 100, true));
    assert_true(has(&scene, "d") && !has(&scene, "a") && !has(&scene, "c"));
    end(&scene);
}

static void what_is_lent_stays_and_a_full_cache_says_so(void **state)
{
    (void)state;
    struct scene scene;
    bool is_new;
    struct error error = {0};
    struct cached_blob *none = NULL;
    begin(&scene, 100);
    blob_cache_give(scene.cache, borrow(&scene, "first", 5, true));
    struct cached_blob *held = borrow(&scene, "held", 60, true);
    struct cached_blob *twice = borrow(&scene, "held", 60, false);
    blob_cache_give(scene.cache, borrow(&scene, "idle", 30, true));
    assert_int_equal(blob_cache_take(scene.cache, "more", 41, &none, &is_new, &error),
                     ST_DISK_FULL);
    assert_non_null(strstr(error.text, "no room"));
    assert_true(has(&scene, "idle")); /* evicted nothing */
    blob_cache_give(scene.cache, borrow(&scene, "fits", 40, true));
    assert_true(has(&scene, "held") && !has(&scene, "idle"));
    assert_int_equal(blob_cache_take(scene.cache, "giant", 101, &none, &is_new, NULL),
                     ST_DISK_FULL);
    blob_cache_give(scene.cache, held);
    assert_int_equal(blob_cache_take(scene.cache, "more", 41, &none, &is_new, NULL),
                     ST_DISK_FULL);
    blob_cache_give(scene.cache, twice);
    blob_cache_give(scene.cache, borrow(&scene, "more", 41, true));
    assert_false(has(&scene, "held"));
    end(&scene);
}

static void what_is_dropped_goes_when_nobody_has_it(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, 100);
    struct cached_blob *held = borrow(&scene, "a", 10, true);
    blob_cache_give(scene.cache, borrow(&scene, "b", 10, true));
    blob_cache_drop(scene.cache, "a");
    blob_cache_drop(scene.cache, "b");
    blob_cache_drop(scene.cache, "none");
    assert_true(has(&scene, "a") && !has(&scene, "b"));
    blob_cache_give(scene.cache, held);
    assert_false(has(&scene, "a"));
    end(&scene);
}

static void what_was_left_is_gone_at_the_next_start(void **state)
{
    (void)state;
    struct scene scene;
    struct stat info;
    begin(&scene, 100);
    assert_int_equal(stat(scene.folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    blob_cache_give(scene.cache, borrow(&scene, "a", 10, true));
    struct blob_cache *again = NULL;
    assert_int_equal(blob_cache_open(&again, scene.folder, 100, NULL), ST_OK);
    assert_false(has(&scene, "a"));
    blob_cache_close(again);
    assert_int_equal(blob_cache_open(&again, "/nowhere/cache", 100, NULL), ST_IO);
    end(&scene);
}

struct waiting {
    struct scene *scene;
    struct cached_blob *cached;
    bool is_new;
};

static void *wait_for_it(void *context)
{
    struct waiting *waiting = context;
    assert_int_equal(blob_cache_take(waiting->scene->cache, "a", 10, &waiting->cached,
                                     &waiting->is_new, NULL),
                     ST_OK);
    return NULL;
}

/* The other thread arrives either while the file is being filled, and waits, or later.
 * In both cases it must see the complete file. */
static void nobody_is_lent_what_another_is_filling(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct scene scene;
        bool is_new = false;
        pthread_t thread;
        struct cached_blob *cached = NULL;
        begin(&scene, 100);
        struct waiting waiting = {.scene = &scene};
        assert_int_equal(blob_cache_take(scene.cache, "a", 10, &cached, &is_new, NULL),
                         ST_OK);
        assert_true(is_new);
        assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &waiting), 0);
        blob_cache_filled(scene.cache, cached, whole);
        pthread_join(thread, NULL);
        assert_int_equal(waiting.is_new, !whole);
        if (waiting.is_new)
            blob_cache_filled(scene.cache, waiting.cached, false);
        else
            blob_cache_give(scene.cache, waiting.cached);
        if (whole)
            blob_cache_give(scene.cache, cached);
        end(&scene);
    }
}

enum { MIB = 1 << 20 };

static enum status take(struct scene *scene, const char *object, uint64_t size,
                        struct cached_blob **cached)
{
    bool is_new;
    return blob_cache_take(scene->cache, object, size, cached, &is_new, NULL);
}

static void what_is_fetched_leaves_room_on_the_disk(void **state)
{
    (void)state;
    struct scene scene;
    struct cached_blob *cached = NULL;
    begin(&scene, UINT64_C(1) << 40);
    assert_int_equal(blob_cache_trim(scene.cache, CACHE_DISK_MIN + 100 * MIB), 0);
    blob_cache_give(scene.cache, borrow(&scene, "a", 40 * MIB, true));
    blob_cache_give(scene.cache, borrow(&scene, "b", 40 * MIB, true));
    blob_cache_give(scene.cache, borrow(&scene, "c", 30 * MIB, true)); /* evicts a */
    assert_true(!has(&scene, "a") && has(&scene, "b") && has(&scene, "c"));
    assert_int_equal(take(&scene, "d", 101 * MIB, &cached), ST_DISK_FULL);
    assert_true(has(&scene, "b") && has(&scene, "c")); /* evicted nothing */
    struct cached_blob *held = borrow(&scene, "b", 40 * MIB, false);
    assert_int_equal(take(&scene, "d", 61 * MIB, &cached), ST_DISK_FULL);
    blob_cache_give(scene.cache, borrow(&scene, "d", 60 * MIB, true));
    assert_true(has(&scene, "b") && !has(&scene, "c"));
    blob_cache_give(scene.cache, held);
    end(&scene);
}

static void what_is_idle_goes_where_the_disk_is_nearly_full(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, UINT64_C(1) << 40);
    blob_cache_give(scene.cache, borrow(&scene, "a", 40 * MIB, true));
    blob_cache_give(scene.cache, borrow(&scene, "b", 40 * MIB, true));
    struct cached_blob *held = borrow(&scene, "held", 40 * MIB, true);
    assert_int_equal(blob_cache_trim(scene.cache, CACHE_DISK_MIN), 0);
    assert_int_equal(blob_cache_trim(scene.cache, CACHE_DISK_MIN - 1), 40 * MIB);
    assert_true(!has(&scene, "a") && has(&scene, "b"));
    assert_int_equal(blob_cache_trim(scene.cache, 0), 40 * MIB);
    assert_true(!has(&scene, "b") && has(&scene, "held"));
    blob_cache_give(scene.cache, held);
    end(&scene);
}

static void what_is_being_filled_has_its_room_and_ends_on_a_full_disk(void **state)
{
    (void)state;
    struct scene scene;
    struct cached_blob *filling = NULL, *more = NULL;
    begin(&scene, UINT64_C(1) << 40);
    blob_cache_trim(scene.cache, CACHE_DISK_MIN + 100 * MIB);
    assert_int_equal(take(&scene, "a", 60 * MIB, &filling), ST_OK);
    assert_true(blob_cache_grow(scene.cache, filling, 20 * MIB));
    blob_cache_trim(scene.cache, CACHE_DISK_MIN + 80 * MIB); /* leaves 40 MiB */
    assert_int_equal(take(&scene, "b", 40 * MIB + 1, &more), ST_DISK_FULL);
    assert_int_equal(take(&scene, "b", 40 * MIB, &more), ST_OK);
    blob_cache_filled(scene.cache, more, false);
    assert_int_equal(take(&scene, "b", 40 * MIB, &more), ST_OK); /* the fill failed */
    blob_cache_filled(scene.cache, more, false);
    blob_cache_trim(scene.cache, CACHE_DISK_LEAST - 1);
    assert_false(blob_cache_grow(scene.cache, filling, 8 * MIB));
    blob_cache_trim(scene.cache, CACHE_DISK_LEAST);
    assert_true(blob_cache_grow(scene.cache, filling, 8 * MIB));
    blob_cache_filled(scene.cache, filling, false);
    end(&scene);
}

static void a_file_that_is_there_takes_no_more_of_the_disk(void **state)
{
    (void)state;
    struct scene scene;
    char path[128];
    begin(&scene, 50 * MIB);
    blob_cache_trim(scene.cache, CACHE_DISK_MIN);
    snprintf(path, sizeof path, "%s/draft", scene.place.folder);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(blob_cache_adopt(scene.cache, "a", 40 * MIB, path), i == 0);
    }
    assert_false(blob_cache_adopt(scene.cache, "giant", 51 * MIB, path));
    assert_true(access(path, F_OK) == 0 && has(&scene, "a"));
    assert_true(blob_cache_adopt(scene.cache, "b", 40 * MIB, path));
    assert_true(!has(&scene, "a") && has(&scene, "b") && access(path, F_OK) != 0);
    blob_cache_give(scene.cache, borrow(&scene, "b", 40 * MIB, false));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_longest_ago_goes_first),
        cmocka_unit_test(what_is_lent_stays_and_a_full_cache_says_so),
        cmocka_unit_test(what_is_dropped_goes_when_nobody_has_it),
        cmocka_unit_test(what_was_left_is_gone_at_the_next_start),
        cmocka_unit_test(nobody_is_lent_what_another_is_filling),
        cmocka_unit_test(what_is_fetched_leaves_room_on_the_disk),
        cmocka_unit_test(what_is_idle_goes_where_the_disk_is_nearly_full),
        cmocka_unit_test(what_is_being_filled_has_its_room_and_ends_on_a_full_disk),
        cmocka_unit_test(a_file_that_is_there_takes_no_more_of_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
