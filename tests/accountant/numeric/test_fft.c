/* Goal: the transform is the one defined, within the error that it claims. Method: the
 * defining sum in 80 bits, and a transform forward and back. */
#include "accountant/numeric/fft.h"

#include "tests/expect.h"

/* Returns a number in [-1, 1) that looks random. */
static double noise(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 1) / 0x1p30 - 1;
}

static size_t frequency_at(size_t place, size_t n)
{
    size_t k = 0;
    for (size_t bit = 1; bit < n; bit *= 2)
        k = 2 * k + (place / bit) % 2;
    return k;
}

static void it_is_the_defining_sum_within_its_error(void **state)
{
    (void)state;
    enum { MOST = 1024 };
    static double re[MOST], im[MOST], x[MOST], y[MOST];
    unsigned seed = 7;
    for (size_t n = 1; n <= MOST; n *= 4) {
        struct fft *fft = fft_create(n);
        long double size = 0;
        for (size_t j = 0; j < n; j++) {
            re[j] = x[j] = noise(&seed);
            im[j] = y[j] = noise(&seed);
            size += hypotl(x[j], y[j]);
        }
        fft_forward(fft, re, im);
        for (size_t place = 0; place < n; place++) {
            long double a = 0, b = 0;
            size_t k = frequency_at(place, n);
            for (size_t j = 0; j < n; j++) {
                long double angle =
                    2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
                a += x[j] * cosl(angle) + y[j] * sinl(angle);
                b += y[j] * cosl(angle) - x[j] * sinl(angle);
            }
            assert_true(hypotl(re[place] - a, im[place] - b) <= fft_error(n) * size);
        }
        fft_destroy(fft);
    }
}

static void there_and_back_is_n_times_the_signal(void **state)
{
    (void)state;
    size_t n = 1 << 16;
    double *re = calloc(n, sizeof *re), *im = calloc(n, sizeof *im);
    struct fft *fft = fft_create(n);
    unsigned seed = 11;
    double size = 0;
    for (size_t j = 0; j < n; j++) {
        re[j] = noise(&seed);
        im[j] = noise(&seed);
        size += hypot(re[j], im[j]);
    }
    fft_forward(fft, re, im);
    fft_inverse(fft, re, im);
    seed = 11;
    for (size_t j = 0; j < n; j++) {
        double back_re = re[j] / (double)n, back_im = im[j] / (double)n;
        double x = noise(&seed), y = noise(&seed);
        assert_true(hypot(back_re - x, back_im - y) <= 2 * fft_error(n) * size);
        /* The error is far below the bound in fact, or something is wrong. */
        assert_true(hypot(back_re - x, back_im - y) <= 1e-14);
    }
    fft_destroy(fft);
    free(re);
    free(im);
}

static void the_mirror_of_a_place_holds_the_opposite_frequency(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 512; n *= 2) {
        for (size_t place = 0; place < n; place++) {
            size_t k = frequency_at(place, n),
                   minus = frequency_at(fft_mirror(place), n);
            assert_int_equal((k + minus) % n, 0);
        }
    }
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    fft_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_defining_sum_within_its_error),
        cmocka_unit_test(there_and_back_is_n_times_the_signal),
        cmocka_unit_test(the_mirror_of_a_place_holds_the_opposite_frequency),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
