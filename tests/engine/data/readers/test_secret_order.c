/* Goal: an import puts the units of private data into an order that is drawn from a
 * secret of that import. The order is uniform, drawn again for each import, and depends
 * neither on the content nor on the order of the file. So one person's rows do not
 * change any other person's part. Method: imports whose secrets come from a fixed
 * generator, so that each run is the same. The test mounts the attack that read more
 * from a holdout than its price covers. */
#include "engine/data/readers/import.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "engine/data/readers/reader_registry.h"
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"

/* Secrets are drawn from a stream with a fixed key, one after the other. */
static uint64_t secrets_drawn;
void __wrap_random_bytes(void *out, size_t size);
void __wrap_random_bytes(void *out, size_t size)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {7};
    struct stream *stream = stream_create();
    stream_read(stream, out, size, &(struct stream_position){key, secrets_drawn++, 0});
    stream_destroy(stream);
}

static char who[] = "who", x[] = "x", y[] = "y", no[] = "no", yes[] = "yes";
static char *answers[] = {no, yes};
enum { X_RANGE = 4096 };
static struct column columns[] = {
    {.name = who, .kind = COLUMN_PRIVACY_ID},
    {.name = x, .kind = COLUMN_NUMERIC, .low = 0, .high = X_RANGE},
    {.name = y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers}};
static struct column without_ids[] = {
    {.name = who, .kind = COLUMN_IGNORED},
    {.name = x, .kind = COLUMN_NUMERIC, .low = 0, .high = X_RANGE},
    {.name = y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers}};

/* The schema of a table whose units are persons, or records. */
static struct schema table_of(enum privacy_unit unit)
{
    return (struct schema){.reader = &csv_reader,
                           .task = TASK_CLASSIFICATION,
                           .classes = 2,
                           .column_count = 3,
                           .rows_kept = 1,
                           .columns =
                               unit == PRIVACY_UNIT_PERSON ? columns : without_ids};
}

static const enum privacy_unit units[] = {PRIVACY_UNIT_RECORD, PRIVACY_UNIT_PERSON};

static void ingest_private(struct ingest *ingest, const struct schema *schema,
                           const char *text)
{
    matrix_close(&ingest->matrix);
    write_file(ingest->data, text, strlen(text));
    ingest->files = (struct import_files){{ingest->data}};
    struct import import = ingest_import(ingest, schema);
    import.is_private = true;
    assert_int_equal(import_run(&import, &ingest->result, &ingest->failure), ST_OK);
    assert_int_equal(matrix_open(&ingest->matrix, ingest->out, NULL), ST_OK);
}

static uint32_t x_of(const struct matrix *matrix, uint32_t unit)
{
    float at = feature_at(matrix, matrix_unit(matrix, unit).first, 0);
    return (uint32_t)lround(((double)at + 1) / 2 * X_RANGE);
}

/* Checks that a count of n draws of probability p lies within six deviations; a check
 * fails by chance with probability 2e-9. */
static void expect_count(size_t count, size_t draws, double p)
{
    double mean = (double)draws * p, deviation = sqrt(mean * (1 - p));
    if (fabs((double)count - mean) > 6 * deviation)
        fail_msg("%zu, where %g with a deviation of %g is expected", count, mean,
                 deviation);
}

static void each_order_of_four_units_is_as_likely(void **state)
{
    (void)state;
    enum { TIMES = 2400, ORDERS = 256 };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < 2; k++) {
        const struct schema table = table_of(units[k]);
        size_t counts[ORDERS] = {0}, orders = 0;
        for (size_t t = 0; t < TIMES; t++) {
            ingest_private(&ingest, &table, "a,0,no\nb,1,no\nc,2,yes\nd,3,no\n");
            size_t order = 0;
            for (uint32_t u = 0; u < 4; u++) {
                order = order * 4 + x_of(&ingest.matrix, u);
                uint32_t row = matrix_unit(&ingest.matrix, u).first;
                assert_int_equal(ingest.matrix.targets[row],
                                 x_of(&ingest.matrix, u) == 2);
            }
            counts[order]++;
        }
        for (size_t order = 0; order < ORDERS; order++) {
            orders += counts[order] > 0;
            if (counts[order] > 0)
                expect_count(counts[order], TIMES, 1.0 / 24);
        }
        assert_int_equal(orders, 24);
    }
    ingest_fini(&ingest);
}

/* More units than there are buckets, so that rows are stored in files. */
static char *long_table(size_t count)
{
    char *text = calloc(count + 1, 32), *end = text;
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, "p%zu,%zu,%s\n", i, i % X_RANGE, i % 3 == 0 ? "yes" : "no");
    return text;
}

/* With one secret for two imports, knowledge about one order would reveal the other. */
static void each_import_draws_an_order_of_its_own(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    char *text = long_table(COUNT);
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < 2; k++) {
        const struct schema table = table_of(units[k]);
        uint32_t first[COUNT];
        size_t same = 0, in_file = 0;
        ingest_private(&ingest, &table, text);
        for (uint32_t u = 0; u < COUNT; u++)
            first[u] = x_of(&ingest.matrix, u);
        ingest_private(&ingest, &table, text);
        for (uint32_t u = 0; u < COUNT; u++) {
            same += first[u] == x_of(&ingest.matrix, u);
            in_file += first[u] == u;
            uint32_t row = matrix_unit(&ingest.matrix, u).first;
            assert_int_equal(ingest.matrix.targets[row],
                             x_of(&ingest.matrix, u) % 3 == 0);
        }
        assert_in_range(same, 0, 12); /* one is expected; Poisson: 6e-11 above */
        assert_in_range(in_file, 0, 12);
    }
    ingest_fini(&ingest);
    free(text);
}

/* Two datasets of the same rows have the same digest in any two orders. */
static void the_digest_of_the_rows_does_not_show_the_order(void **state)
{
    (void)state;
    uint8_t rows[SHA256_SIZE], whole[SHA256_SIZE];
    char *text = long_table(1000);
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < 2; k++) {
        const struct schema table = table_of(units[k]);
        ingest_private(&ingest, &table, text);
        memcpy(rows, ingest.result.rows_sha256, sizeof rows);
        memcpy(whole, ingest.result.sha256, sizeof whole);
        ingest_private(&ingest, &table, text);
        assert_memory_equal(ingest.result.rows_sha256, rows, sizeof rows);
        assert_memory_not_equal(ingest.result.sha256, whole, sizeof whole);
        sha256_of(whole, ingest.matrix.map, ingest.matrix.map_size);
        assert_memory_equal(ingest.result.sha256, whole, sizeof whole);
    }
    struct schema records = table_of(PRIVACY_UNIT_RECORD);
    ingest_text(&ingest, &records, text); /* public: the order of the file */
    assert_memory_equal(ingest.result.rows_sha256, rows, sizeof rows);
    for (uint32_t r = 0; r < 1000; r++)
        assert_int_equal(x_of(&ingest.matrix, r), r);
    ingest_fini(&ingest);
    free(text);
}

enum { CROWD = 2000, RUNS = 40 };
static const struct division divided = {.holdout = .1, .seed = 0x5eed};

/* The table in which a target's first row is the first of all or the last of all. The
 * labels of the other persons are chosen from the public seed: yes for those who would
 * be held out if the target came first. */
static char *attacked_table(bool target_is_last)
{
    char *text = calloc(CROWD + 2, 32), *end = text;
    if (!target_is_last)
        end += sprintf(end, "target,0,no\n");
    for (size_t i = 1; i < CROWD; i++) {
        bool held_out = division_part(&divided, i) == PART_HOLDOUT;
        end += sprintf(end, "p%zu,1,%s\n", i, held_out ? "yes" : "no");
    }
    if (target_is_last)
        end += sprintf(end, "target,0,no\n");
    return text;
}

/* Returns how many of the held-out persons have the answer yes: the count of a holdout,
 * before its noise, for a model that always says yes. */
static size_t yes_held_out(struct ingest *ingest, const struct schema *table,
                           const char *text)
{
    size_t count = 0;
    ingest_private(ingest, table, text);
    matrix_select(&ingest->matrix, &divided, PART_HOLDOUT);
    uint64_t held_out = matrix_units(&ingest->matrix);
    assert_int_equal(held_out, CROWD / 10);
    for (uint32_t u = 0; u < held_out; u++)
        count += ingest->matrix.starts != NULL
                     ? ingest->matrix.targets[matrix_unit(&ingest->matrix, u).first]
                     : matrix_target(&ingest->matrix, u);
    return count;
}

/* In the order of the file the counts of the two tables are 199 and 4 in every run. In
 * a secret order both have the same distribution: hypergeometric with mean 20 and
 * deviation 4.0. */
static void labels_chosen_by_the_public_seed_show_nothing_of_one_person(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < 2; k++) {
        const struct schema table = table_of(units[k]);
        double sums[2] = {0};
        size_t told_apart = 0;
        for (int run = 0; run < RUNS; run++) {
            size_t counts[2];
            for (int last = 0; last < 2; last++) {
                char *text = attacked_table(last == 1);
                counts[last] = yes_held_out(&ingest, &table, text);
                sums[last] += (double)counts[last];
                free(text);
            }
            told_apart += counts[0] > counts[1] + CROWD / 20;
        }
        assert_int_equal(told_apart, 0);
        for (int last = 0; last < 2; last++) /* the means of 40: deviation .64 */
            assert_true(fabs(sums[last] / RUNS - 20) < 6 * .64);
    }
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_order_of_four_units_is_as_likely),
        cmocka_unit_test(each_import_draws_an_order_of_its_own),
        cmocka_unit_test(the_digest_of_the_rows_does_not_show_the_order),
        cmocka_unit_test(labels_chosen_by_the_public_seed_show_nothing_of_one_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
