/* Goal: partial sums add up to the same bits no matter which member adds which part and
 * when, and are erased afterwards. Method: blocks of a small network's tiles, added by
 * teams of several sizes. */
#include "engine/dp/reduction.h"

#include <string.h>

#include "engine/parallel/team.h"
#include "tests/expect.h"
#include "tests/engine/small_network_fixture.h"

enum { BLOCKS = 24 };

static const struct grid grid = {.scale = 0x1.8p20};

struct adding {
    struct reduction *reduction;
    float *blocks; /* (BLOCKS, largest tile) */
    size_t stride;
    unsigned members;
};

/* Adds the member's blocks, every other block with its last tile first. */
static void add_member(void *context, unsigned member)
{
    const struct adding *adding = context;
    struct reduction *reduction = adding->reduction;
    size_t tiles = network_tile_count(reduction->network);
    int64_t counts[] = {1, 2, 3};
    for (unsigned b = member; b < BLOCKS; b += adding->members) {
        for (size_t k = 0; k < tiles; k++)
            reduction_add(reduction, reduction->sum, b % 2 == 0 ? k : tiles - 1 - k,
                          adding->blocks + b * adding->stride, &grid);
        reduction_count(reduction, counts, 3);
    }
}

static void the_sum_does_not_know_who_added(void **state)
{
    (void)state;
    struct network *network = small_network_dense(5, 4, 3);
    size_t dim = network_parameters(network), stride = network_tile_floats_max(network);
    float *blocks = calloc(BLOCKS * stride, sizeof *blocks);
    int64_t *first = calloc(dim, sizeof *first);
    for (size_t j = 0; j < BLOCKS * stride; j++)
        blocks[j] = (float)sin((double)j * 0.7) * 3;
    for (unsigned members = 1; members <= 4; members++) {
        struct team *team;
        struct reduction reduction;
        struct adding adding = {&reduction, blocks, stride, members};
        assert_int_equal(team_create(&team, members, NULL), ST_OK);
        assert_int_equal(reduction_init(&reduction, network, &group_alone, false, NULL),
                         ST_OK);
        team_run(team, &(struct team_work){.run = add_member,
                                           .context = &adding,
                                           .shares = members,
                                           .flops = TEAM_FLOPS_MIN});
        if (members == 1)
            memcpy(first, reduction.sum, dim * sizeof *first);
        assert_memory_equal(reduction.sum, first, dim * sizeof *first);
        assert_int_equal(reduction.counts[0], BLOCKS);
        assert_int_equal(reduction.counts[2], 3 * BLOCKS);
        reduction_clear(&reduction);
        for (size_t j = 0; j < dim; j++)
            assert_true(reduction.sum[j] == 0);
        assert_int_equal(reduction.counts[2], 0);
        reduction_fini(&reduction);
        team_destroy(team);
    }
    free(first);
    free(blocks);
    network_destroy(network);
}

static void the_error_memory_is_a_sum_of_its_own(void **state)
{
    (void)state;
    struct network *network = small_network_dense(5, 2, 3);
    size_t dim = network_parameters(network);
    struct reduction reduction;
    assert_int_equal(reduction_init(&reduction, network, &group_alone, true, NULL),
                     ST_OK);
    float *block = calloc(network_tile_floats_max(network), sizeof *block);
    block[0] = 2.5F;
    reduction_add(&reduction, reduction.error_memory, 0, block, &grid);
    size_t at = network_tile(network, 0).offset;
    assert_true(reduction.error_memory[at] == (int64_t)(2.5 * 0x1.8p20));
    reduction_clear(&reduction);
    assert_true(reduction.error_memory[at] == (int64_t)(2.5 * 0x1.8p20));
    for (size_t j = 0; j < dim; j++)
        assert_true(reduction.sum[j] == 0);
    reduction_fini(&reduction);
    free(block);
    network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_does_not_know_who_added),
        cmocka_unit_test(the_error_memory_is_a_sum_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
