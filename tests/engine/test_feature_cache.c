/* Goal: the features of a run are kept for the next run on the same dataset, within
 * limits, and are deleted with their dataset. Method: files of known content under
 * made-up names; time and the free disk are arguments. */
#include "tests/expect.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/feature_cache.h"

enum { WIDTH = 8, RECORDS = 4, SIZE = WIDTH * RECORDS * 4 };
static const uint64_t plenty = UINT64_C(1) << 40;

static char folder[] = "/tmp/epsilond-cache-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if something was left */
}

static struct feature_cache *cache_of(uint64_t files)
{
    const struct feature_cache_limits limits = {files * SIZE, 60};
    return feature_cache_create(&limits);
}

static size_t files_in(const char *path)
{
    size_t count = 0;
    DIR *entries = opendir(path);
    assert_non_null(entries);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count - 2; /* . and .. */
}

/* Makes a nameless file whose features are all equal to number. */
static struct feature_file *file_of(float number)
{
    struct feature_file *file = NULL;
    float row[WIDTH];
    for (size_t j = 0; j < WIDTH; j++)
        row[j] = number;
    assert_int_equal(feature_file_create(&file, folder, RECORDS, WIDTH, NULL), ST_OK);
    for (size_t i = 0; i < RECORDS; i++)
        assert_true(feature_file_write(file, i, row));
    assert_int_equal(feature_file_map(file, NULL), ST_OK);
    assert_int_equal(feature_file_size(file), SIZE);
    assert_int_equal(files_in(folder), 0);
    return file;
}

static struct feature_name name_of(const char *dataset, uint8_t number)
{
    struct feature_name name = {.dataset = dataset};
    memset(name.digest, number, sizeof name.digest);
    return name;
}

static void keep(struct feature_cache *cache, const char *dataset, uint8_t number)
{
    const struct feature_name name = name_of(dataset, number);
    struct feature_file *file = file_of((float)number);
    feature_cache_keep(cache, &name, file);
    feature_file_let_go(file);
}

static bool has(struct feature_cache *cache, const char *dataset, uint8_t number)
{
    const struct feature_name name = name_of(dataset, number);
    struct feature_file *file = feature_cache_find(cache, &name);
    if (file == NULL)
        return false;
    const struct feature_rows rows = feature_file_rows(file);
    assert_int_equal(rows.width, WIDTH);
    for (size_t j = 0; j < WIDTH * RECORDS; j++)
        assert_true(rows.rows[j] == (float)number);
    feature_file_let_go(file);
    return true;
}

static void a_file_is_found_by_its_dataset_and_digest(void **state)
{
    struct feature_cache *cache = cache_of(8);
    (void)state;
    keep(cache, "a", 1);
    assert_true(has(cache, "a", 1));
    assert_false(has(cache, "a", 2));
    assert_false(has(cache, "b", 1)); /* equal content or not */
    keep(cache, "a", 1);
    feature_cache_trim(cache, 0, plenty);
    assert_int_equal(feature_cache_size(cache), SIZE); /* the first one stayed */
    feature_cache_destroy(cache);
}

static void a_dataset_takes_its_files_with_it(void **state)
{
    struct feature_cache *cache = cache_of(8);
    (void)state;
    keep(cache, "a", 1);
    keep(cache, "b", 1);
    keep(cache, "a", 2);
    feature_cache_forget(cache, "a");
    assert_false(has(cache, "a", 1) || has(cache, "a", 2));
    assert_true(has(cache, "b", 1));
    feature_cache_destroy(cache);
}

static void what_was_not_used_for_longest_goes_first(void **state)
{
    struct feature_cache *cache = cache_of(3);
    (void)state;
    for (uint8_t k = 1; k <= 3; k++)
        keep(cache, "a", k);
    assert_true(has(cache, "a", 1));
    keep(cache, "a", 4);
    assert_false(has(cache, "a", 2));
    assert_true(has(cache, "a", 1) && has(cache, "a", 3) && has(cache, "a", 4));
    feature_cache_trim(cache, 0, plenty);
    assert_int_equal(feature_cache_size(cache), 3 * SIZE);
    feature_cache_destroy(cache);
}

static void a_file_larger_than_all_is_not_kept(void **state)
{
    const struct feature_cache_limits limits = {SIZE - 1, 60};
    struct feature_cache *cache = feature_cache_create(&limits);
    (void)state;
    keep(cache, "a", 1);
    assert_false(has(cache, "a", 1));
    feature_cache_destroy(cache);
}

static void what_is_idle_is_let_go(void **state)
{
    struct feature_cache *cache = cache_of(8);
    (void)state;
    feature_cache_trim(cache, 1000, plenty);
    keep(cache, "a", 1);
    keep(cache, "a", 2);
    feature_cache_trim(cache, 1060, plenty);
    assert_true(has(cache, "a", 1));
    feature_cache_trim(cache, 1061, plenty);
    assert_true(has(cache, "a", 1));
    assert_false(has(cache, "a", 2));
    feature_cache_destroy(cache);
}

static void files_give_way_where_the_disk_fills(void **state)
{
    struct feature_cache *cache = cache_of(8);
    (void)state;
    for (uint8_t k = 1; k <= 3; k++)
        keep(cache, "a", k);
    feature_cache_trim(cache, 0, 2 * SIZE);
    assert_int_equal(feature_cache_size(cache), 2 * SIZE);
    assert_false(has(cache, "a", 1));
    feature_cache_trim(cache, 0, 0);
    assert_int_equal(feature_cache_size(cache), 0);
    feature_cache_destroy(cache);
}

static void who_holds_a_file_keeps_it(void **state)
{
    struct feature_cache *cache = cache_of(8);
    const struct feature_name name = name_of("a", 1);
    (void)state;
    keep(cache, "a", 1);
    struct feature_file *held = feature_cache_find(cache, &name);
    feature_cache_forget(cache, "a");
    feature_cache_destroy(cache);
    assert_true(feature_file_rows(held).rows[WIDTH * RECORDS - 1] == 1.0F);
    feature_file_let_go(held);
}

static void a_file_that_cannot_be_had_is_told(void **state)
{
    struct feature_file *file = NULL;
    (void)state;
    assert_int_equal(feature_file_create(&file, "/nonexistent", 1, 1, NULL), ST_IO);
    assert_int_equal(feature_file_create(&file, folder, (size_t)1 << 40, 1024, NULL),
                     ST_NO_MEMORY);
    assert_null(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_by_its_dataset_and_digest),
        cmocka_unit_test(a_dataset_takes_its_files_with_it),
        cmocka_unit_test(what_was_not_used_for_longest_goes_first),
        cmocka_unit_test(a_file_larger_than_all_is_not_kept),
        cmocka_unit_test(what_is_idle_is_let_go),
        cmocka_unit_test(files_give_way_where_the_disk_fills),
        cmocka_unit_test(who_holds_a_file_keeps_it),
        cmocka_unit_test(a_file_that_cannot_be_had_is_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
