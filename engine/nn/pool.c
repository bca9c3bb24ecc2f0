#include "engine/nn/pool.h"

#include <math.h>
#include <string.h>

#include "engine/nn/vector_math.h"

/* The outputs [first, end) of a line that read a tap inside the image, and the image's
 * column where the first of them reads it. */
struct stretch {
    size_t first, end;
    size_t column;
};

static struct stretch stretch_of(const struct window *window, size_t tap)
{
    ptrdiff_t stride = (ptrdiff_t)window->stride;
    ptrdiff_t width = (ptrdiff_t)window->image.width;
    ptrdiff_t start = window->left + (ptrdiff_t)(tap * window->dilation);
    ptrdiff_t first = start < 0 ? (-start + stride - 1) / stride : 0;
    ptrdiff_t end = start < width ? (width - start + stride - 1) / stride : 0;

    end = end < (ptrdiff_t)window->out_width ? end : (ptrdiff_t)window->out_width;
    if (first >= end)
        return (struct stretch){0, 0, 0};
    return (struct stretch){(size_t)first, (size_t)end,
                            (size_t)(start + first * stride)};
}

/* What one tap contributes to one line of outputs: count pixels, step floats apart in
 * the image and channels in the output. Inner loops so run along whole output rows. */
struct line {
    size_t image, output; /* offsets of the first */
    size_t count, step, channels;
    int32_t tap;
};

/* False where the tap lies outside the image. */
static bool line_of(struct line *line, const struct window *window, size_t y,
                    size_t tap)
{
    size_t channels = window->image.channels;
    struct stretch stretch = stretch_of(window, tap % window->kernel_width);
    ptrdiff_t row =
        window->top +
        (ptrdiff_t)(y * window->stride + tap / window->kernel_width * window->dilation);

    if (row < 0 || row >= (ptrdiff_t)window->image.height ||
        stretch.first == stretch.end)
        return false;
    *line = (struct line){
        .image = ((size_t)row * window->image.width + stretch.column) * channels,
        .output = (y * window->out_width + stretch.first) * channels,
        .count = stretch.end - stretch.first,
        .step = window->stride * channels,
        .channels = channels,
        .tap = (int32_t)tap};
    if (window->stride == 1) /* pixels side by side: one run */
        line->channels *= line->count, line->count = 1;
    return true;
}

VECTOR_CLONES
static void take_greater(float *restrict y, int32_t *restrict taps, const float *x,
                         size_t count, int32_t tap)
{
    for (size_t j = 0; j < count; j++) {
        taps[j] = x[j] > y[j] ? tap : taps[j];
        y[j] = x[j] > y[j] ? x[j] : y[j];
    }
}

VECTOR_CLONES
static void give_back(float *restrict dx, const float *dy, const int32_t *taps,
                      size_t count, int32_t tap)
{
    for (size_t j = 0; j < count; j++)
        dx[j] += taps[j] == tap ? dy[j] : 0.0F;
}

VECTOR_CLONES
static void add_run(float *restrict to, const float *from, size_t count, float factor)
{
    for (size_t j = 0; j < count; j++)
        to[j] += factor * from[j];
}

/* The lines of a window one after the other: all taps of a line of outputs, then the
 * next line. */
struct walk {
    size_t row, tap;
    struct line line;
};

static bool next_line(struct walk *walk, const struct window *window)
{
    while (walk->row < window->out_height) {
        size_t row = walk->row, tap = walk->tap++;
        if (walk->tap == window_taps(window))
            walk->tap = 0, walk->row++;
        if (line_of(&walk->line, window, row, tap))
            return true;
    }
    return false;
}

static void max_pool_record(const struct window *window, float *y, const float *x,
                            int32_t *taps)
{
    size_t outputs = window_positions(window) * window->image.channels;
    struct walk walk = {0};

    for (size_t j = 0; j < outputs; j++)
        y[j] = -INFINITY;
    memset(taps, 0, outputs * sizeof *taps);
    while (next_line(&walk, window)) {
        const struct line *line = &walk.line;
        for (size_t k = 0, at = line->output; k < line->count;
             k++, at += line->channels)
            take_greater(y + at, taps + at, x + line->image + k * line->step,
                         line->channels, line->tap);
    }
}

static void max_pool_back(const struct window *window, float *dx, const float *dy,
                          const int32_t *taps)
{
    struct walk walk = {0};
    while (next_line(&walk, window)) {
        const struct line *line = &walk.line;
        for (size_t k = 0, at = line->output; k < line->count;
             k++, at += line->channels)
            give_back(dx + line->image + k * line->step, dy + at, taps + at,
                      line->channels, line->tap);
    }
}

void max_pool_forward(const struct window *window, struct rows y, struct rows x,
                      int32_t *taps)
{
    for (size_t i = 0; i < y.count; i++)
        max_pool_record(window, y.data + i * y.stride, x.data + i * x.stride,
                        taps + i * y.stride);
}

static void clear(struct rows rows)
{
    memset(rows.data, 0, rows.count * rows.stride * sizeof *rows.data);
}

void max_pool_backward(const struct window *window, struct rows dx, struct rows dy,
                       const int32_t *taps)
{
    clear(dx);
    for (size_t i = 0; i < dx.count; i++)
        max_pool_back(window, dx.data + i * dx.stride, dy.data + i * dy.stride,
                      taps + i * dy.stride);
}

static float share(const struct window *window)
{
    return 1.0F / (float)window_taps(window);
}

void average_pool_forward(const struct window *window, struct rows y, struct rows x)
{
    clear(y);
    for (size_t i = 0; i < y.count; i++) {
        struct walk walk = {0};
        const float *from = x.data + i * x.stride;
        float *to = y.data + i * y.stride;
        while (next_line(&walk, window))
            for (size_t k = 0; k < walk.line.count; k++)
                add_run(to + walk.line.output + k * walk.line.channels,
                        from + walk.line.image + k * walk.line.step, walk.line.channels,
                        share(window));
    }
}

void average_pool_backward(const struct window *window, struct rows dx, struct rows dy)
{
    clear(dx);
    for (size_t i = 0; i < dx.count; i++) {
        struct walk walk = {0};
        const float *from = dy.data + i * dy.stride;
        float *to = dx.data + i * dx.stride;
        while (next_line(&walk, window))
            for (size_t k = 0; k < walk.line.count; k++)
                add_run(to + walk.line.image + k * walk.line.step,
                        from + walk.line.output + k * walk.line.channels,
                        walk.line.channels, share(window));
    }
}
