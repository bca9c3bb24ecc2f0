/* Goal: the code's own rules satisfy the inequalities on which DC-SGD's charge and
 * theorems rest. Method: random norms and gradients; acceptance checks 11 and 15 of
 * papers/dcsgd.md. */
#include "engine/dp/clip.h"
#include "engine/dp/algorithms/dcsgd.h"
#include "engine/dp/algorithms/joint_noise.h"
#include "engine/dp/histogram.h"
#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

/* In units of their noise, a record's part of the sum and its one count are together at
 * most 1 / sigma, whatever its norm: the joint charge rests on this. */
static void a_record_is_within_the_joint_multiplier(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int k = 0; k < 200000; k++) {
        double draws[4], loss = 0;
        for (int j = 0; j < 4; j++)
            draws[j] = draw_uniform(&seed);
        double sigma = exp2(10 * draws[0] - 4), h = sigma * (1.01 + 9 * draws[1]);
        double t = joint_noise_gradient(sigma, h);
        double norm = exp2(200 * draws[2] - 100); /* 1e-30 to 1e30 */
        norm = k % 50 == 0 ? (double)INFINITY : k % 50 == 1 ? 0 : norm;
        const struct flat_clip clip = {.clip_norm = exp2(40 * draws[3] - 20),
                                       .spread = 1};
        const struct histogram bins = {.bins = 20, .range = 2 * clip.clip_norm};
        float weight;
        clip_flat(&weight, &(struct measures){&norm, &norm, &loss, 1, NULL}, &clip);
        double part = weight == 0 ? 0 : (double)weight * norm / (t * clip.clip_norm);
        assert_true(sqrt(part * part + 1 / (h * h)) <= (1 + 1e-6) / sigma);
        assert_true(histogram_bin(&bins, norm) < 20);
    }
}

/* Equations 17 and 18: the bias of clipping is at most the mean of the part that was
 * cut off, this mean is at most P(C) (G - C), and its square is at most the mean square
 * (Jensen). */
static void the_bias_is_at_most_what_was_cut_off(void **state)
{
    (void)state;
    enum { SETS = 1000, SIZE = 30, DIM = 4 };
    uint64_t seed = 77;
    for (int set = 0; set < SETS; set++) {
        double bias[DIM] = {0}, cut = 0, squares = 0, above = 0, longest = 0,
               square = 0;
        const struct flat_clip clip = {.clip_norm = 0.4, .spread = 1};
        for (int i = 0; i < SIZE; i++) {
            double g[DIM], norm = 0, loss = 0;
            float weight;
            for (int j = 0; j < DIM; j++) {
                g[j] = 2 * draw_uniform(&seed) - 1 + 0.5 * (j == set % DIM);
                norm += g[j] * g[j];
            }
            norm = sqrt(norm);
            clip_flat(&weight, &(struct measures){&norm, &norm, &loss, 1, NULL}, &clip);
            for (int j = 0; j < DIM; j++)
                bias[j] += ((double)weight - 1) * g[j] / SIZE;
            double over = norm - (double)weight * norm; /* norm - C, but for rounding */
            cut += over / SIZE;
            squares += over * over / SIZE;
            above += (norm > clip.clip_norm) / (double)SIZE;
            longest = fmax(longest, norm);
        }
        for (int j = 0; j < DIM; j++)
            square += bias[j] * bias[j];
        assert_true(sqrt(square) <= cut * (1 + 1e-12));
        assert_true(square <= squares * (1 + 1e-12));
        assert_true(cut <= above * (longest - clip.clip_norm) * (1 + 1e-5));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_within_the_joint_multiplier),
        cmocka_unit_test(the_bias_is_at_most_what_was_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
