/* Goal: differences of gradients at two points keep their digits however close the
 * points are, and are bounded, weighed and refused record by record as gradients are.
 * Method: explicit gradients at both points from the double oracle, subtracted in
 * double, over random networks and motions; the mutant that subtracts float gradients
 * beside it; then one record at a time in different company. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/difference.h"
#include "tests/engine/nn/random_batch.h"
#include "tests/engine/nn/oracle.h"

struct family {
    const char *layers;
    enum loss loss;
    size_t features, count;
    struct model_input input; /* or 0: vectors */
};

static const struct family families[] = {
    {"d10", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 37, {0}},
    {"D3", LOSS_SOFTMAX_CROSS_ENTROPY, 5, 16, {0}},
    {"d23rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 17, 50, {0}},
    {"d17td33td7", LOSS_SOFTMAX_CROSS_ENTROPY, 31, 33, {0}},
    {"rd9trtd5", LOSS_SOFTMAX_CROSS_ENTROPY, 12, 21, {0}},
    {"d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, 64, {0}},
    {"d1", LOSS_LOGISTIC, 29, 40, {0}},
    {"d8td1", LOSS_LOGISTIC, 3, 19, {0}},
    {"D1", LOSS_SQUARED, 8, 16, {0}},
    {"td12rd6td1", LOSS_SQUARED, 9, 45, {0}},
    {"d6rd1t", LOSS_SQUARED, 1, 18, {0}},
    {"d14sd9sd3", LOSS_SOFTMAX_CROSS_ENTROPY, 11, 30, {0}},
    {"d9td1", LOSS_HUBER, 6, 40, {0}},
    {"d15pD8pd1", LOSS_SQUARED, 7, 25, {0}},
    {"d12ud9Ud4", LOSS_SOFTMAX_CROSS_ENTROPY, 10, 28, {0}},
    {"ud7pud1", LOSS_LOGISTIC, 8, 20, {0}},
    {"d12ro3d9o2td4", LOSS_SOFTMAX_CROSS_ENTROPY, 10, 28, {0}},
    {"d11[d7td11]r[d5|d5]sd3", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 20, {0}},
    {"[d8td6]d2", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 16, {0}},
    {"[t|d6]rd3", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 16, {0}},
    {"c4,3rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, 50, 18, {5, 5, 2}},
    {"c5,3,1,1rm2,2c4,2tm2,1fd8rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 17, {8, 8, 1}},
    {"x3c4,3,2,1sc5,2a2,1fd1", LOSS_SQUARED, 81, 16, {9, 9, 1}},
    {"m2,1C3,2um3,2,1d4tgd1", LOSS_LOGISTIC, 98, 16, {7, 7, 2}},
    {"k6c4,3,1,1[c3,3,1,1tc4,1]ro1m2,2fd4",
     LOSS_SOFTMAX_CROSS_ENTROPY,
     64,
     17,
     {8, 8, 1}},
    {"C6,3,1,2rm2,2fd5", LOSS_SOFTMAX_CROSS_ENTROPY, 25, 33, {5, 5, 1}},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* A batch whose workspace has two points: theta is the new one. */
struct pair {
    struct batch batch;
    float *previous;
    struct motion *motion;
};

/* Moves every parameter by about size times the root of their mean square. */
static void move(struct pair *pair, double size)
{
    struct batch *batch = &pair->batch;
    double square = 0.0;
    for (size_t j = 0; j < batch->parameters; j++)
        square += (double)batch->theta[j] * (double)batch->theta[j];
    double step = size * sqrt(square / (double)batch->parameters);
    for (size_t j = 0; j < batch->parameters; j++)
        pair->previous[j] = (float)((double)batch->theta[j] +
                                    step * (double)batch_normal(&batch->state));
    motion_set(pair->motion, batch->theta, pair->previous);
}

static void make(struct batch *batch, const struct family *family)
{
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .loss = family->loss,
                                             .features = family->features,
                                             .count = family->count,
                                             .input = family->input,
                                             .form = -1});
}

static void start(struct pair *pair, const struct family *family, double size)
{
    struct batch *batch = &pair->batch;
    make(batch, family);
    assert_int_equal(network_check_differences(batch->network, NULL), ST_OK);
    workspace_destroy(batch->workspace);
    assert_int_equal(workspace_create_two_points(&batch->workspace, batch->network,
                                                 batch->rows, NULL),
                     ST_OK);
    workspace_drop(batch->workspace, (struct drop){batch->drop_key, batch->indices});
    pair->previous = calloc(batch->parameters, sizeof *pair->previous);
    assert_int_equal(motion_create(&pair->motion, batch->parameters, NULL), ST_OK);
    move(pair, size);
}

static void finish(struct pair *pair)
{
    motion_destroy(pair->motion);
    free(pair->previous);
    batch_fini(&pair->batch);
}

static void pass(struct pair *pair, size_t count)
{
    workspace_difference(pair->batch.workspace, pair->motion, count);
    workspace_measure(pair->batch.workspace);
}

static void run(struct pair *pair)
{
    for (size_t i = 0; i < pair->batch.count; i++)
        batch_place(&pair->batch, i, i);
    pass(pair, pair->batch.count);
}

static double norm_of(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* |scale a - b|, b as a file has it. */
static double distance(const struct batch *batch, const float *a, double scale,
                       const double *b)
{
    double *filed = calloc(batch->parameters, sizeof *filed), sum = 0.0;
    batch_as_file(batch, filed, a);
    for (size_t i = 0; i < batch->parameters; i++) {
        double apart = scale * filed[i] - b[i];
        sum += apart * apart;
    }
    free(filed);
    return sqrt(sum);
}

static struct oracle_record oracle_record(const struct batch *batch, size_t i)
{
    return (struct oracle_record){.features = batch->x + i * batch->features,
                                  .feature_count = batch->features,
                                  .class_index = batch->classes[i],
                                  .value = (double)batch->values[i],
                                  .drop_key = batch->drop_key,
                                  .index = batch_index(i)};
}

/* out = the gradient of record i at parameters. */
static void oracle_gradient(const struct batch *batch, const float *parameters,
                            size_t i, double *out)
{
    double *wide = calloc(batch->parameters, sizeof *wide);
    struct oracle_record record = oracle_record(batch, i);
    batch_as_file(batch, wide, parameters);
    oracle_evaluate(&batch->model, wide, &record, out, NULL);
    free(wide);
}

/* out = g - g' of record i. */
static void oracle_difference(const struct pair *pair, size_t i, double *out)
{
    const struct batch *batch = &pair->batch;
    double *before = calloc(batch->parameters, sizeof *before);
    oracle_gradient(batch, batch->theta, i, out);
    oracle_gradient(batch, pair->previous, i, before);
    for (size_t j = 0; j < batch->parameters; j++)
        out[j] -= before[j];
    free(before);
}

/* The largest relative error of a record's difference, and of its norm. Where the
 * difference of one record is next to nothing, relative to a tenth of a usual one: an
 * inner product of x and a step that are orthogonal has no digits to keep. */
struct errors {
    double vector, norm;
};

static struct errors errors_of(struct pair *pair)
{
    struct batch *batch = &pair->batch;
    size_t size = batch->parameters;
    double scale = motion_scale(pair->motion), square = 0.0;
    double *expected = calloc(batch->count * size, sizeof *expected);
    float *sum = calloc(size, sizeof *sum);
    struct errors worst = {0};

    run(pair);
    for (size_t i = 0; i < batch->count; i++) {
        oracle_difference(pair, i, expected + i * size);
        square += pow(norm_of(expected + i * size, size), 2.0);
    }
    for (size_t i = 0; i < batch->count; i++) {
        double norm = norm_of(expected + i * size, size);
        double unit = fmax(norm, 0.1 * sqrt(square / (double)batch->count));
        double bound = scale * workspace_norms(batch->workspace)[i];
        batch_sum(batch, (struct row_range){i, 1}, sum);
        worst.vector =
            fmax(worst.vector, distance(batch, sum, scale, expected + i * size) / unit);
        worst.norm = fmax(worst.norm, fabs(bound - norm) / unit);
    }
    free(sum);
    free(expected);
    return worst;
}

static void differences_keep_their_digits(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int digits = 1; digits <= 7; digits++) {
            struct pair pair;
            start(&pair, &families[f], pow(10.0, -digits));
            struct errors worst = errors_of(&pair);
            assert_true(worst.vector <= 1e-5);
            assert_true(worst.norm <= 1e-5);
            finish(&pair);
        }
}

/* Three dense layers of any width, activations of any kind, any loss. */
static void differences_keep_their_digits_in_any_shape(void **state)
{
    static const char kinds[] = "rtspuU";
    uint64_t random = 2385;
    (void)state;
    for (size_t k = 0; k < 100; k++) {
        char layers[64];
        size_t n[5];
        for (size_t j = 0; j < 5; j++)
            n[j] = 1 + (size_t)(40.0 * batch_random(&random));
        enum loss loss = (enum loss)(k % 4);
        size_t outputs = loss == LOSS_SOFTMAX_CROSS_ENTROPY ? 1 + n[2] : 1;
        snprintf(layers, sizeof layers, "d%zu%cD%zu%cd%zu", 1 + n[0], kinds[n[3] % 6],
                 1 + n[1], kinds[n[4] % 6], outputs);
        struct family family = {layers, loss, n[3], n[4], {0}};
        struct pair pair;
        start(&pair, &family, pow(10.0, -7.0 * batch_random(&random)));
        struct errors worst = errors_of(&pair);
        assert_true(worst.vector <= 1e-5);
        assert_true(worst.norm <= 1e-5);
        finish(&pair);
    }
}

static bool has_rules(const struct family *family)
{
    struct batch batch;
    make(&batch, family);
    bool passed = network_check_differences(batch.network, NULL) == ST_OK;
    batch_fini(&batch);
    return passed;
}

/* A convolution of any kernel, stride, padding and dilation, a pool and another one,
 * wherever they fit, up to the step at which relu and max pool switch. */
static void differences_keep_their_digits_in_any_geometry(void **state)
{
    uint64_t random = 2385;
    (void)state;
    for (size_t done = 0; done < 60;) {
        char layers[64];
        uint32_t n[8];
        for (size_t k = 0; k < 8; k++)
            n[k] = 1 + (uint32_t)(3.0 * batch_random(&random));
        uint32_t side = 3 + (uint32_t)(7.0 * batch_random(&random));
        uint32_t reach = n[5] * (n[1] - 1) + 1, padded = side + 2 * (n[4] - 1);
        struct family family = {
            layers, LOSS_SOFTMAX_CROSS_ENTROPY, 0, 16, {side, side, n[7]}};
        family.features = (size_t)side * side * n[7];
        if (reach > padded || (padded - reach) / n[3] < 2)
            continue;
        snprintf(layers, sizeof layers, "c%u,%u,%u,%u,%u%c%c2,1c%u,%u,1,1rfd3",
                 2 + n[0], n[1], n[3], n[4] - 1, n[5], "rtu"[n[2] - 1], "ma"[done % 2],
                 1 + n[6], n[0]);
        if (!has_rules(&family)) /* too many weights to keep gradients */
            continue;
        struct pair pair;
        start(&pair, &family, pow(10.0, -7.0 * batch_random(&random)));
        struct errors worst = errors_of(&pair);
        assert_true(worst.vector <= 1e-5);
        assert_true(worst.norm <= 1e-5);
        finish(&pair);
        done++;
    }
}

/* The same records with float gradients at both points, subtracted. */
static double subtracting_error(struct pair *pair)
{
    struct batch *batch = &pair->batch;
    double *expected = calloc(batch->parameters, sizeof *expected);
    float *new = calloc(batch->parameters, sizeof *new);
    float *old = calloc(batch->parameters, sizeof *old), *theta = batch->theta;
    double worst = 0.0;

    for (size_t i = 0; i < batch->count; i++) {
        oracle_difference(pair, i, expected);
        batch_place(batch, 0, i);
        batch_pass(batch, 1);
        batch_sum(batch, (struct row_range){0, 1}, new);
        batch->theta = pair->previous;
        batch_place(batch, 0, i);
        batch_pass(batch, 1);
        batch_sum(batch, (struct row_range){0, 1}, old);
        batch->theta = theta;
        for (size_t j = 0; j < batch->parameters; j++)
            new[j] -= old[j];
        worst = fmax(worst, distance(batch, new, 1.0, expected) /
                                norm_of(expected, batch->parameters));
    }
    free(old);
    free(new);
    free(expected);
    return worst;
}

static void subtracted_gradients_lose_theirs(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (int digits = 4; digits <= 7; digits++) {
            struct pair pair;
            start(&pair, &families[f], pow(10.0, -digits));
            double worst = subtracting_error(&pair);
            assert_true(worst > 1e-5 * pow(10.0, digits - 4));
            finish(&pair);
        }
}

/* The exact norm and spread of what the workspace stores of a record. */
struct exact {
    long double norm, spread;
};

static struct exact exact_of(const struct batch *batch, size_t i)
{
    struct exact exact = {0};
    size_t count = workspace_factor_count(batch->workspace), next;
    for (size_t l = 0; l < count; l = next) {
        struct factors at = workspace_factors(batch->workspace, l), of[2] = {at, at};
        bool two = l + 1 < count &&
                   workspace_factors(batch->workspace, l + 1).weight == at.weight;
        if (two)
            of[1] = workspace_factors(batch->workspace, l + 1);
        next = l + 1 + two;
        long double aa[3] = {0}, bb[3] = {0}; /* squares, and the mixed product */
        for (int k = 0; k < 3; k++) {
            const struct factors *x = &of[k / 2], *y = &of[(k + 1) / 2];
            for (size_t j = 0; j < at.inputs; j++)
                aa[k] +=
                    (long double)x->a[i * x->a_stride + j] * y->a[i * y->a_stride + j];
            for (size_t j = 0; j < at.outputs; j++)
                bb[k] +=
                    (long double)x->b[i * x->b_stride + j] * y->b[i * y->b_stride + j];
        }
        long double bias = at.bias != SIZE_MAX ? bb[0] : 0.0L;
        long double more = two ? aa[2] * bb[2] : 0.0L;
        long double mixed = two ? 2.0L * aa[1] * bb[1] : 0.0L;
        long double spread = sqrtl(aa[0] * bb[0]) + sqrtl(more);
        exact.norm += aa[0] * bb[0] + bias + more + mixed;
        exact.spread += spread * spread + bias;
    }
    return (struct exact){sqrtl(exact.norm), sqrtl(exact.spread)};
}

static void a_norm_is_never_below_that_of_the_stored_factors(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES && families[f].input.height == 0; f++)
        for (int digits = 0; digits <= 6; digits += 3) {
            struct pair pair;
            start(&pair, &families[f], pow(10.0, -digits));
            run(&pair);
            for (size_t i = 0; i < pair.batch.count; i++) {
                struct exact exact = exact_of(&pair.batch, i);
                long double norm = workspace_norms(pair.batch.workspace)[i];
                long double spread = workspace_spreads(pair.batch.workspace)[i];
                long double room = 0x1p-22L * exact.norm + 0x1p-23L * exact.spread;
                assert_true(exact.norm > 0.0L);
                assert_true(norm >= exact.norm && norm <= exact.norm + room);
                assert_true(spread >= exact.spread);
                assert_true(spread <= exact.spread * (1.0L + 0x1p-22L));
            }
            finish(&pair);
        }
}

static float *entry(const float *from, size_t stride, size_t row)
{
    return (float *)(uintptr_t)(from + row * stride);
}

/* Makes the two terms of record i nearly cancel in every layer but the first, of which
 * nothing is left: da = a' and b = -db but for last bits. */
static void cancel_terms(const struct batch *batch, size_t i)
{
    struct factors first = workspace_factors(batch->workspace, 0);
    memset(entry(first.b, first.b_stride, i), 0, first.outputs * sizeof(float));
    for (size_t l = 1; l < workspace_factor_count(batch->workspace); l += 2) {
        struct factors one = workspace_factors(batch->workspace, l);
        struct factors two = workspace_factors(batch->workspace, l + 1);
        const float *a = entry(one.a, one.a_stride, i);
        const float *db = entry(one.b, one.b_stride, i);
        float *da = entry(two.a, two.a_stride, i), *b = entry(two.b, two.b_stride, i);
        for (size_t j = 0; j < one.inputs; j++)
            da[j] = nextafterf(a[j], (float)(i % 3) - 1.0F);
        for (size_t j = 0; j < one.outputs; j++)
            b[j] = nextafterf(-db[j], (float)(i % 5) - 2.0F);
    }
}

/* Rounding w b and w db leaves more than was there, and still no more than C. */
static void the_clip_holds_where_terms_cancel(void **state)
{
    static const struct family family = {
        "D20rD20rD3", LOSS_SOFTMAX_CROSS_ENTROPY, 9, 16, {0}};
    struct pair pair;
    (void)state;
    start(&pair, &family, 1e-2);
    run(&pair);
    for (size_t i = 0; i < pair.batch.count; i++)
        cancel_terms(&pair.batch, i);
    workspace_measure(pair.batch.workspace);
    float weights[16];
    double norms[16];
    for (size_t i = 0; i < pair.batch.count; i++) {
        norms[i] = workspace_norms(pair.batch.workspace)[i];
        assert_true(norms[i] >= (double)exact_of(&pair.batch, i).norm);
        weights[i] = (float)(0.3 + 0.01 * (double)i);
    }
    workspace_scale(pair.batch.workspace, weights);
    for (size_t i = 0; i < pair.batch.count; i++) {
        struct exact exact = exact_of(&pair.batch, i);
        double clip = (double)weights[i] / (1.0 - 0x1p-22) * norms[i];
        assert_true((double)exact.norm <= clip);
    }
    finish(&pair);
}

static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        start(&pair, &families[f], 1e-3);
        struct batch *batch = &pair.batch;
        float *one = calloc(batch->parameters, sizeof *one);
        float *all = calloc(batch->parameters, sizeof *all);
        double *expected = calloc(batch->parameters, sizeof *expected);
        double *filed = calloc(batch->parameters, sizeof *filed);
        float *weights = calloc(batch->count, sizeof *weights);
        double total = 0.0;
        run(&pair);
        struct row_range range = {2, batch->count - 5};
        for (size_t i = 0; i < batch->count; i++) {
            weights[i] = i % 3 == 0 ? 1.0F : (float)batch_random(&batch->state);
            batch_sum(batch, (struct row_range){i, 1}, one);
            if (i < range.first || i >= range.first + range.count)
                continue;
            total += (double)weights[i] * workspace_spreads(batch->workspace)[i];
            batch_as_file(batch, filed, one);
            for (size_t j = 0; j < batch->parameters; j++)
                expected[j] += (double)weights[i] * filed[j];
        }
        workspace_scale(batch->workspace, weights);
        batch_sum(batch, range, all);
        assert_true(distance(batch, all, 1.0, expected) <= 2e-6 * total);
        free(weights);
        free(filed);
        free(expected);
        free(all);
        free(one);
        finish(&pair);
    }
}

/* One hidden unit a record: on or off at z', on or off at z. */
static void relu_switches_both_ways(void **state)
{
    static const struct family family = {"D1rd1", LOSS_SQUARED, 1, 16, {0}};
    static const float old[] = {0.5F, -0.25F, 0.5F, -0.5F, 1e-6F, -1e-6F};
    static const float new[] = {-0.75F, 0.5F, 0.25F, -1.0F, -1e-6F, 2e-6F};
    (void)state;
    for (size_t k = 0; k < sizeof old / sizeof *old; k++) {
        struct pair pair;
        start(&pair, &family, 0.0);
        struct batch *batch = &pair.batch;
        double expected[3];
        float sum[3];
        batch->theta[0] = new[k], pair.previous[0] = old[k];
        motion_set(pair.motion, batch->theta, pair.previous);
        batch->x[0] = 1.5F;
        run(&pair);
        oracle_difference(&pair, 0, expected);
        batch_sum(batch, (struct row_range){0, 1}, sum);
        assert_true(distance(batch, sum, motion_scale(pair.motion), expected) <=
                    1e-6 * norm_of(expected, 3));
        assert_int_equal(norm_of(expected, 3) > 0.0, k != 3);
        finish(&pair);
    }
}

/* Bad at both points, or at the new one alone: a huge weight that overflows there. */
static void a_bad_record_changes_nothing_else(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F, 1e30F};
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            struct pair pair;
            start(&pair, &families[f], 1e-3);
            struct batch *batch = &pair.batch;
            enum layer_kind first = batch->model.layers[0].kind;
            if (k > 0 && first != LAYER_DENSE && first != LAYER_CONV2D) {
                finish(&pair); /* others may turn these into ordinary numbers */
                continue;
            }
            float *with = calloc(batch->parameters, sizeof *with);
            float *without = calloc(batch->parameters, sizeof *without);
            struct row_range all = {0, batch->count};
            const size_t place = 5;

            run(&pair);
            workspace_erase(batch->workspace, place);
            batch_sum(batch, all, without);
            for (size_t j = 0; j < batch->features; j++)
                batch->x[place * batch->features + j] = bad[k];
            run(&pair);
            assert_true(workspace_norms(batch->workspace)[place] == 0.0);
            assert_true(workspace_spreads(batch->workspace)[place] == 0.0);
            batch_sum(batch, all, with);
            assert_memory_equal(with, without, batch->parameters * sizeof *with);
            free(with);
            free(without);
            finish(&pair);
        }
}

static void a_record_bad_at_the_new_point_alone_is_refused(void **state)
{
    static const struct family family = {
        "D6rD3", LOSS_SOFTMAX_CROSS_ENTROPY, 4, 16, {0}};
    const size_t place = 5;
    struct pair pair;
    (void)state;
    start(&pair, &family, 1e-3);
    struct batch *batch = &pair.batch;
    for (size_t i = 0; i < batch->count; i++)
        batch->x[i * 4] = i == place ? 1e15F : 0.0F;
    batch->theta[0] = 3e38F;
    motion_set(pair.motion, batch->theta, pair.previous);
    run(&pair);
    assert_true(isfinite(workspace_losses(batch->workspace)[place]));
    for (size_t i = 0; i < batch->count; i++)
        assert_int_equal(workspace_norms(batch->workspace)[i] == 0.0, i == place);
    for (size_t l = 0; l < workspace_factor_count(batch->workspace); l++) {
        struct factors of = workspace_factors(batch->workspace, l);
        for (size_t j = 0; j < of.inputs; j++)
            assert_true(of.a[place * of.a_stride + j] == 0.0F);
        for (size_t j = 0; j < of.outputs; j++)
            assert_true(of.b[place * of.b_stride + j] == 0.0F);
    }
    finish(&pair);
}

/* What belongs to a record: its norm, spread, loss and contribution. */
struct mark {
    double norm, spread, loss;
    float *sum;
};

static struct mark mark_of(struct batch *batch, size_t row)
{
    struct mark mark = {workspace_norms(batch->workspace)[row],
                        workspace_spreads(batch->workspace)[row],
                        workspace_losses(batch->workspace)[row],
                        calloc(batch->parameters, sizeof *mark.sum)};
    batch_sum(batch, (struct row_range){row, 1}, mark.sum);
    return mark;
}

static void expect_alike(const struct batch *batch, struct mark a, struct mark b)
{
    assert_true(a.norm == b.norm && a.spread == b.spread && a.loss == b.loss);
    assert_memory_equal(a.sum, b.sum, batch->parameters * sizeof *a.sum);
    free(a.sum);
    free(b.sum);
}

/* Bit for bit: a record in one row, alone, and in other company. */
static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        start(&pair, &families[f], 1e-3);
        struct batch *batch = &pair.batch;
        for (size_t i = 0; i < batch->count; i += 3) {
            for (size_t j = 0; j < batch->count; j++)
                batch_place(batch, j, j == i ? i : (i + 2 * j) % batch->count);
            pass(&pair, batch->count);
            struct mark mixed = mark_of(batch, i);

            memset(workspace_input(batch->workspace), 0,
                   batch->rows * workspace_stride(batch->workspace) * sizeof(float));
            batch_place(batch, i, i);
            pass(&pair, i + 1);
            expect_alike(batch, mixed, mark_of(batch, i));
        }
        finish(&pair);
    }
}

/* The same row of another block. */
static void blocks_are_alike(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        start(&pair, &families[f], 1e-2);
        struct batch *batch = &pair.batch;
        workspace_set_block(batch->workspace, 16);
        for (size_t i = 16; i < batch->count; i++) {
            run(&pair);
            struct mark there = mark_of(batch, i);
            batch_place(batch, i % 16, i);
            pass(&pair, 16);
            expect_alike(batch, there, mark_of(batch, i % 16));
        }
        finish(&pair);
    }
}

/* Products of 48 to 288 rows, where each row's bits are its own at every height. */
static void no_height_changes_a_bit(void **state)
{
    static const struct family family = {
        "d64td40rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 200, 288, {0}};
    const struct heights heights = {48, 288};
    uint8_t own[48];
    struct row_pattern pattern = {48, own};
    struct pair pair;
    bool agree;
    (void)state;
    for (size_t r = 0; r < 48; r++)
        own[r] = (uint8_t)r;
    start(&pair, &family, 1e-3);
    struct batch *batch = &pair.batch;
    assert_int_equal(heights_agree(&agree, batch->network, heights, pattern, NULL),
                     ST_OK);
    if (!agree) /* products of this BLAS are taken at one height alone */
        skip();
    workspace_set_heights(batch->workspace, heights);
    for (size_t count = 16; count <= batch->count; count += 68) {
        run(&pair);
        struct mark among_all = mark_of(batch, count - 1);
        for (size_t i = 0; i < count; i++)
            batch_place(batch, i, i);
        pass(&pair, count);
        expect_alike(batch, among_all, mark_of(batch, count - 1));
    }
    finish(&pair);
}

static void no_motion_is_no_difference(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        start(&pair, &families[f], 0.0);
        struct batch *batch = &pair.batch;
        float *sum = calloc(batch->parameters, sizeof *sum);
        assert_true(motion_length(pair.motion) == 0.0);
        run(&pair);
        batch_sum(batch, (struct row_range){0, batch->count}, sum);
        for (size_t j = 0; j < batch->parameters; j++)
            assert_true(sum[j] == 0.0F);
        for (size_t i = 0; i < batch->count; i++)
            assert_true(workspace_norms(batch->workspace)[i] == 0.0);
        free(sum);
        finish(&pair);
    }
}

/* After differences, a pass at one point answers as a workspace of one point does. */
static void one_point_is_as_ever(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        struct batch plain;
        start(&pair, &families[f], 1e-3);
        make(&plain, &families[f]);
        run(&pair);
        batch_run(&pair.batch);
        batch_run(&plain);
        for (size_t i = 0; i < plain.count; i++)
            expect_alike(&plain, mark_of(&pair.batch, i), mark_of(&plain, i));
        batch_fini(&plain);
        finish(&pair);
    }
}

static void a_layer_without_a_rule_is_refused(void **state)
{
    static const struct {
        const char *layers, *word;
    } models[] = {{"c64,3c64,3fd3", "convolution"},
                  {"c4,3n2rfd3", "group_norm"},
                  {"c4,3[c4,3,1,1o1]fd3", NULL},
                  {"c4,3rm2,2fd3", NULL},
                  {"td5rfd3", NULL}, /* dense at every pixel */
                  {"d5rd3", NULL},
                  {"fd5td3", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct batch batch;
        struct error error = {0};
        batch_make(&batch, &(struct batch_demand){.layers = models[k].layers,
                                                  .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                                  .features = 36,
                                                  .count = 16,
                                                  .input = {6, 6, 1},
                                                  .form = -1});
        bool refused = network_check_differences(batch.network, &error) != ST_OK;
        assert_int_equal(refused, models[k].word != NULL);
        if (refused) {
            assert_int_equal(error.status, ST_INVALID);
            assert_true(strstr(error.text, models[k].word) != NULL);
            assert_string_equal(error.pointer, "/model");
        }
        batch_fini(&batch);
    }
}

static void stacked_layers_have_two_terms(void **state)
{
    static const char *const layers[] = {"d3", "rd3", "d5rd3"};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct batch batch;
        batch_init(&batch, layers[k], LOSS_SOFTMAX_CROSS_ENTROPY, 7, 16);
        assert_int_equal(network_difference_terms(batch.network), k == 2 ? 2 : 1);
        assert_true(network_difference_spread(batch.network) == (k == 2 ? 2.0 : 1.0));
        batch_fini(&batch);
    }
}

/* Four rows where there were two, of values with a gradient; nothing else. */
static void only_two_points_pay_for_two(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d128rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 16);
    size_t one = workspace_size(batch.network, 256);
    size_t two = workspace_two_points_size(batch.network, 256);
    assert_int_equal(two - one, 256 * 2 * (128 + 16) * sizeof(float));
    batch_fini(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_keep_their_digits),
        cmocka_unit_test(differences_keep_their_digits_in_any_shape),
        cmocka_unit_test(differences_keep_their_digits_in_any_geometry),
        cmocka_unit_test(subtracted_gradients_lose_theirs),
        cmocka_unit_test(a_norm_is_never_below_that_of_the_stored_factors),
        cmocka_unit_test(the_clip_holds_where_terms_cancel),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(relu_switches_both_ways),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(a_record_bad_at_the_new_point_alone_is_refused),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(blocks_are_alike),
        cmocka_unit_test(no_height_changes_a_bit),
        cmocka_unit_test(no_motion_is_no_difference),
        cmocka_unit_test(one_point_is_as_ever),
        cmocka_unit_test(a_layer_without_a_rule_is_refused),
        cmocka_unit_test(stacked_layers_have_two_terms),
        cmocka_unit_test(only_two_points_pay_for_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
