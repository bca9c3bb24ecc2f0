/* Goal: neither padding nor other records change a bit of a record's outputs, every token
 * counts, and layers that do not fit are refused. Method: single records, records among others, and at
 * twice as many positions; the formulas of attention in double; every refusal.
 * tests/engine/test_public_models.c compares with public models. */
#include <string.h>

#include "tests/expect.h"

#include "engine/nn/initial_values.h"
#include "engine/nn/layers/attention.h"
#include "engine/nn/layers/sequence.h"
#include "tests/engine/nn/sequence_fixture.h"

/* --- one record among others --- */

static const struct text_encoder small = {.blocks = 2,
                                          .width = 24,
                                          .heads = 3,
                                          .intermediate = 40,
                                          .vocabulary = 50,
                                          .positions = 90,
                                          .separator = 3};

enum { SHORT = 21, LONG = 42, RECORDS = 11, CLASSES = 4 };

static float id_at(size_t record, size_t t)
{
    return (float)((record * 31 + t * 7 + record * t) % 50);
}

static size_t length_of(size_t record)
{
    return record * 2 < SHORT ? record * 2 : SHORT; /* 0 to SHORT */
}

static void put_own(struct run *run, size_t row, size_t record)
{
    float ids[SHORT];
    for (size_t t = 0; t < length_of(record); t++)
        ids[t] = id_at(record, t);
    put(run, row, ids, length_of(record));
}

static void make_small(struct run *run, uint32_t positions, bool takes_mean)
{
    struct text_encoder sizes = small;
    struct list list;
    sizes.mean = takes_mean;
    make_model(&list, PRESET_BERT, &sizes, CLASSES);
    run_init(run, &list, positions, CLASSES);
    network_init(run->network, run->theta, 5);
}

/* The bits are the same by itself, among others, and at twice as many positions. */
static void padding_and_other_records_change_no_bit(void **state)
{
    (void)state;
    for (int mean = 0; mean < 2; mean++) {
        struct run run, wide;
        double all[RECORDS * 4], one[4], padded[RECORDS * 4];
        make_small(&run, SHORT, mean != 0);
        make_small(&wide, LONG, mean != 0);
        for (size_t i = 0; i < RECORDS; i++) {
            put_own(&run, i, i);
            put_own(&wide, i, i);
        }
        forward(&run, RECORDS, all);
        forward(&wide, RECORDS, padded);
        for (size_t i = 0; i < RECORDS; i++) {
            put_own(&run, 0, i);
            forward(&run, 1, one);
            assert_memory_equal(one, all + 4 * i, sizeof one);
            /* The first position of a record without tokens is a padded one. */
            if (length_of(i) > 0 || mean != 0)
                assert_memory_equal(padded + 4 * i, all + 4 * i, sizeof one);
        }
        run_fini(&run);
        run_fini(&wide);
    }
}

/* The order of tokens counts, and so does each of them: otherwise the test above would
 * pass with layers that read nothing. */
static void every_token_counts(void **state)
{
    (void)state;
    struct run run;
    double before[4], after[4];
    float ids[SHORT];
    make_small(&run, SHORT, false);
    for (size_t t = 0; t < 12; t++)
        ids[t] = id_at(3, t);
    put(&run, 0, ids, 12);
    forward(&run, 1, before);
    for (size_t t = 0; t < 12; t++) {
        ids[t] = (float)(((size_t)ids[t] + 1) % 50);
        put(&run, 0, ids, 12);
        forward(&run, 1, after);
        assert_memory_not_equal(before, after, sizeof before);
        ids[t] = (float)(((size_t)ids[t] + 49) % 50);
    }
    put(&run, 0, ids, 11);
    forward(&run, 1, after);
    assert_memory_not_equal(before, after, sizeof before);
    run_fini(&run);
}

/* Row 1 of the types begins behind the first separator, and not at later ones. */
static void types_change_behind_the_first_separator(void **state)
{
    (void)state;
    static const float ids[] = {4, 3, 5, 3, 6};
    struct list list = {0};
    struct run run;
    double outputs[2];
    add(&list, &layer_embedding, "")->rows = 8;
    list.layers[0].out = 1;
    add(&list, &layer_token_type, "")->rows = 2;
    list.layers[1].separator = 3;
    add(&list, &layer_take_mean, "");
    add_dense(&list, "", 2);
    run_init(&run, &list, 8, 2);
    for (size_t i = 0; i < network_tensor_count(run.network); i++) {
        const struct tensor *tensor = network_tensor(run.network, i);
        float *values = run.theta + tensor->offset;
        if (strcmp(tensor->name, "1.weight") == 0)
            values[0] = 1, values[1] = 10;
        else if (strcmp(tensor->name, "3.weight") == 0)
            values[0] = 1;
    }
    put(&run, 0, ids, 5);
    workspace_forward(run.workspace, run.theta, 1);
    outputs[0] = workspace_value(run.workspace, 0);
    assert_true(outputs[0] == (double)(float)(32.0F / 5)); /* 2 of row 0, 3 of row 1 */
    run_fini(&run);
}

/* Ids that are not in the table, and ends that are no -1. */
static void ids_that_are_none_read_no_memory(void **state)
{
    (void)state;
    static const float ends[] = {-1, -0.5F, -INFINITY, NAN},
                       unknown[] = {50, 1e30F, INFINITY};
    struct run run;
    double expected[4], outputs[4];
    float ids[6] = {1, 2, 3, -1, 4, 5};
    make_small(&run, SHORT, true);
    put(&run, 0, ids, 6);
    forward(&run, 1, expected);
    for (size_t k = 0; k < 4; k++) {
        ids[3] = ends[k];
        put(&run, 0, ids, 6);
        forward(&run, 1, outputs);
        assert_memory_equal(outputs, expected, sizeof outputs);
    }
    for (size_t k = 0; k < 3; k++) {
        ids[3] = unknown[k];
        put(&run, 0, ids, 6);
        forward(&run, 1, outputs);
        for (size_t j = 0; j < 4; j++)
            assert_true(isfinite(outputs[j]));
    }
    run_fini(&run);
}

/* --- attention by its formulas --- */

enum { TOKENS = 37, WIDTH = 12 };

static double score(const float *q, const float *k)
{
    double sum = 0;
    for (size_t j = 0; j < WIDTH; j++)
        sum += (double)q[j] * (double)k[j];
    return sum / sqrt(WIDTH);
}

static void fill(float *x, uint32_t seed)
{
    for (size_t j = 0; j < TOKENS * WIDTH; j++) {
        seed = seed * 1664525 + 1013904223;
        x[j] = (float)(seed >> 8) * 0x1p-22F - 2;
    }
}

static void attention_is_the_softmax_of_its_scores(void **state)
{
    (void)state;
    static float q[TOKENS * WIDTH], k[TOKENS * WIDTH], v[TOKENS * WIDTH],
        y[TOKENS * WIDTH];
    float *scratch = calloc(attention_scratch(TOKENS), sizeof *scratch);
    fill(q, 1);
    fill(k, 2);
    fill(v, 3);
    for (size_t length = 0; length <= TOKENS; length += 9) {
        attention_run(
            &(struct attention_head){TOKENS, length, WIDTH, q, k, v, y, WIDTH},
            scratch);
        for (size_t t = 0; t < TOKENS; t++)
            for (size_t j = 0; j < WIDTH; j++) {
                double sum = 0, weighted = 0;
                for (size_t s = 0; s < length; s++) {
                    double e = exp(score(q + t * WIDTH, k + s * WIDTH));
                    sum += e;
                    weighted += e * (double)v[s * WIDTH + j];
                }
                double expected = length > 0 ? weighted / sum : 0;
                assert_true(fabs((double)y[t * WIDTH + j] - expected) <= 4e-6);
            }
    }
    free(scratch);
}

/* --- refusals --- */

static void expect_refused(struct list *list, enum trainable_kind trainable,
                           uint32_t positions, const char *pointer, const char *text)
{
    struct network *network = NULL;
    struct error error = {0};
    assert_int_equal(compile(&network, list, trainable, positions, 2, &error),
                     ST_INVALID);
    if (strcmp(error.pointer, pointer) != 0 || strstr(error.text, text) == NULL)
        fail_msg("%s at %s, expected %s: %s", error.text, error.pointer, pointer, text);
}

static void begin(struct list *list)
{
    *list = (struct list){0};
    add(list, &layer_embedding, "")->rows = 8;
    list->layers[0].out = 6;
}

static struct layer_spec *add_attention(struct list *list, uint32_t heads,
                                        uint32_t key_width)
{
    struct layer_spec *layer = add(list, &layer_attention, "");
    layer->groups = heads;
    layer->body = layer->shortcut = layer->third = 1;
    add_dense(list, "", 6);
    add_dense(list, "", key_width);
    add_dense(list, "", 6);
    return layer;
}

static void end(struct list *list)
{
    add(list, &layer_take, "");
    add_dense(list, "", 2);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    const enum trainable_kind head = TRAINABLE_HEAD;
    struct list list;

    begin(&list);
    end(&list);
    expect_refused(&list, head, MODEL_TOKENS_MAX + 1, "/model/layers/0/type",
                   "1025 tokens");

    list = (struct list){0};
    add_dense(&list, "", 6);
    add(&list, &layer_embedding, "")->rows = 8;
    list.layers[1].out = 6;
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/1/type", "must be the first layer");

    list = (struct list){0};
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/0/type", "must come after embedding");

    begin(&list);
    add(&list, &layer_position, "")->rows = 6;
    list.layers[1].offset = 2;
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/1/positions",
                   "at least the 5 tokens");

    begin(&list);
    add_attention(&list, 4, 6);
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/1/heads", "must divide the width");

    begin(&list);
    add_attention(&list, 2, 8);
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/1", "6 and 8");

    begin(&list);
    add(&list, &layer_flatten, "");
    add_attention(&list, 2, 6);
    end(&list);
    expect_refused(&list, head, 5, "/model/layers/2/type", "must come after embedding");
}

/* Features end behind the last layer that reads the ids. If a dropout comes before it,
 * there is no such place. */
static void kept_features_are_those_after_take(void **state)
{
    (void)state;
    struct list list;
    struct run run;
    begin(&list);
    add_attention(&list, 2, 6);
    add(&list, &layer_take_mean, "");
    add_dense(&list, "", 5);
    add(&list, &layer_tanh, "");
    add_dense(&list, "", 2);
    run_init(&run, &list, 7, 2);
    assert_int_equal(network_frozen_width(run.network), 5);
    assert_int_equal(network_frozen_list(run.network), list.count - 1);
    run_fini(&run);

    begin(&list);
    add(&list, &layer_dropout, "")->rate = 0.5;
    add(&list, &layer_take_mean, "");
    add_dense(&list, "", 2);
    run_init(&run, &list, 7, 2);
    assert_int_equal(network_frozen_width(run.network), 0);
    run_fini(&run);
}

/* A product of a layer has two on its way back, for the weight and for what is before
 * it; so has a product of two values, one for each. */
static void flops_count_the_way_back_of_attention(void **state)
{
    (void)state;
    const double dense = 2.0 * 5 * 6 * 6, pairs = 4.0 * 5 * 5 * 6, head = 2.0 * 6 * 2;
    struct network *network;
    struct error error = {0};
    struct list list;
    begin(&list);
    add_attention(&list, 2, 6);
    end(&list);
    assert_int_equal(compile(&network, &list, TRAINABLE_ALL, 5, 2, &error), ST_OK);
    assert_close(network_flops(network), 3.0 * (3.0 * dense + pairs + head), 1e-12);
    network_destroy(network);
    assert_int_equal(compile(&network, &list, TRAINABLE_HEAD, 5, 2, &error), ST_OK);
    assert_close(network_flops(network), 3.0 * dense + pairs + 2.0 * head, 1e-12);
    network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_and_other_records_change_no_bit),
        cmocka_unit_test(every_token_counts),
        cmocka_unit_test(types_change_behind_the_first_separator),
        cmocka_unit_test(ids_that_are_none_read_no_memory),
        cmocka_unit_test(attention_is_the_softmax_of_its_scores),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(kept_features_are_those_after_take),
        cmocka_unit_test(flops_count_the_way_back_of_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
