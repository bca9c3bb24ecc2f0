/*
 * bench_noise - the cost of a noise sample, and whether the time that a chunk takes
 * reveals what was drawn (noise.md 4.6).
 *
 * Cost: processor time of one thread, each kernel of noise_choice.h in turns, medians
 * of TURNS turns, key stream included. The cost that counts is that of the fastest
 * kernel that the processor has.
 *
 * Over CHUNKS chunks, each with a key stream of its own, the correlation of the time
 * with
 *
 *   flagged   trials near a layer's edge, given the number of rejections: .38 with a
 *             branch on acceptance, below .1 required
 *   squares   the sum of squares of the samples
 *   rejected  which may show: rejections are independent of what is accepted
 *
 * Times are ranks, so that other load on the machine moves none far.
 */
#include <math.h>
#include <time.h>

#include "base/check.h"
#include "engine/noise/noise_choice.h"
#include "engine/noise/noise_chunk.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS = 100000, TURNS = 31, TURN_CHUNKS = 500, KERNELS_MAX = 4 };

struct sample {
    double time, flagged, rejected, squares;
    size_t at;
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static void measure(struct sample *samples)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {4, 6};
    struct noise_chunk *chunk = calloc(1, sizeof *chunk);
    struct stream *stream = stream_create();
    CHECK(chunk != NULL);
    noise_table_init(&chunk->table);
    for (size_t c = 0; c < CHUNKS; c++) {
        struct noise_position at = {key, 0, c};
        double start = seconds_now(), squares = 0;
        noise_chunk_draw(chunk, stream, &at, &noise_layout);
        samples[c].time = seconds_now() - start;
        for (size_t j = 0; j < NOISE_CHUNK; j++) {
            double z = ldexp((double)(int64_t)chunk->candidate[j], -36);
            squares += z * z;
        }
        samples[c].flagged = chunk->flagged_count;
        samples[c].rejected = chunk->rejected_count;
        samples[c].squares = squares;
    }
    stream_destroy(stream);
    free(chunk);
}

static double value_of(const struct sample *sample, size_t which)
{
    switch (which) {
    case 0: return sample->time;
    case 1: return sample->flagged;
    case 2: return sample->rejected;
    default: return sample->squares;
    }
}

static double correlation(const struct sample *samples, size_t a, size_t b)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = CHUNKS;
    for (size_t c = 0; c < CHUNKS; c++) {
        double u = value_of(&samples[c], a), v = value_of(&samples[c], b);
        x += u / n, y += v / n;
        xx += u * u / n, yy += v * v / n, xy += u * v / n;
    }
    return (xy - x * y) / sqrt((xx - x * x) * (yy - y * y));
}

static double chunks_seconds(const struct noise_kernel *kernel)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {4, 7};
    struct noise_layout layout = noise_layout;
    struct noise_chunk *chunk = calloc(1, sizeof *chunk);
    struct stream *stream = stream_create();
    CHECK(chunk != NULL);
    layout.kernel = kernel;
    noise_table_init(&chunk->table);
    double start = seconds_now();
    for (size_t c = 0; c < TURN_CHUNKS; c++)
        noise_chunk_draw(chunk, stream, &(struct noise_position){key, 0, c}, &layout);
    double seconds = seconds_now() - start;
    stream_destroy(stream);
    free(chunk);
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_cost(void)
{
    static double seconds[KERNELS_MAX][TURNS];
    const double samples = (double)TURN_CHUNKS * NOISE_CHUNK;
    const struct noise_kernel *kernels[KERNELS_MAX];
    size_t count = 0;
    for (size_t k = 0; noise_choice_at(k) != NULL && count < KERNELS_MAX; k++)
        if (noise_choice_at(k)->available())
            kernels[count++] = noise_choice_at(k);
    for (size_t turn = 0; turn < TURNS; turn++)
        for (size_t k = 0; k < count; k++)
            seconds[k][turn] = chunks_seconds(kernels[k]);
    printf("noise, ns a sample, medians (least) of %d turns:", TURNS);
    for (size_t k = 0; k < count; k++) {
        qsort(seconds[k], TURNS, sizeof *seconds[k], ascending);
        printf(" %s %.2f (%.2f)%s", kernels[k]->name,
               1e9 * seconds[k][TURNS / 2] / samples, 1e9 * seconds[k][0] / samples,
               k + 1 < count ? "," : "\n");
    }
}

int main(void)
{
    print_cost();
    struct sample *samples = calloc(CHUNKS, sizeof *samples);
    CHECK(samples != NULL);
    measure(samples);
    qsort(samples, CHUNKS, sizeof *samples, by_time);
    for (size_t c = 0; c < CHUNKS; c++)
        samples[c].time = (double)c;
    double flagged = correlation(samples, 0, 1), rejected = correlation(samples, 0, 2);
    double both = correlation(samples, 1, 2);
    double given = (flagged - rejected * both) /
                   sqrt((1 - rejected * rejected) * (1 - both * both));
    printf("time of a chunk of noise, rank correlation over %d chunks: with flagged "
           "trials "
           "given rejections %.3f (asked below .1), with the sum of squares %.3f, with "
           "rejections %.3f\n",
           CHUNKS, given, correlation(samples, 0, 3), rejected);
    free(samples);
    return 0;
}
