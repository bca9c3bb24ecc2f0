/* Goal: records are divided among clients by index, evenly, and a record has the weight
 * that the mean of means gives it. Method: random sizes against the definition. */
#include "engine/dp/algorithms/diff2_shards.h"

#include "tests/expect.h"

static void every_record_belongs_to_one_client(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 2000; k++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        struct diff2_shards shards = {.records = 1 + (seed >> 33) % 5000};
        seed = seed * 6364136223846793005 + 1442695040888963407;
        shards.clients = 1 + (seed >> 33) % shards.records;
        size_t next = 0, least = SIZE_MAX;
        for (uint64_t client = 0; client < shards.clients; client++) {
            struct index_range range = diff2_shards_range(&shards, client);
            assert_int_equal(range.first, next);
            assert_in_range(range.count, shards.records / shards.clients,
                            shards.records / shards.clients + 1);
            least = range.count < least ? range.count : least;
            next += range.count;
        }
        assert_int_equal(next, shards.records);
        assert_int_equal(diff2_shards_least(&shards), least);
    }
}

static void weights_are_those_of_the_mean_of_means(void **state)
{
    (void)state;
    const struct diff2_shards shards = {.records = 17, .clients = 5};
    double sum = 0;
    for (uint64_t client = 0; client < 5; client++) {
        double count = (double)diff2_shards_range(&shards, client).count;
        double weight = diff2_shards_share(&shards, client) / (5.0 * 3.0);
        assert_true(diff2_shards_share(&shards, client) <= 1);
        assert_close(weight, 1 / (5 * count), 1e-15);
        sum += count * weight;
    }
    assert_close(sum, 1, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_belongs_to_one_client),
        cmocka_unit_test(weights_are_those_of_the_mean_of_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
