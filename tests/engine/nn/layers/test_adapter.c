/* Goal: an adapter is a residual of two dense layers next to a frozen one, and a model
 * that gets adapters begins as it was. Method: each list of layers is compiled with
 * adapters, and in a form in which the residuals are written out; both have the same
 * tensors in the same order, so that all passes can be compared bit for bit. test_residual
 * and test_token_gradients compare the second form with the oracle. */
#include "tests/expect.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"

enum { COUNT = 32, RANK = 2, FORMS = 4 };

/* written: with A and B written out, and the tensors that are trained in it. */
struct pair {
    const char *layers, *target, *written, *trained;
    size_t features;
    struct model_input input;
};

static const struct pair pairs[] = {
    {"d8td5rd3", "0", "[D2D8|d8]td5rd3", "0.body.* 4.*", 7, {0}},
    {"d8td5rd3", "2", "d8t[D2D5|d5]rd3", "2.body.* 4.*", 7, {0}},
    {"d8td5rd3", "*", "[D2D8|d8]t[D2D5|d5]rd3", "?.body.* 4.*", 7, {0}},
    {"D8td3", "0", "[D2D8|D8]td3", "0.body.* 2.*", 7, {0}},
    {"d8td3", "0", "f[D2D8|d8]td3", "1.body.* 3.*", 24, {2, 4, 3}},
    {"c4,3d6gd3", "1", "c4,3[D2D6|d6]gd3", "1.body.* 3.*", 75, {5, 5, 3}},
    {"e7,6d8td4Hd3", "1", "e7,6[D2D8|d8]td4Hd3", "1.body.* 5.*", 9, {0}},
    {"e7,6[q2d6|d6|d6]d6]lHd3",
     "*.query.*",
     "e7,6[q2[D2D6|d6]|d6|d6]d6]lHd3",
     "*.query.0.body.* 4.*",
     9,
     {0}},
    {"e7,6[q2d6|d6|d6]d6]l[d12ud6]lvd3",
     "*.[qv]*.0",
     "e7,6[q2[D2D6|d6]|d6|[D2D6|d6]]d6]l[d12ud6]lvd3",
     "*.query.0.body.* *.value.0.body.* 6.*",
     9,
     {0}},
    {"e7,6[q2d6|d6|d6]d6]lHd5td3",
     "1.body.1",
     "e7,6[q2d6|d6|d6][D2D6|d6]]lHd5td3",
     "1.body.1.body.* 6.*",
     9,
     {0}},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

struct both {
    struct batch adapted, written;
};

/* alpha = scale x rank, and A is scale times as large where it is written out. */
static void make(struct both *both, const struct pair *pair, int form, size_t unit_rows,
                 float scale)
{
    struct batch_demand demand = {.layers = pair->layers,
                                  .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                  .features = pair->features,
                                  .input = pair->input,
                                  .count = COUNT,
                                  .unit_rows = unit_rows,
                                  .form = form - 1,
                                  .adapted = pair->target,
                                  .rank = RANK,
                                  .alpha = RANK * (double)scale};
    struct batch *adapted = &both->adapted, *written = &both->written;
    batch_make(adapted, &demand);
    demand.layers = pair->written;
    demand.trained = pair->trained;
    demand.adapted = NULL;
    batch_make(written, &demand);
    assert_int_equal(adapted->parameters, written->parameters);
    assert_int_equal(network_floats(adapted->network),
                     network_floats(written->network));
    memcpy(written->theta, adapted->theta,
           network_floats(adapted->network) * sizeof(float));
    for (size_t t = 0; t < network_tensor_count(adapted->network); t++) {
        const struct tensor *own = network_tensor(adapted->network, t),
                            *other = network_tensor(written->network, t);
        assert_int_equal(own->offset, other->offset);
        assert_int_equal(own->count, other->count);
        for (size_t j = 0;
             own->initial == INITIAL_UNIFORM && own->is_adapter && j < own->count; j++)
            written->theta[own->offset + j] *= scale;
    }
    memcpy(written->x, adapted->x, COUNT * pair->features * sizeof(float));
    memcpy(written->classes, adapted->classes, COUNT * sizeof(uint32_t));
    batch_run(adapted);
    batch_run(written);
}

static void both_fini(struct both *both)
{
    batch_fini(&both->adapted);
    batch_fini(&both->written);
}

/* The gradient of A is scale times the one of the A that is scale times as large. */
static void expect_sums(struct both *both, struct row_range range, float scale)
{
    float *own = calloc(both->adapted.parameters, sizeof *own);
    float *other = calloc(both->adapted.parameters, sizeof *other);
    batch_sum(&both->adapted, range, own);
    batch_sum(&both->written, range, other);
    for (size_t t = 0; t < network_tensor_count(both->adapted.network); t++) {
        const struct tensor *tensor = network_tensor(both->adapted.network, t);
        bool is_a = tensor->is_adapter && tensor->initial == INITIAL_UNIFORM;
        for (size_t j = tensor->offset;
             j < tensor->offset + tensor->count && j < both->adapted.parameters; j++)
            assert_true(own[j] == (is_a ? scale : 1.0F) * other[j]);
    }
    free(own);
    free(other);
}

static void an_adapter_is_a_residual_of_two_dense_layers(void **state)
{
    (void)state;
    for (size_t k = 0; k < PAIRS; k++)
        for (int form = 0; form < FORMS; form++) {
            struct both both;
            make(&both, &pairs[k], form, 1, 1.0F);
            for (size_t i = 0; i < COUNT; i++) {
                assert_true(workspace_losses(both.adapted.workspace)[i] ==
                            workspace_losses(both.written.workspace)[i]);
                assert_true(workspace_norms(both.adapted.workspace)[i] ==
                            workspace_norms(both.written.workspace)[i]);
                assert_true(workspace_spreads(both.adapted.workspace)[i] ==
                            workspace_spreads(both.written.workspace)[i]);
            }
            expect_sums(&both, (struct row_range){0, COUNT}, 1.0F);
            both_fini(&both);
        }
}

/* A power of two, so that no product is rounded differently. */
static void the_scale_is_alpha_divided_by_the_rank(void **state)
{
    (void)state;
    for (size_t k = 0; k < PAIRS; k++) {
        struct both both;
        make(&both, &pairs[k], (int)(k % FORMS), 1, 4.0F);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(workspace_losses(both.adapted.workspace)[i] ==
                        workspace_losses(both.written.workspace)[i]);
        expect_sums(&both, (struct row_range){0, COUNT}, 4.0F);
        both_fini(&both);
    }
}

static void the_rows_of_a_person_are_one_gradient(void **state)
{
    (void)state;
    for (size_t k = 0; k < PAIRS; k++) {
        struct both both;
        make(&both, &pairs[k], 0, 4, 1.0F);
        for (size_t i = 0; i < COUNT; i += 4) {
            assert_true(workspace_norms(both.adapted.workspace)[i] ==
                        workspace_norms(both.written.workspace)[i]);
            expect_sums(&both, (struct row_range){i, 4}, 1.0F);
        }
        both_fini(&both);
    }
}

static struct batch body_of(const struct pair *pair)
{
    struct batch body;
    batch_make(&body, &(struct batch_demand){.layers = pair->layers,
                                             .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                             .features = pair->features,
                                             .input = pair->input,
                                             .count = COUNT,
                                             .form = -1});
    return body;
}

/* Also after the seed's other values: with adapters no tensor begins with other values
 * than without. */
static void a_model_begins_with_the_outputs_of_its_body(void **state)
{
    (void)state;
    for (size_t k = 0; k < PAIRS; k++) {
        struct both both;
        struct batch body = body_of(&pairs[k]);
        make(&both, &pairs[k], 0, 1, 3.0F);
        double own[COUNT * 3], first[COUNT * 3];
        network_init(body.network, body.theta, 5);
        network_init(both.adapted.network, both.adapted.theta, 5);
        memcpy(body.x, both.adapted.x, COUNT * pairs[k].features * sizeof(float));
        batch_run(&body);
        batch_run(&both.adapted);
        workspace_predict(body.workspace, first);
        workspace_predict(both.adapted.workspace, own);
        assert_memory_equal(own, first, sizeof own);
        batch_fini(&body);
        both_fini(&both);
    }
}

/* U(-1 / sqrt(inputs), 1 / sqrt(inputs)), other values of each adapter. */
static void a_begins_as_the_weight_of_a_dense_layer_and_b_with_zeros(void **state)
{
    (void)state;
    struct both both;
    size_t found = 0;
    float before = 0;
    make(&both, &pairs[8], 0, 1, 1.0F);
    network_init(both.adapted.network, both.adapted.theta, 5);
    for (size_t t = 0; t < network_tensor_count(both.adapted.network); t++) {
        const struct tensor *tensor = network_tensor(both.adapted.network, t);
        bool is_a = strstr(tensor->name, ".lora_A.weight") != NULL;
        bool is_b = strstr(tensor->name, ".lora_B.weight") != NULL;
        assert_int_equal(tensor->is_adapter, is_a || is_b);
        found += tensor->is_adapter;
        for (size_t j = 0; j < tensor->count && tensor->is_adapter; j++) {
            double value = (double)both.adapted.theta[tensor->offset + j];
            assert_true(is_a ? value != 0 && fabs(value) <= 1 / sqrt(6) : value == 0);
        }
        if (is_a) {
            assert_true(both.adapted.theta[tensor->offset] != before);
            before = both.adapted.theta[tensor->offset];
        }
    }
    assert_int_equal(found, 4);
    both_fini(&both);
}

static void adapters_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *layers, *targets;
        uint32_t rank;
        const char *pointer;
    } cases[] = {
        {"d8td5rd3", "1", 2, "/model/trainable/lora/targets/0"},
        {"d8td5rd3", "0 nothing", 2, "/model/trainable/lora/targets/1"},
        {"d8td5rd3", "4", 2, "/model/trainable/lora/targets/0"}, /* the head */
        {"d8td5rd3", "0.weight", 2, "/model/trainable/lora/targets/0"},
        {"d3", "*", 2, "/model/trainable/lora/targets/0"},
        {"ld8td3", "0", 2, "/model/trainable/lora/targets/0"},
        {"d8td5rd3", "2", 6, "/model/trainable/lora/rank"},
        {"d8td5rd3", "*", 8, "/model/trainable/lora/rank"},
        {"d8td5rd3", "0", 8, "/model/trainable/lora/rank"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model = {.loss = LOSS_SOFTMAX_CROSS_ENTROPY};
        struct network *network;
        struct error error = {0};
        batch_layers(&model, cases[k].layers);
        batch_adapt(&model, &(struct batch_demand){.adapted = cases[k].targets,
                                                   .rank = cases[k].rank,
                                                   .alpha = 1});
        assert_int_equal(
            network_create(&network, &model, (struct network_shape){7, 3}, &error),
            ST_INVALID);
        assert_string_equal(error.pointer, cases[k].pointer);
        model_spec_fini(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adapter_is_a_residual_of_two_dense_layers),
        cmocka_unit_test(the_scale_is_alpha_divided_by_the_rank),
        cmocka_unit_test(the_rows_of_a_person_are_one_gradient),
        cmocka_unit_test(a_model_begins_with_the_outputs_of_its_body),
        cmocka_unit_test(a_begins_as_the_weight_of_a_dense_layer_and_b_with_zeros),
        cmocka_unit_test(adapters_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
