#include "engine/nn/layers/pooling.h"

#include <math.h>
#include <string.h>

#include "engine/parallel/vector_math.h"

/* The outputs [first, end) of a line that read a tap inside the image, and the column
 * of the image that the first of them reads. */
struct stretch {
    size_t first, end;
    size_t column;
};

static struct stretch stretch_of(const struct conv_window *window, size_t tap)
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

/* The pixels that one tap contributes to one line of outputs: count pixels, step floats
 * apart in the image and channels floats apart in the output. Inner loops thus run
 * along whole output rows. */
struct line {
    size_t image, output; /* offsets of the first pixel */
    size_t count, step, channels;
    int32_t tap;
};

/* False if the tap lies outside the image. */
static bool line_of(struct line *line, const struct conv_window *window, size_t y,
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

/* An iterator over all lines of a window: all taps of a line of outputs, then the next
 * line of outputs. */
struct walk {
    size_t row, tap;
    struct line line;
};

static bool next_line(struct walk *walk, const struct conv_window *window)
{
    while (walk->row < window->out_height) {
        size_t row = walk->row, tap = walk->tap++;
        if (walk->tap == conv_window_taps(window))
            walk->tap = 0, walk->row++;
        if (line_of(&walk->line, window, row, tap))
            return true;
    }
    return false;
}

static void max_pool_record(const struct conv_window *window, float *y, const float *x,
                            int32_t *taps)
{
    size_t outputs = conv_window_positions(window) * window->image.channels;
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

static void max_pool_back(const struct conv_window *window, float *dx, const float *dy,
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

void max_pool_forward(const struct conv_window *window, struct rows y, struct rows x,
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

void max_pool_backward(const struct conv_window *window, struct rows dx, struct rows dy,
                       const int32_t *taps)
{
    clear(dx);
    for (size_t i = 0; i < dx.count; i++)
        max_pool_back(window, dx.data + i * dx.stride, dy.data + i * dy.stride,
                      taps + i * dy.stride);
}

/* Pointers to a line's outputs y, and to the pixels x and dx that one tap reads for
 * them. */
struct rise {
    const float *x, *dx, *y;
    float inverse; /* 1 / s */
};

VECTOR_CLONES
static void take_greater_rise(float *restrict dy, int32_t *restrict taps,
                              const struct rise *rise, size_t count, int32_t tap)
{
    const float *x = rise->x, *dx = rise->dx, *y = rise->y;
    float inverse = rise->inverse;
    for (size_t j = 0; j < count; j++) {
        float risen = (x[j] - y[j]) * inverse + dx[j];
        taps[j] = risen > dy[j] ? tap : taps[j];
        dy[j] = risen > dy[j] ? risen : dy[j];
    }
}

static void max_pool_rise(const struct conv_window *window, float *dy, int32_t *taps,
                          const struct rise *record)
{
    size_t outputs = conv_window_positions(window) * window->image.channels;
    struct walk walk = {0};

    for (size_t j = 0; j < outputs; j++)
        dy[j] = -INFINITY;
    memset(taps, 0, outputs * sizeof *taps);
    while (next_line(&walk, window)) {
        const struct line *line = &walk.line;
        for (size_t k = 0, at = line->output; k < line->count;
             k++, at += line->channels) {
            size_t from = line->image + k * line->step;
            struct rise rise = {record->x + from, record->dx + from, record->y + at,
                                record->inverse};
            take_greater_rise(dy + at, taps + at, &rise, line->channels, line->tap);
        }
    }
}

void max_pool_difference_forward(const struct conv_window *window, struct row_pair y,
                                 struct row_pair x,
                                 const struct max_pool_points *points)
{
    for (size_t i = 0; i < y.at.count; i++) {
        struct rise record = {x.at.data + i * x.at.stride,
                              x.difference.data + i * x.difference.stride,
                              y.at.data + i * y.at.stride, 1.0F / points->scale};
        max_pool_rise(window, y.difference.data + i * y.difference.stride,
                      points->after + i * y.at.stride, &record);
    }
}

/* Pointers into a line of outputs. */
struct handback {
    const float *b, *db;
    const int32_t *before, *after;
    float inverse; /* 1 / s */
};

VECTOR_CLONES
static void hand_back(float *restrict below, const struct handback *line, size_t count,
                      int32_t tap)
{
    const float *b = line->b, *db = line->db;
    const int32_t *before = line->before, *after = line->after;
    for (size_t j = 0; j < count; j++) {
        float old = b[j] * line->inverse;
        float given = after[j] == tap ? db[j] : 0.0F;
        float moved = (after[j] == tap ? old : 0.0F) - (before[j] == tap ? old : 0.0F);
        below[j] += after[j] == before[j] ? given : given + moved;
    }
}

static void max_pool_hand_back(const struct conv_window *window, float *below,
                               const struct handback *record)
{
    struct walk walk = {0};
    while (next_line(&walk, window)) {
        const struct line *line = &walk.line;
        for (size_t k = 0, at = line->output; k < line->count;
             k++, at += line->channels) {
            struct handback piece = {record->b + at, record->db + at,
                                     record->before + at, record->after + at,
                                     record->inverse};
            hand_back(below + line->image + k * line->step, &piece, line->channels,
                      line->tap);
        }
    }
}

void max_pool_difference_backward(const struct conv_window *window, struct rows below,
                                  struct row_pair b,
                                  const struct max_pool_points *points)
{
    clear(below);
    for (size_t i = 0; i < below.count; i++) {
        struct handback record = {
            b.at.data + i * b.at.stride, b.difference.data + i * b.difference.stride,
            points->before + i * b.at.stride, points->after + i * b.at.stride,
            1.0F / points->scale};
        max_pool_hand_back(window, below.data + i * below.stride, &record);
    }
}

static float share(const struct conv_window *window)
{
    return 1.0F / (float)conv_window_taps(window);
}

void average_pool_forward(const struct conv_window *window, struct rows y,
                          struct rows x)
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

void average_pool_backward(const struct conv_window *window, struct rows dx,
                           struct rows dy)
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
