/*
 * bench_encoder - the forward pass of a text encoder of the size of MiniLM-L6, 32 tokens
 * a record, next to the bare products of its dense layers. Processor time of one thread,
 * in turns within one process: the median, the best, and the median of the ratio.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/nn/initial_values.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/network.h"
#include "engine/nn/rows.h"
#include "engine/nn/workspace.h"
#include "engine/rounding/small_floats.h"

enum { BLOCKS = 6, WIDTH = 384, HEADS = 12, INNER = 1536, VOCABULARY = 30522 };
enum { TOKENS = 32, RECORDS = 64, TURNS = 15, ROWS = RECORDS * TOKENS };

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct network *encoder(void)
{
    struct model_spec model = {.preset = PRESET_BERT,
                               .loss = LOSS_LOGISTIC,
                               .text_encoder = {.blocks = BLOCKS,
                                                .width = WIDTH,
                                                .heads = HEADS,
                                                .intermediate = INNER,
                                                .vocabulary = VOCABULARY,
                                                .positions = 512,
                                                .separator = 102,
                                                .mean = true},
                               .start.trainable = TRAINABLE_HEAD};
    struct network *network = NULL;
    preset_expand(&model, 1);
    CHECK(network_create(&network, &model, (struct network_shape){TOKENS, 1}, NULL) ==
          ST_OK);
    model_spec_fini(&model);
    return network;
}

static float *numbers(size_t count)
{
    float *all = aligned_alloc(64, (count * sizeof *all + 63) / 64 * 64);
    CHECK(all != NULL);
    for (size_t k = 0; k < count; k++)
        all[k] = (float)(k * 2654435761U % 1000) * 0.002F - 1;
    return all;
}

static void fill(struct workspace *workspace)
{
    float *input = workspace_input(workspace);
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t t = 0; t < TOKENS; t++)
            input[i * workspace_stride(workspace) + t] =
                (float)((i * 977 + t * 31) % VOCABULARY);
}

/* The dense layers of the blocks, as bare products of all rows. */
struct floor {
    float *narrow, *wide, *weight;
};

static void multiply(const struct gemm_kernel *kernel, const struct floor *floor,
                     size_t inputs, size_t outputs)
{
    const struct gemm product = {
        .rows = ROWS,
        .columns = outputs,
        .terms = inputs,
        .x = inputs == WIDTH ? floor->narrow : floor->wide,
        .x_stride = inputs,
        .y = floor->weight,
        .y_stride = inputs,
        .z = outputs == INNER ? floor->wide : floor->narrow + (size_t)ROWS * WIDTH,
        .z_stride = outputs};
    gemm_rows_by_rows(kernel, &product);
}

static void run_floor(const struct gemm_kernel *kernel, const struct floor *floor)
{
    for (int block = 0; block < BLOCKS; block++) {
        for (int k = 0; k < 4; k++)
            multiply(kernel, floor, WIDTH, WIDTH);
        multiply(kernel, floor, WIDTH, INNER);
        multiply(kernel, floor, INNER, WIDTH);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof *values, compare);
    return values[TURNS / 2];
}

int main(void)
{
    struct network *network = encoder();
    struct workspace *workspace = NULL;
    float *values = calloc(network_floats(network), sizeof *values);
    const struct floor floor = {numbers((size_t)ROWS * WIDTH * 2),
                                numbers((size_t)ROWS * INNER),
                                numbers((size_t)WIDTH * INNER)};
    double forward[TURNS], products[TURNS], ratio[TURNS];
    CHECK(values != NULL);
    CHECK(workspace_create(&workspace, network, RECORDS, NULL) == ST_OK);
    network_init(network, values, 7);
    struct small_floats before = small_floats_drop();
    for (int turn = -1; turn < TURNS; turn++) {
        fill(workspace);
        double start = seconds_now();
        workspace_forward(workspace, values, RECORDS);
        double middle = seconds_now();
        run_floor(gemm_choice_best(), &floor);
        double end = seconds_now();
        if (turn < 0)
            continue; /* pages were touched for the first time */
        forward[turn] = (middle - start) / RECORDS;
        products[turn] = (end - middle) / RECORDS;
        ratio[turn] = forward[turn] / products[turn];
    }
    small_floats_restore(before);
    double flops = network_forward_flops(network);
    double a = median(forward), b = median(products);
    printf("MiniLM-L6, %d tokens, %s: ms a record (GFLOP/s), median and best\n", TOKENS,
           gemm_choice_best()->name);
    printf("forward        %6.2f (%.0f) %6.2f (%.0f)\n", a * 1e3, flops / a * 1e-9,
           forward[0] * 1e3, flops / forward[0] * 1e-9);
    printf("bare products  %6.2f       %6.2f\n", b * 1e3, products[0] * 1e3);
    printf("ratio          %6.2f\n", median(ratio));
    workspace_destroy(workspace);
    network_destroy(network);
    free(values);
    free(floor.narrow);
    free(floor.wide);
    free(floor.weight);
    return 0;
}
