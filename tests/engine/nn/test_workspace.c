/* Goal: what a record does to a workspace is its own gradient, exactly its own, and
 * bounded from above. Method: every model against a three-loop double oracle, which is
 * itself held against finite differences; then one record at a time in different
 * company. */
#include "tests/expect.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/engine/nn/random_batch.h"
#include "tests/engine/nn/oracle.h"

struct family {
    const char *layers;
    enum loss loss;
    size_t features, count;
};

static const struct family families[] = {
    {"d10", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 37},
    {"D3", LOSS_SOFTMAX_CROSS_ENTROPY, 5, 16},
    {"d23rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 17, 50},
    {"d17td33td7", LOSS_SOFTMAX_CROSS_ENTROPY, 31, 33},
    {"rd9trtd5", LOSS_SOFTMAX_CROSS_ENTROPY, 12, 21},
    {"d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, 64},
    {"d1", LOSS_LOGISTIC, 29, 40},
    {"d8td1", LOSS_LOGISTIC, 3, 19},
    {"D1", LOSS_SQUARED, 8, 16},
    {"td12rd6td1", LOSS_SQUARED, 9, 45},
    {"d6rd1t", LOSS_SQUARED, 1, 18},
};
enum { FAMILIES = sizeof families / sizeof *families };

static void start(struct batch *batch, size_t family)
{
    const struct family *f = &families[family];
    batch_init(batch, f->layers, f->loss, f->features, f->count);
    assert_int_equal(batch->parameters,
                     oracle_parameters(&batch->model, batch->features));
}

static struct oracle_record oracle_record(const struct batch *batch, size_t i)
{
    return (struct oracle_record){.features = batch->x + i * batch->features,
                                  .feature_count = batch->features,
                                  .class_index = batch->classes[i],
                                  .value = (double)batch->values[i]};
}

static double *widened(const float *from, size_t count)
{
    double *to = calloc(count, sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = (double)from[i];
    return to;
}

static double norm_of(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static double distance(const float *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum);
}

/* Fourth-order central difference at coordinate j; the smallest error of four steps. */
static double difference_error(const struct batch *batch, double *theta,
                               const struct oracle_record *record, size_t j,
                               double slope)
{
    double best = INFINITY, keep = theta[j];
    for (double h = 1e-2; h > 5e-6; h /= 10.0) {
        static const double at[] = {-2.0, -1.0, 1.0, 2.0},
                            by[] = {1.0, -8.0, 8.0, -1.0};
        double sum = 0.0;
        for (int k = 0; k < 4; k++) {
            theta[j] = keep + at[k] * h;
            sum += by[k] * oracle_evaluate(&batch->model, theta, record, NULL, NULL);
        }
        best = fmin(best, fabs(sum / (12.0 * h) - slope));
    }
    theta[j] = keep;
    return best;
}

static void backward_is_the_derivative(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        double *theta = widened(batch.theta, batch.parameters);
        double *gradient = calloc(batch.parameters, sizeof *gradient);
        for (size_t i = 0; i < 3; i++) {
            struct oracle_record record = oracle_record(&batch, i);
            oracle_evaluate(&batch.model, theta, &record, gradient, NULL);
            double scale = norm_of(gradient, batch.parameters);
            for (size_t j = 0; j < batch.parameters; j += 1 + batch.parameters / 97)
                assert_true(difference_error(&batch, theta, &record, j, gradient[j]) <=
                            1e-7 * (scale + 1e-3));
        }
        free(gradient);
        free(theta);
        batch_fini(&batch);
    }
}

static void gradients_and_losses_are_the_oracles(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        double *theta = widened(batch.theta, batch.parameters);
        double *gradient = calloc(batch.parameters, sizeof *gradient);
        float *sum = calloc(batch.parameters, sizeof *sum);
        batch_run(&batch);
        for (size_t i = 0; i < batch.count; i++) {
            struct oracle_record record = oracle_record(&batch, i);
            double loss = oracle_evaluate(&batch.model, theta, &record, gradient, NULL);
            double norm = norm_of(gradient, batch.parameters);
            assert_close(workspace_losses(batch.workspace)[i] + 1.0, loss + 1.0, 1e-5);
            batch_sum(&batch, (struct row_range){i, 1}, sum);
            assert_true(distance(sum, gradient, batch.parameters) <= 1e-5 * norm);
        }
        free(sum);
        free(gradient);
        free(theta);
        batch_fini(&batch);
    }
}

static void a_norm_is_the_norm_of_the_record_alone(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        float *sum = calloc(batch.parameters, sizeof *sum);
        double *norms = calloc(batch.count, sizeof *norms);
        batch_run(&batch);
        memcpy(norms, workspace_norms(batch.workspace), batch.count * sizeof *norms);
        for (size_t i = 0; i < batch.count; i++) {
            batch_place(&batch, 0, i);
            batch_pass(&batch, 1);
            batch_sum(&batch, (struct row_range){0, 1}, sum);
            double *exact = widened(sum, batch.parameters);
            assert_close(norms[i], norm_of(exact, batch.parameters), 1e-5);
            assert_true(norms[i] > 0.0);
            free(exact);
        }
        free(norms);
        free(sum);
        batch_fini(&batch);
    }
}

/* NOISE.md 2.4: nu_up bounds the exact product of the stored factors, M_up likewise. */
static void a_norm_is_never_below_that_of_the_stored_factors(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        batch_run(&batch);
        for (size_t i = 0; i < batch.count; i++) {
            long double square = 0.0L;
            for (size_t l = 0; l < workspace_factor_count(batch.workspace); l++) {
                struct factors of = workspace_factors(batch.workspace, l);
                long double a = 0.0L, b = 0.0L;
                for (size_t j = 0; j < of.inputs; j++)
                    a += (long double)of.a[i * of.a_stride + j] *
                         of.a[i * of.a_stride + j];
                for (size_t j = 0; j < of.outputs; j++)
                    b += (long double)of.b[i * of.b_stride + j] *
                         of.b[i * of.b_stride + j];
                square += b * (a + (of.bias != SIZE_MAX ? 1.0L : 0.0L));
            }
            assert_true((long double)workspace_norms(batch.workspace)[i] >=
                        sqrtl(square));
            assert_true((long double)workspace_norms(batch.workspace)[i] <=
                        sqrtl(square) * (1.0L + 0x1p-22L));
            assert_true(workspace_spreads(batch.workspace)[i] >=
                        workspace_norms(batch.workspace)[i]);
        }
        batch_fini(&batch);
    }
}

static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        float *one = calloc(batch.parameters, sizeof *one);
        float *all = calloc(batch.parameters, sizeof *all);
        double *expected = calloc(batch.parameters, sizeof *expected);
        float *weights = calloc(batch.count, sizeof *weights);
        double total = 0.0;
        batch_run(&batch);
        struct row_range range = {2, batch.count - 5};
        for (size_t i = 0; i < batch.count; i++) {
            weights[i] = i % 3 == 0 ? 1.0F : (float)batch_random(&batch.state);
            batch_sum(&batch, (struct row_range){i, 1}, one);
            if (i < range.first || i >= range.first + range.count)
                continue;
            total += (double)weights[i] * workspace_norms(batch.workspace)[i];
            for (size_t j = 0; j < batch.parameters; j++)
                expected[j] += (double)weights[i] * (double)one[j];
        }
        workspace_scale(batch.workspace, weights);
        batch_sum(&batch, range, all);
        assert_true(distance(all, expected, batch.parameters) <= 2e-6 * total);
        free(weights);
        free(expected);
        free(all);
        free(one);
        batch_fini(&batch);
    }
}

static void a_weight_of_one_leaves_every_bit(void **state)
{
    struct batch batch;
    float weights[50];
    (void)state;

    start(&batch, 2);
    batch_run(&batch);
    for (size_t i = 0; i < 50; i++)
        weights[i] = i == 7 ? 0.3F : 1.0F;
    struct factors of = workspace_factors(batch.workspace, 0);
    float *before = calloc(batch.rows * of.b_stride, sizeof *before);
    memcpy(before, of.b, batch.rows * of.b_stride * sizeof *before);
    workspace_scale(batch.workspace, weights);
    for (size_t i = 0; i < batch.rows; i++)
        for (size_t j = 0; j < of.b_stride; j++) {
            float was = before[i * of.b_stride + j], is = of.b[i * of.b_stride + j];
            float expected = i == 7 ? was * 0.3F : was;
            assert_memory_equal(&is, &expected, sizeof is);
        }
    free(before);
    batch_fini(&batch);
}

/* A bad record among good ones, and the same batch with a record in its place whose
 * contribution is nothing: every coordinate of every sum is the same. */
static void a_bad_record_changes_nothing_else(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F, 1e30F};
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            struct batch batch;
            start(&batch, f);
            if (k > 0 && batch.model.layers[0].kind != LAYER_DENSE) {
                batch_fini(&batch); /* relu and tanh turn these into ordinary numbers */
                continue;
            }
            float *with = calloc(batch.parameters, sizeof *with);
            float *without = calloc(batch.parameters, sizeof *without);
            struct row_range all = {0, batch.count};
            const size_t place = 5;

            batch_run(&batch);
            workspace_erase(batch.workspace, place);
            batch_sum(&batch, all, without);

            for (size_t j = 0; j < batch.features; j++)
                batch.x[place * batch.features + j] = bad[k];
            batch_run(&batch);
            assert_true(workspace_norms(batch.workspace)[place] == 0.0);
            assert_true(workspace_spreads(batch.workspace)[place] == 0.0);
            batch_sum(&batch, all, with);
            assert_memory_equal(with, without, batch.parameters * sizeof *with);
            free(with);
            free(without);
            batch_fini(&batch);
        }
}

/* A weight that sends the record's own class to minus infinity: every factor is finite,
 * the loss is not. */
static void a_record_of_infinite_loss_is_refused(void **state)
{
    struct batch batch;
    (void)state;
    start(&batch, 1);
    batch.theta[0] = -3e38F;
    for (size_t i = 0; i < batch.count; i++) {
        batch.x[i * batch.features] = i == 3 ? 10.0F : 0.0F;
        batch.classes[i] = 0;
    }
    batch_run(&batch);
    assert_true(isinf(workspace_losses(batch.workspace)[3]));
    for (size_t i = 0; i < batch.count; i++)
        assert_int_equal(workspace_norms(batch.workspace)[i] == 0.0, i == 3);
    batch_fini(&batch);
}

/* Bit for bit: a record in one row, alone, and in two different companies. */
static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        start(&batch, f);
        float *mixed = calloc(batch.parameters, sizeof *mixed);
        float *alone = calloc(batch.parameters, sizeof *alone);
        for (size_t i = 0; i < batch.count; i += 3) {
            for (size_t j = 0; j < batch.count; j++)
                batch_place(&batch, j, j == i ? i : (i + 2 * j) % batch.count);
            batch_pass(&batch, batch.count);
            double norm = workspace_norms(batch.workspace)[i];
            double loss = workspace_losses(batch.workspace)[i];
            batch_sum(&batch, (struct row_range){i, 1}, mixed);

            memset(workspace_input(batch.workspace), 0,
                   batch.rows * workspace_stride(batch.workspace) * sizeof(float));
            batch_place(&batch, i, i);
            batch_pass(&batch, i + 1);
            batch_sum(&batch, (struct row_range){i, 1}, alone);
            assert_true(norm == workspace_norms(batch.workspace)[i]);
            assert_true(loss == workspace_losses(batch.workspace)[i]);
            assert_memory_equal(mixed, alone, batch.parameters * sizeof *mixed);
        }
        free(mixed);
        free(alone);
        batch_fini(&batch);
    }
}

/* Bit for bit: in a workspace of four blocks, wherever the last record lies, a record
 * has what it has in the same row of a workspace of one block. */
static void a_block_is_a_workspace_of_its_own(void **state)
{
    (void)state;
    enum { BLOCK = 16, COUNT = 4 * BLOCK };
    struct batch whole, part;
    batch_init(&whole, "d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, COUNT);
    batch_init(&part, "d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, BLOCK);
    memcpy(part.theta, whole.theta, whole.parameters * sizeof *whole.theta);
    workspace_set_block(whole.workspace, BLOCK);
    for (size_t count = 1; count <= COUNT; count += 7) {
        for (size_t i = 0; i < count; i++)
            batch_place(&whole, i, i);
        batch_pass(&whole, count);
        for (size_t first = 0; first < count; first += BLOCK) {
            size_t here = count - first < BLOCK ? count - first : BLOCK;
            memcpy(part.x, whole.x + first * whole.features,
                   BLOCK * part.features * sizeof *part.x);
            memcpy(part.classes, whole.classes + first, BLOCK * sizeof *part.classes);
            for (size_t i = 0; i < here; i++)
                batch_place(&part, i, i);
            batch_pass(&part, here);
            assert_memory_equal(workspace_norms(whole.workspace) + first,
                                workspace_norms(part.workspace),
                                BLOCK * sizeof(double));
            assert_memory_equal(workspace_losses(whole.workspace) + first,
                                workspace_losses(part.workspace),
                                BLOCK * sizeof(double));
            for (size_t l = 0; l < workspace_factor_count(part.workspace); l++) {
                struct factors a = workspace_factors(whole.workspace, l);
                struct factors b = workspace_factors(part.workspace, l);
                assert_memory_equal(a.a + first * a.a_stride, b.a,
                                    BLOCK * a.a_stride * sizeof(float));
                assert_memory_equal(a.b + first * a.b_stride, b.b,
                                    BLOCK * a.b_stride * sizeof(float));
            }
        }
    }
    batch_fini(&whole);
    batch_fini(&part);
}

static void rows_beyond_the_records_contribute_nothing(void **state)
{
    struct batch batch;
    (void)state;
    start(&batch, 3);
    batch_run(&batch);
    for (size_t l = 0; l < workspace_factor_count(batch.workspace); l++) {
        struct factors of = workspace_factors(batch.workspace, l);
        for (size_t i = batch.count; i < batch.rows; i++)
            for (size_t j = 0; j < of.b_stride; j++)
                assert_true(of.b[i * of.b_stride + j] == 0.0F);
    }
    for (size_t i = batch.count; i < batch.rows; i++)
        assert_true(workspace_norms(batch.workspace)[i] == 0.0);
    batch_fini(&batch);
}

static void an_empty_range_sums_to_zero(void **state)
{
    struct batch batch;
    (void)state;
    start(&batch, 2);
    float *sum = calloc(batch.parameters, sizeof *sum);
    batch_run(&batch);
    batch_sum(&batch, (struct row_range){7, 0}, sum);
    for (size_t j = 0; j < batch.parameters; j++)
        assert_true(sum[j] == 0.0F);
    batch_pass(&batch, 0);
    batch_sum(&batch, (struct row_range){0, 0}, sum);
    free(sum);
    batch_fini(&batch);
}

struct half { /* every other tile of a sum */
    struct batch *batch;
    size_t first;
    float *out;
};

static void *sum_half(void *argument)
{
    struct half *half = argument;
    const struct network *network = half->batch->network;
    struct row_range range = {0, half->batch->count};
    float *block = aligned_alloc(
        64, (network_tile_floats_max(network) * sizeof *block + 63) / 64 * 64);
    for (size_t t = half->first; t < network_tile_count(network); t += 2) {
        struct tile tile = network_tile(network, t);
        workspace_sum(half->batch->workspace, t, range, block);
        memcpy(half->out + tile.offset, block, tile.count * sizeof *block);
    }
    free(block);
    return NULL;
}

static void threads_do_not_matter(void **state)
{
    struct batch batch;
    pthread_t other;
    (void)state;
    batch_init(&batch, "d512rd700rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 48);
    batch_run(&batch);
    float *one = calloc(batch.parameters, sizeof *one);
    float *two = calloc(batch.parameters, sizeof *two);
    struct half halves[] = {{&batch, 0, two}, {&batch, 1, two}};
    batch_sum(&batch, (struct row_range){0, batch.count}, one);
    assert_true(network_tile_count(batch.network) > 6);
    assert_int_equal(pthread_create(&other, NULL, sum_half, &halves[1]), 0);
    sum_half(&halves[0]);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_memory_equal(one, two, batch.parameters * sizeof *one);
    free(one);
    free(two);
    batch_fini(&batch);
}

static void probabilities_are_the_models(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        double z[ORACLE_WIDTH_MAX];
        start(&batch, f);
        uint32_t width = network_predictions(batch.network);
        double *theta = widened(batch.theta, batch.parameters);
        double *out = calloc(batch.count * width, sizeof *out);
        batch_run(&batch);
        workspace_forward(batch.workspace, batch.theta, batch.count);
        workspace_predict(batch.workspace, out);
        for (size_t i = 0; i < batch.count; i++) {
            struct oracle_record record = oracle_record(&batch, i);
            const double *row = out + i * width;
            oracle_evaluate(&batch.model, theta, &record, NULL, z);
            if (batch.model.loss == LOSS_SQUARED) {
                assert_true(fabs(row[0] - z[0]) <= 1e-5 * (1.0 + fabs(z[0])));
                continue;
            }
            double sum = 0.0, greatest = -1.0;
            double zero_class = batch.model.loss == LOSS_LOGISTIC ? 0.0 : z[0];
            for (uint32_t j = 0; j < width; j++) {
                sum += row[j];
                greatest = fmax(greatest, row[j]);
                double odds =
                    batch.model.loss == LOSS_LOGISTIC ? (j == 1 ? z[0] : 0.0) : z[j];
                assert_close(row[j], row[0] * exp(odds - zero_class), 2e-5);
            }
            assert_close(sum, 1.0, 1e-12);
            assert_true(row[workspace_class(batch.workspace, i)] == greatest);
        }
        free(out);
        free(theta);
        batch_fini(&batch);
    }
}

/* nu of each layer is |b| sqrt(|a|^2 + bias), and the squares add up to that of all. */
static void norms_of_layers_add_up(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d17rd9td4", LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
    batch_run(&batch);
    workspace_measure(batch.workspace);
    assert_int_equal(network_layers(batch.network), 3);
    for (size_t i = 0; i < batch.count; i++) {
        double sum = 0;
        for (size_t l = 0; l < 3; l++) {
            struct factors of = workspace_factors(batch.workspace, l);
            double a = 0, b = 0;
            for (size_t j = 0; j < of.inputs; j++)
                a += pow((double)of.a[i * of.a_stride + j], 2);
            for (size_t j = 0; j < of.outputs; j++)
                b += pow((double)of.b[i * of.b_stride + j], 2);
            double norm = sqrt(b * (a + (of.bias != SIZE_MAX ? 1 : 0)));
            double found = workspace_layer_norms(batch.workspace, l)[i];
            assert_close(found, norm, 1e-7);
            assert_true(found >= norm);
            assert_true(workspace_layer_spreads(batch.workspace, l)[i] == found);
            sum += found * found;
        }
        assert_close(sqrt(sum), workspace_norms(batch.workspace)[i], 1e-14);
    }
    batch_fini(&batch);
}

static void a_layer_is_scaled_by_itself(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d17rd9td4", LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
    batch_run(&batch);
    workspace_measure(batch.workspace);
    float weights[48];
    double before[3];
    for (size_t i = 0; i < 48; i++)
        weights[i] = 0.5F;
    for (size_t l = 0; l < 3; l++)
        before[l] = workspace_layer_norms(batch.workspace, l)[7];
    workspace_scale_layer(batch.workspace, 1, weights);
    workspace_measure(batch.workspace);
    for (size_t l = 0; l < 3; l++)
        assert_true(workspace_layer_norms(batch.workspace, l)[7] ==
                    before[l] * (l == 1 ? 0.5 : 1));
    batch_fini(&batch);
}

static void memory_is_what_was_said(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d128rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 256);
    /* input, hidden twice, outputs twice, floats */
    size_t floats = 256 * (784 + 2 * 128 + 2 * 16);
    size_t size = workspace_size(batch.network, 256);
    /* targets, loss, norms and scratch a row; two norms a row and layer */
    assert_in_range(size, floats * 4, floats * 4 + 256 * (64 + 2 * 16) + 1024);
    assert_int_equal(workspace_rows(batch.workspace), 256);
    assert_int_equal((uintptr_t)workspace_input(batch.workspace) % 64, 0);
    for (size_t l = 0; l < 2; l++) {
        struct factors of = workspace_factors(batch.workspace, l);
        assert_int_equal((uintptr_t)of.a % 64 + (uintptr_t)of.b % 64, 0);
        assert_int_equal(of.a_stride % 16 + of.b_stride % 16, 0);
    }
    batch_fini(&batch);
}

/* Of a norm what was normalised in place, its deviations and its kept gradients; of a
 * dropout its mask; of a fork's two ends gradients alone. */
static void memory_of_blocks_is_what_was_said(void **state)
{
    static const struct {
        const char *layers;
        size_t floats; /* a row */
    } cases[] = {
        {"d32d16", 784 + 2 * 32 + 2 * 16},
        {"d32n4d16", 784 + 2 * 32 + 16 + 2 * 32 + 64 + 1 + 2 * 16},
        {"d32n4rd16", 784 + 2 * 32 + 16 + 2 * 32 + 64 + 1 + 2 * 16},
        {"d32ud16", 784 + 2 * 32 + 2 * 32 + 2 * 16},
        {"d32o2d16", 784 + 2 * 32 + 2 * 32 + 32 + 2 * 16},
        {"d32[d32]d16", 784 + 2 * 32 + 32 + 32 + 2 * 32 + 2 * 32 + 2 * 16},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct batch batch;
        batch_init(&batch, cases[k].layers, LOSS_SOFTMAX_CROSS_ENTROPY, 784, 256);
        size_t floats = 256 * cases[k].floats;
        size_t layers = network_layers(batch.network);
        size_t size = workspace_size(batch.network, 256);
        assert_in_range(size, floats * 4, floats * 4 + 256 * (48 + 16 * layers) + 3072);
        batch_fini(&batch);
    }
}

static void buffers_that_cannot_be_had_are_refused(void **state)
{
    struct model_spec model = {.loss = LOSS_SQUARED};
    struct network_shape shape = {60000000, 1};
    struct network *network = NULL;
    struct workspace *workspace = NULL;
    struct error error = {0};
    struct rlimit before, small;
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their allocators abort */
#endif
    batch_layers(&model, "d1");
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = 1 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    enum status status = workspace_create(&workspace, network, 16, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ST_NO_MEMORY);
    assert_int_equal(error.status, ST_NO_MEMORY);
    assert_null(workspace);
    network_destroy(network);
    workspace_destroy(NULL);
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_is_the_derivative),
        cmocka_unit_test(gradients_and_losses_are_the_oracles),
        cmocka_unit_test(a_norm_is_the_norm_of_the_record_alone),
        cmocka_unit_test(a_norm_is_never_below_that_of_the_stored_factors),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(a_weight_of_one_leaves_every_bit),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(a_record_of_infinite_loss_is_refused),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(a_block_is_a_workspace_of_its_own),
        cmocka_unit_test(rows_beyond_the_records_contribute_nothing),
        cmocka_unit_test(an_empty_range_sums_to_zero),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(probabilities_are_the_models),
        cmocka_unit_test(norms_of_layers_add_up),
        cmocka_unit_test(a_layer_is_scaled_by_itself),
        cmocka_unit_test(memory_is_what_was_said),
        cmocka_unit_test(memory_of_blocks_is_what_was_said),
        cmocka_unit_test(buffers_that_cannot_be_had_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
