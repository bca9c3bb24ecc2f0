#include "engine/nn/conv_window.h"

#include <string.h>

#include "engine/parallel/vector_math.h"

static size_t reach(size_t kernel, size_t dilation)
{
    return dilation * (kernel - 1) + 1;
}

bool conv_window_fit(struct conv_window *window, struct image image,
                     const struct conv_window_demand *demand)
{
    size_t height = image.height + 2 * demand->padding;
    size_t width = image.width + 2 * demand->padding;
    size_t tall = reach(demand->kernel_height, demand->dilation);
    size_t wide = reach(demand->kernel_width, demand->dilation);

    if (tall > height || wide > width)
        return false;
    *window = (struct conv_window){.image = image,
                                   .kernel_height = demand->kernel_height,
                                   .kernel_width = demand->kernel_width,
                                   .stride = demand->stride,
                                   .dilation = demand->dilation,
                                   .top = -(ptrdiff_t)demand->padding,
                                   .left = -(ptrdiff_t)demand->padding,
                                   .out_height = (height - tall) / demand->stride + 1,
                                   .out_width = (width - wide) / demand->stride + 1};
    return true;
}

size_t conv_window_positions(const struct conv_window *window)
{
    return window->out_height * window->out_width;
}

size_t conv_window_taps(const struct conv_window *window)
{
    return window->kernel_height * window->kernel_width;
}

/* Returns how many pixels a frame has along an axis. */
static size_t extent(ptrdiff_t start, size_t positions, size_t stride, size_t reach)
{
    size_t first = start > 0 ? (size_t)start : 0;
    return first + (positions - 1) * stride + reach;
}

struct zero_padding conv_window_frame(const struct conv_window *window)
{
    return (struct zero_padding){
        .image = window->image,
        .up = window->top < 0 ? (size_t)-window->top : 0,
        .left = window->left < 0 ? (size_t)-window->left : 0,
        .height = extent(window->top, window->out_height, window->stride,
                         reach(window->kernel_height, window->dilation)),
        .width = extent(window->left, window->out_width, window->stride,
                        reach(window->kernel_width, window->dilation))};
}

size_t conv_window_first(const struct conv_window *window,
                         const struct zero_padding *frame)
{
    size_t top = (size_t)(window->top + (ptrdiff_t)frame->up),
           left = (size_t)(window->left + (ptrdiff_t)frame->left);
    return top * zero_padding_line(frame) + left * window->image.channels;
}

struct axis { /* one of the two directions of a window */
    size_t size, taps, out, stride, dilation;
    ptrdiff_t start;
};

static struct axis down(const struct conv_window *window)
{
    return (struct axis){window->image.height, window->kernel_height,
                         window->out_height,   window->stride,
                         window->dilation,     window->top};
}

static struct axis across(const struct conv_window *window)
{
    return (struct axis){window->image.width, window->kernel_width, window->out_width,
                         window->stride,      window->dilation,     window->left};
}

static bool tap_meets(struct axis axis, size_t tap)
{
    ptrdiff_t size = (ptrdiff_t)axis.size;
    for (size_t y = 0; y < axis.out; y++) {
        ptrdiff_t at = axis.start + (ptrdiff_t)(y * axis.stride + tap * axis.dilation);
        if (at >= 0 && at < size)
            return true;
    }
    return false;
}

/* Returns the number of taps that remain, from *first on. If no tap meets the image,
 * one remains. */
static size_t trim_axis(struct axis axis, size_t *first)
{
    size_t end = axis.taps;
    *first = 0;
    while (*first + 1 < end && !tap_meets(axis, *first))
        ++*first;
    while (end > *first + 1 && !tap_meets(axis, end - 1))
        end--;
    return end - *first;
}

struct tap conv_window_trim(struct conv_window *window)
{
    struct tap first;
    size_t tall = trim_axis(down(window), &first.y);
    size_t wide = trim_axis(across(window), &first.x);

    window->kernel_height = tall;
    window->kernel_width = wide;
    window->top += (ptrdiff_t)(first.y * window->dilation);
    window->left += (ptrdiff_t)(first.x * window->dilation);
    return first;
}

/* Returns a bound of the number of positions that read one pixel. No two of these
 * positions are congruent modulo the lag after which taps meet the strides again. */
static size_t overlap_axis(struct axis axis)
{
    size_t by_reach = (reach(axis.taps, axis.dilation) - 1) / axis.stride + 1;
    size_t most = by_reach < axis.taps ? by_reach : axis.taps;
    return most < axis.out ? most : axis.out;
}

size_t conv_window_overlap(const struct conv_window *window)
{
    return overlap_axis(down(window)) * overlap_axis(across(window));
}

static struct conv_window_phase phase_of(struct axis axis, size_t phase)
{
    ptrdiff_t stride = (ptrdiff_t)axis.stride;
    struct conv_window_phase found = {0};

    if (phase < axis.size)
        found.pixels = (axis.size - phase - 1) / axis.stride + 1;
    for (size_t k = axis.taps; k-- > 0;) {
        ptrdiff_t off = (ptrdiff_t)phase - axis.start - (ptrdiff_t)(k * axis.dilation);
        if (off % stride != 0)
            continue;
        if (found.taps == 0) {
            found.last_tap = k;
            found.first = off / stride;
        } else if (found.taps == 1) {
            found.tap_step = found.last_tap - k;
            found.step = (size_t)(off / stride - found.first);
        }
        found.taps++;
    }
    return found;
}

struct conv_window_phase conv_window_phase_down(const struct conv_window *window,
                                                size_t phase)
{
    return phase_of(down(window), phase);
}

struct conv_window_phase conv_window_phase_across(const struct conv_window *window,
                                                  size_t phase)
{
    return phase_of(across(window), phase);
}

/* Taps [first, end) of an axis that lie in the image, at the position that starts at
 * start. */
struct run {
    size_t first, end;
};

/* Returns the least number of taps that cover a distance. It avoids a division, which
 * would cost as much as copying a run. */
static ptrdiff_t taps_over(struct axis axis, ptrdiff_t distance)
{
    ptrdiff_t dilation = (ptrdiff_t)axis.dilation;
    return dilation == 1 ? distance : (distance + dilation - 1) / dilation;
}

static struct run inside(struct axis axis, ptrdiff_t start)
{
    ptrdiff_t size = (ptrdiff_t)axis.size, taps = (ptrdiff_t)axis.taps;
    ptrdiff_t first = start < 0 ? taps_over(axis, -start) : 0;
    ptrdiff_t end = start < size ? taps_over(axis, size - start) : 0;

    end = end < taps ? end : taps;
    first = first < end ? first : end;
    return (struct run){(size_t)first, (size_t)end};
}

/* Runs are short and of one length per layer: the compiler turns fixed-size pieces into
 * register moves, while a call of memcpy or memset would cost more than the run. */
static inline void copy_floats(float *to, const float *from, size_t count)
{
    for (; count >= 16; to += 16, from += 16, count -= 16)
        memcpy(to, from, 16 * sizeof *to);
    if (count >= 8) {
        memcpy(to, from, 8 * sizeof *to);
        to += 8, from += 8, count -= 8;
    }
    if (count >= 4) {
        memcpy(to, from, 4 * sizeof *to);
        to += 4, from += 4, count -= 4;
    }
    for (size_t j = 0; j < count; j++)
        to[j] = from[j];
}

static inline void clear_floats(float *to, size_t count)
{
    for (; count >= 8; to += 8, count -= 8)
        memset(to, 0, 8 * sizeof *to);
    if (count >= 4) {
        memset(to, 0, 4 * sizeof *to);
        to += 4, count -= 4;
    }
    if (count >= 2) {
        memset(to, 0, 2 * sizeof *to);
        to += 2, count -= 2;
    }
    if (count == 1)
        *to = 0.0F;
}

/* Writes one kernel row of one position: pixels from start on, or zeros. */
static void unfold_run(const struct conv_window *window, float *out,
                       const float *pixels, ptrdiff_t start, struct run run)
{
    size_t channels = window->image.channels, step = window->dilation;
    const float *from =
        pixels + (start + (ptrdiff_t)(run.first * step)) * (ptrdiff_t)channels;

    clear_floats(out, run.first * channels);
    if (step == 1)
        copy_floats(out + run.first * channels, from, (run.end - run.first) * channels);
    else
        for (size_t k = run.first; k < run.end; k++, from += step * channels)
            copy_floats(out + k * channels, from, channels);
    clear_floats(out + run.end * channels, (window->kernel_width - run.end) * channels);
}

/* Copies kernel rows that lie wholly in the image, where they are line_floats apart. */
static inline void copy_lines(float *out, const float *pixels, size_t lines,
                              size_t line_floats, size_t run_floats)
{
    for (size_t k = 0; k < lines; k++, pixels += line_floats, out += run_floats)
        copy_floats(out, pixels, run_floats);
}

VECTOR_CLONES
static void unfold_whole(float *out, const float *pixels, size_t lines,
                         size_t line_floats, size_t run_floats)
{
    copy_lines(out, pixels, lines, line_floats, run_floats);
}

struct place {       /* a position */
    ptrdiff_t y, x;  /* where its first tap lies in the image */
    size_t column;   /* its column in the output */
    struct run rows; /* taps inside the image */
};

static struct place place_of(const struct conv_window *window, size_t position)
{
    struct place place = {.column = position % window->out_width};
    place.y = window->top + (ptrdiff_t)(position / window->out_width * window->stride);
    place.x = window->left + (ptrdiff_t)(place.column * window->stride);
    place.rows = inside(down(window), place.y);
    return place;
}

static void advance(const struct conv_window *window, struct place *place)
{
    place->x += (ptrdiff_t)window->stride;
    if (++place->column < window->out_width)
        return;
    place->column = 0;
    place->x = window->left;
    place->y += (ptrdiff_t)window->stride;
    place->rows = inside(down(window), place->y);
}

static void unfold(const struct conv_window *window, float *row, const float *image,
                   const struct place *at)
{
    size_t channels = window->image.channels, taps = window->kernel_width;
    size_t run_floats = taps * channels, line_floats = window->image.width * channels;
    struct run rows = at->rows, columns = inside(across(window), at->x);

    clear_floats(row, rows.first * run_floats);
    if (window->dilation == 1 && rows.first < rows.end && columns.first == 0 &&
        columns.end == taps) {
        size_t first = (size_t)(at->y + (ptrdiff_t)rows.first) * line_floats;
        unfold_whole(row + rows.first * run_floats,
                     image + first + (size_t)at->x * channels, rows.end - rows.first,
                     line_floats, run_floats);
    } else {
        for (size_t k = rows.first; k < rows.end; k++) {
            ptrdiff_t y = at->y + (ptrdiff_t)(k * window->dilation);
            unfold_run(window, row + k * run_floats, image + (size_t)y * line_floats,
                       at->x, columns);
        }
    }
    clear_floats(row + rows.end * run_floats,
                 (window->kernel_height - rows.end) * run_floats);
}

enum { FRAME_FLOATS = 2048 }; /* on the stack: a 34 x 34 image of one channel fits */

/* pixels: the pixel of the first tap at position 0. */
static inline void copy_positions(const struct conv_window *window, struct rows out,
                                  const float *pixels, size_t line, size_t first)
{
    size_t y = first / window->out_width, x = first % window->out_width;
    size_t stride = window->stride, channels = window->image.channels;
    size_t run_floats = window->kernel_width * channels;
    for (size_t t = 0; t < out.count; t++) {
        const float *from = pixels + y * stride * line + x * stride * channels;
        float *to = out.data + t * out.stride;
        /* With a constant length the copy compiles to register moves. */
        if (run_floats == 8)
            copy_lines(to, from, window->kernel_height, line, 8);
        else
            copy_lines(to, from, window->kernel_height, line, run_floats);
        if (++x == window->out_width)
            x = 0, y++;
    }
}

VECTOR_CLONES
static void unfold_frame(const struct conv_window *window, struct rows out,
                         const float *pixels, size_t line, size_t first)
{
    copy_positions(window, out, pixels, line, first);
}

/* In a frame the taps of every position are runs of one length. A large image has
 * little border, so it is unfolded without a frame. */
void conv_window_unfold(const struct conv_window *window, struct rows out,
                        const float *image, size_t first)
{
    float room[FRAME_FLOATS];
    struct zero_padding frame = conv_window_frame(window);
    if (window->dilation == 1 && zero_padding_floats(&frame) <= FRAME_FLOATS) {
        const float *pixels = zero_padding_image(&frame, image, room);
        unfold_frame(window, out, pixels + conv_window_first(window, &frame),
                     zero_padding_line(&frame), first);
        return;
    }
    struct place at = place_of(window, first);
    for (size_t t = 0; t < out.count; t++, advance(window, &at))
        unfold(window, out.data + t * out.stride, image, &at);
}
