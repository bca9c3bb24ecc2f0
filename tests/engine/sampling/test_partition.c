/* Goal: a deal puts every record in exactly one batch, of even sizes, differently each
 * time and without a pattern. Method: counts over many deals against bounds from the
 * number of deals. */
#include "engine/sampling/partition.h"

#include <string.h>

#include "tests/expect.h"

enum { RECORDS = 1000, BATCHES = 7 };

static struct noise_key key_of(uint32_t number)
{
    struct noise_key key = {{0}};
    memcpy(key.bytes, &number, sizeof number);
    return key;
}

static void every_record_is_in_one_batch(void **state)
{
    (void)state;
    struct partition partition;
    uint32_t indices[RECORDS];
    assert_int_equal(partition_init(&partition, RECORDS, NULL), ST_OK);
    for (uint32_t deal = 0; deal < 20; deal++) {
        unsigned seen[RECORDS] = {0};
        struct noise_key key = key_of(deal);
        partition_deal(&partition, BATCHES, &key);
        for (size_t b = 0; b < BATCHES; b++) {
            size_t count = partition_take(&partition, indices, b);
            assert_in_range(count, RECORDS / BATCHES, RECORDS / BATCHES + 1);
            for (size_t k = 0; k < count; k++) {
                assert_true(k == 0 || indices[k] > indices[k - 1]);
                seen[indices[k]]++;
            }
        }
        for (size_t i = 0; i < RECORDS; i++)
            assert_int_equal(seen[i], 1);
    }
    partition_fini(&partition);
}

static void the_same_key_deals_the_same(void **state)
{
    (void)state;
    struct partition one, other;
    struct noise_key key = key_of(5), another = key_of(6);
    assert_int_equal(partition_init(&one, RECORDS, NULL), ST_OK);
    assert_int_equal(partition_init(&other, RECORDS, NULL), ST_OK);
    partition_deal(&one, BATCHES, &key);
    partition_deal(&other, BATCHES, &another);
    assert_memory_not_equal(one.batch_of, other.batch_of, RECORDS * sizeof(uint32_t));
    partition_deal(&other, BATCHES, &key);
    assert_memory_equal(one.batch_of, other.batch_of, RECORDS * sizeof(uint32_t));
    partition_fini(&one);
    partition_fini(&other);
}

/* How often two records share a batch, and which batch one is in: 5 standard errors of
 * 4,000 deals. */
static void deals_are_fair(void **state)
{
    (void)state;
    enum { DEALS = 4000, FEW = 21 };
    struct partition partition;
    unsigned first[FEW][3] = {{0}}, together = 0;
    assert_int_equal(partition_init(&partition, FEW, NULL), ST_OK);
    for (uint32_t deal = 0; deal < DEALS; deal++) {
        struct noise_key key = key_of(deal);
        partition_deal(&partition, 3, &key);
        for (size_t i = 0; i < FEW; i++)
            first[i][partition.batch_of[i]]++;
        together += partition.batch_of[4] == partition.batch_of[5];
    }
    double share = 1 / 3.0, spread = 5 * sqrt(DEALS * share * (1 - share));
    for (size_t i = 0; i < FEW; i++)
        for (size_t b = 0; b < 3; b++)
            assert_true(fabs(first[i][b] - DEALS * share) < spread);
    double meet = 6 / 20.0; /* of the 20 others, 6 share its batch */
    assert_true(fabs(together - DEALS * meet) < 5 * sqrt(DEALS * meet * (1 - meet)));
    partition_fini(&partition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_in_one_batch),
        cmocka_unit_test(the_same_key_deals_the_same),
        cmocka_unit_test(deals_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
