/* Goal: the work of a sum does not tell how many tokens the records have, nor which
 * (promise.md: the work is the same for every row). Method: the blocks that are computed
 * and rounded are counted, for records without a token and for full ones; with large
 * cells and with single ones. */
#include "engine/dp/micro_batch.h"

#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"
#include "tests/expect.h"
#include "tests/engine/dp/person_fixture.h"

enum { TOKENS = 12, VOCABULARY = 40000, WIDTH = 16, RECORDS = 70 };

static size_t computed, rounded;

void __real_workspace_sum(const struct workspace *workspace, size_t tile,
                          struct row_range range, float *block);
void __wrap_workspace_sum(const struct workspace *workspace, size_t tile,
                          struct row_range range, float *block);
void __wrap_workspace_sum(const struct workspace *workspace, size_t tile,
                          struct row_range range, float *block)
{
    computed++;
    __real_workspace_sum(workspace, tile, range, block);
}

void __real_reduction_add(struct reduction *reduction, int64_t *sum, size_t tile,
                          const float *block, const struct grid *grid);
void __wrap_reduction_add(struct reduction *reduction, int64_t *sum, size_t tile,
                          const float *block, const struct grid *grid);
void __wrap_reduction_add(struct reduction *reduction, int64_t *sum, size_t tile,
                          const float *block, const struct grid *grid)
{
    rounded++;
    __real_reduction_add(reduction, sum, tile, block, grid);
}

static struct network *network_of_tokens(void)
{
    struct layer_spec layers[] = {
        {.kind = &layer_embedding, .rows = VOCABULARY, .out = WIDTH},
        {.kind = &layer_take_mean},
        {.kind = &layer_dense, .out = 3, .bias = true}};
    struct model_spec model = {.layers = layers, .layer_count = 3};
    struct network *network = NULL;
    struct error error = {0};
    if (network_create(&network, &model, (struct network_shape){TOKENS, 3}, &error) !=
        ST_OK)
        fail_msg("%s", error.text);
    return network;
}

/* Counts the blocks for records whose first `length` positions have tokens. */
static void count(bool single, size_t length, size_t *sums, size_t *adds)
{
    struct bench bench;
    bench_make(&bench, network_of_tokens(), RECORDS);
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t t = 0; t < TOKENS; t++)
            bench.x[i * TOKENS + t] =
                t < length ? (float)((i * 7919 + t * 104729) % VOCABULARY) : -1.0F;
    bench_plan(&bench, RECORDS, single);
    bench_worker(&bench, 96);
    int64_t *sum = calloc(bench.dim, sizeof *sum);
    assert_non_null(sum);
    computed = rounded = 0;
    sum_without(&bench, SIZE_MAX, SIZE_MAX, sum);
    *sums = computed;
    *adds = rounded;
    free(sum);
    bench_fini(&bench);
}

static void all_records_take_the_same_blocks(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        size_t sums, adds, other_sums, other_adds;
        count(single == 1, TOKENS, &sums, &adds);
        assert_true(sums > 2 && adds > 2); /* the table has several tiles */
        for (size_t length = 0; length < TOKENS; length += 5) {
            count(single == 1, length, &other_sums, &other_adds);
            assert_int_equal(other_sums, sums);
            assert_int_equal(other_adds, adds);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_records_take_the_same_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
