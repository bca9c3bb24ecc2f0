/* Goal: in every way of running a private row a job reads no block of key stream twice,
 * and no key serves two purposes or two steps: noise that is read twice cancels, and
 * noise that shares bytes with a batch reveals who is in it. Method: every read of
 * every stream of whole jobs, sorted. */
#include "tests/expect.h"
#include "engine/nn/layers/registry.h"

#include "tests/engine/dp/points_fixture.h"
#include "tests/engine/dp/trace_fixture.h"

enum { RECORDS = 24, FEATURES = 350, STEPS = 24 };

static const char *const uses[] = {[USE_SAMPLING] = "sampling",
                                   [USE_RATCHET] = "a ratchet",
                                   [USE_NOISE] = "noise",
                                   [USE_DROPOUT] = "dropout"};

static int by_place(const void *left, const void *right)
{
    const struct trace_read *a = left, *b = right;
    int order = memcmp(&a->key, &b->key, sizeof a->key);
    if (order == 0)
        order = (a->nonce > b->nonce) - (a->nonce < b->nonce);
    return order != 0 ? order : (a->block > b->block) - (a->block < b->block);
}

/* a comes before b in the sorted order. */
static void assert_apart(const struct way *way, const struct trace_read *a,
                         const struct trace_read *b)
{
    if (memcmp(&a->key, &b->key, sizeof a->key) != 0)
        return;
    if (a->use != b->use)
        fail_msg("%s: one key for %s in step %zu and %s in step %zu", way->name,
                 uses[a->use], a->step, uses[b->use], b->step);
    if (a->step != b->step)
        fail_msg("%s: the key for %s of step %zu again in step %zu", way->name,
                 uses[a->use], a->step, b->step);
    if (a->nonce == b->nonce && b->block - a->block < a->blocks)
        fail_msg("%s, step %zu: a block for %s is read twice", way->name, a->step,
                 uses[a->use]);
}

static void assert_no_block_twice(const struct way *way, struct trace *trace)
{
    size_t noise = 0;
    qsort(trace->reads, trace->read_count, sizeof *trace->reads, by_place);
    for (size_t k = 0; k < trace->read_count; k++)
        noise += trace->reads[k].use == USE_NOISE;
    assert_true(noise >= trace->step_count);
    for (size_t k = 1; k < trace->read_count; k++)
        assert_apart(way, &trace->reads[k - 1], &trace->reads[k]);
}

static void a_block_is_read_once(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 1};
    struct trace *trace = trace_take(&setup);
    assert_no_block_twice(way, trace);
    trace_free(trace);
}

static void no_way_reads_a_block_twice(void **state)
{
    (void)state;
    struct points points;
    points_create(&points, RECORDS, FEATURES, 0);
    struct kit_setup setup = points_setup(&points, RECORDS / 4, STEPS);
    setup.threads = 2;
    assert_int_equal(ways_each(&setup, a_block_is_read_once), 0);
    points_destroy(&points);
}

static bool is_origin(const struct trace *trace, const struct noise_key *key)
{
    for (size_t k = 0; k < trace->origin_count; k++)
        if (memcmp(&trace->origins[k], key, sizeof *key) == 0)
            return true;
    return false;
}

/* Follows the chain that begins with the kernel's bytes: a ratchet reads 64 bytes, a
 * step's key and its own next state. */
static void every_key_comes_from_the_kernel(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 2};
    struct trace *trace = trace_take(&setup);
    struct stream *stream = stream_create();
    assert_true(trace->read_count >= trace->step_count);
    for (size_t k = 0; k < trace->read_count; k++) {
        const struct trace_read *read = &trace->reads[k];
        struct noise_key pair[2];
        if (!is_origin(trace, &read->key))
            fail_msg("%s, step %zu: a key for %s from nowhere", way->name, read->step,
                     uses[read->use]);
        if (read->use != USE_RATCHET)
            continue;
        const struct stream_position from = {read->key.bytes, read->nonce, read->block};
        stream_read(stream, pair, sizeof pair, &from);
        trace_add_origin(trace, pair[0].bytes);
        trace_add_origin(trace, pair[1].bytes);
    }
    stream_destroy(stream);
    trace_free(trace);
}

static void keys_begin_in_bytes_of_the_kernel(void **state)
{
    (void)state;
    struct points points;
    points_create(&points, RECORDS, 3, 0);
    struct kit_setup setup = points_setup(&points, RECORDS / 4, STEPS);
    assert_int_equal(ways_each(&setup, every_key_comes_from_the_kernel), 0);
    points_destroy(&points);
}

/* Counts reads of masks: a row may refuse dropout, but not all rows do. */
static size_t dropped;

static void a_block_is_read_once_where_units_drop(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 3};
    struct trace *trace = trace_take(&setup);
    for (size_t k = 0; k < trace->read_count; k++)
        dropped += trace->reads[k].use == USE_DROPOUT;
    assert_no_block_twice(way, trace);
    trace_free(trace);
}

static void nor_where_units_drop(void **state)
{
    (void)state;
    struct layer_spec layers[] = {{.kind = &layer_dense, .out = 6},
                                  {.kind = &layer_dropout, .rate = 0.5},
                                  {.kind = &layer_dense, .out = POINTS_CLASSES}};
    const struct model_spec model = {
        .layer_count = 3, .layers = layers, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct points points;
    points_create(&points, RECORDS, 3, 0);
    struct kit_setup setup = points_setup(&points, RECORDS / 4, STEPS);
    setup.model = &model;
    ways_each(&setup, a_block_is_read_once_where_units_drop);
    assert_true(dropped > 0);
    points_destroy(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_way_reads_a_block_twice),
        cmocka_unit_test(keys_begin_in_bytes_of_the_kernel),
        cmocka_unit_test(nor_where_units_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
