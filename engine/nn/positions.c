#include "engine/nn/positions.h"

#include <string.h>

#include "engine/gemm/direct_conv.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/nn/zero_padding.h"

/* GRAM is the faster form if r = T (d + p) / (p d) is at most these limits; the limits
 * are low because GRAM's products are in double. The limit on T bounds its scratch
 * (README.md). */
static const double gram_short = 0.45, gram_long = 0.75;
enum { GRAM_SHORT = 64, GRAM_LONGEST = 256 };

/* A gradient is stored if it has at most this many times the floats that its layer
 * stores in any case. Storing it replaces a product in double; the norm then needs no
 * spread, and a sum has no more terms than records (README.md). */
static const double per_example_ratio = 3.0;

enum {
    ROWS_WANTED = 4096,      /* rows of one direct_conv: enough to make packing the
                                weights worthwhile */
    FRAMES_FLOATS = 1 << 18, /* of its images: few enough to stay in a cache */
    CHUNK_LEAST = 256,       /* positions unfolded at a time, */
    CHUNK_FLOATS = 1 << 19   /* and floats */
};

static size_t positions(const struct position_layer *layer)
{
    return conv_window_positions(&layer->window);
}

static size_t pixels(const struct position_layer *layer)
{
    return layer->window.image.height * layer->window.image.width;
}

static size_t image_floats(const struct position_layer *layer)
{
    return pixels(layer) * layer->window.image.channels;
}

/* Returns whether the unfolded rows are the image itself, and can be read up to a
 * multiple of 16 columns there. */
static bool is_plain(const struct position_layer *layer)
{
    const struct conv_window *window = &layer->window;
    return conv_window_taps(window) == 1 && window->image.channels % 16 == 0 &&
           window->stride == 1 && window->top == 0 && window->left == 0 &&
           conv_window_positions(window) == pixels(layer);
}

size_t positions_of_unit(const struct position_layer *layer)
{
    return positions(layer) * (layer->unit_rows > 1 ? layer->unit_rows : 1);
}

static enum norm_form choose_form(const struct position_layer *layer)
{
    double t = (double)positions_of_unit(layer), d = (double)layer->rows.inputs;
    double p = (double)layer->rows.outputs, r = t * (d + p) / (p * d);
    double stored = (double)positions(layer) * p + (double)image_floats(layer);

    if (p * d <= per_example_ratio * stored)
        return NORM_PER_EXAMPLE;
    if (t <= GRAM_SHORT ? r <= gram_short : r <= gram_long && t <= GRAM_LONGEST)
        return NORM_GRAM;
    return NORM_EXPLICIT;
}

void positions_plan(struct position_layer *layer)
{
    layer->first = conv_window_trim(&layer->window);
    layer->rows.inputs =
        conv_window_taps(&layer->window) * layer->window.image.channels;
    layer->form = choose_form(layer);
}

static size_t tensor_channels(const struct position_layer *layer)
{
    return layer->window.image.channels * layer->copies;
}

size_t positions_row_floats(const struct position_layer *layer)
{
    return layer->kernel_height * layer->kernel_width * tensor_channels(layer);
}

/* Returns how many positions are unfolded at a time. */
static size_t chunk_of(const struct position_layer *layer)
{
    size_t most = CHUNK_FLOATS / rows_stride(layer->rows.inputs) / 16 * 16;
    most = most < CHUNK_LEAST ? CHUNK_LEAST : most;
    return positions(layer) < most ? positions(layer) : most;
}

size_t positions_unfolded(const struct position_layer *layer)
{
    return chunk_of(layer) * rows_stride(layer->rows.inputs);
}

size_t positions_gathered(const struct position_layer *layer)
{
    size_t all = positions_row_floats(layer);
    return all == layer->rows.inputs ? 0 : layer->rows.outputs * layer->rows.inputs;
}

/* Returns the offset of the window's tap (ky, kx) in a row of the tensor. */
static size_t tap_offset(const struct position_layer *layer, size_t ky, size_t kx)
{
    return ((layer->first.y + ky) * layer->kernel_width + layer->first.x + kx) *
           tensor_channels(layer);
}

const float *positions_gather(const struct position_layer *layer,
                              const float *parameters, float *to)
{
    size_t channels = layer->window.image.channels, copies = layer->copies;
    const float *weight = parameters + layer->rows.weight;
    float *next = to;

    if (positions_gathered(layer) == 0)
        return weight;
    for (size_t o = 0; o < layer->rows.outputs;
         o++, weight += positions_row_floats(layer))
        for (size_t ky = 0; ky < layer->window.kernel_height; ky++)
            for (size_t kx = 0; kx < layer->window.kernel_width; kx++)
                for (size_t c = 0; c < channels; c++) {
                    const float *copy = weight + tap_offset(layer, ky, kx) + c * copies;
                    float sum = copy[0];
                    for (size_t k = 1; k < copies; k++)
                        sum += copy[k];
                    *next++ = sum;
                }
    return to;
}

void positions_scatter(const struct position_layer *layer, float *row,
                       const float *gathered)
{
    size_t copies = layer->copies;
    size_t line = layer->window.kernel_width * layer->window.image.channels;

    memset(row, 0, positions_row_floats(layer) * sizeof *row);
    for (size_t ky = 0; ky < layer->window.kernel_height; ky++, gathered += line) {
        float *to = row + tap_offset(layer, ky, 0);
        for (size_t c = 0; c < line && copies > 1; c++)
            for (size_t k = 0; k < copies; k++)
                to[c * copies + k] = gathered[c];
        if (copies == 1)
            memcpy(to, gathered, line * sizeof *to);
    }
}

struct rows positions_unfold(const struct position_layer *layer, struct rows a,
                             struct position_step step, float *scratch)
{
    size_t channels = layer->window.image.channels;
    struct rows out = {scratch, rows_stride(layer->rows.inputs), step.count};
    float *image = a.data + step.record * a.stride;

    if (is_plain(layer))
        return (struct rows){image + step.first * channels, channels, step.count};
    conv_window_unfold(&layer->window, out, image, step.first);
    return out;
}

bool positions_next(const struct position_layer *layer, struct position_step *step,
                    struct rows z)
{
    size_t all = positions(layer), chunk = chunk_of(layer);

    step->first += step->count;
    if (step->first == all) {
        step->first = 0;
        step->record++;
    }
    step->count = all - step->first < chunk ? all - step->first : chunk;
    return step->record < z.count;
}

struct rows positions_outputs(const struct position_layer *layer, struct rows z,
                              struct position_step step)
{
    size_t outputs = layer->rows.outputs;
    return (struct rows){z.data + step.record * z.stride + step.first * outputs,
                         outputs, step.count};
}

static void widen_axis(size_t *before, size_t *size, struct conv_window_phase phase)
{
    if (phase.pixels == 0 || phase.taps == 0)
        return;
    size_t more = phase.first < 0 ? (size_t)-phase.first : 0;
    ptrdiff_t end =
        phase.first + (ptrdiff_t)((phase.taps - 1) * phase.step + phase.pixels);
    *before = more > *before ? more : *before;
    if (end > (ptrdiff_t)*size)
        *size = (size_t)end;
}

/* Forward reads the lines of the image, with zeros left and right of them. */
static struct zero_padding forward_frame(const struct position_layer *layer)
{
    struct zero_padding frame = conv_window_frame(&layer->window);
    frame.up = 0;
    frame.height = frame.image.height;
    return frame;
}

/* Backward reads the gradients at the outputs, with zeros left and right of their
 * lines. */
static struct zero_padding backward_frame(const struct position_layer *layer)
{
    const struct conv_window *w = &layer->window;
    struct zero_padding frame = {
        .image = {w->out_height, w->out_width, layer->rows.outputs},
        .height = w->out_height};
    for (size_t phase = 0; phase < w->stride; phase++)
        widen_axis(&frame.left, &frame.width, conv_window_phase_across(w, phase));
    frame.width += frame.left;
    return frame;
}

/* Returns how many records one direct_conv takes if each has `rows` rows. */
static size_t records_at_once(const struct zero_padding *frame, size_t rows)
{
    size_t floats = zero_padding_floats(frame), wanted = (ROWS_WANTED - 1) / rows + 1;
    size_t room = floats > 0 ? FRAMES_FLOATS / floats : wanted;
    if (room == 0)
        return 1;
    return room < wanted ? room : wanted;
}

static size_t frames_floats(const struct zero_padding *frame, size_t rows)
{
    return records_at_once(frame, rows) * zero_padding_floats(frame);
}

size_t positions_scratch(const struct position_layer *layer)
{
    struct zero_padding forward = forward_frame(layer),
                        backward = backward_frame(layer);
    size_t before = frames_floats(&forward, positions(layer)),
           behind = frames_floats(&backward, pixels(layer));
    size_t unfolded = positions_unfolded(layer);
    size_t most = before > behind ? before : behind;
    return most > unfolded ? most : unfolded;
}

static struct rows positions_of(const struct position_layer *layer, struct rows z,
                                size_t record)
{
    const struct position_step all = {.record = record, .count = positions(layer)};
    return positions_outputs(layer, z, all);
}

/* The rows [first, first + count) of rows, or fewer if rows has fewer. */
static struct rows rows_from(struct rows rows, size_t first, size_t count)
{
    size_t left = rows.count - first;
    rows.data += first * rows.stride;
    rows.count = left < count ? left : count;
    return rows;
}

/* A run is a line of taps, or one tap if the dilation separates them. */
static void forward_runs(struct direct_conv *slide, const struct conv_window *window,
                         size_t line)
{
    size_t channels = window->image.channels, taps = window->kernel_width;
    bool apart = window->dilation > 1;
    slide->runs[0] = (struct direct_conv_runs){
        window->kernel_height, window->dilation * line, (ptrdiff_t)(taps * channels)};
    slide->runs[1] = apart
                         ? (struct direct_conv_runs){taps, window->dilation * channels,
                                                     (ptrdiff_t)channels}
                         : (struct direct_conv_runs){.count = 1};
    slide->terms = apart ? channels : taps * channels;
}

/* The lines of an image that the taps of an output line read: tap k of output line l
 * reads image line first + l advance + k step. The image has `lines` lines. */
struct reading {
    ptrdiff_t first;
    size_t advance, step, lines;
};

struct met { /* taps [first, first + count) of a line read lines within the image */
    size_t first, count;
};

static struct met taps_met(const struct reading *reading, size_t line, size_t taps)
{
    struct met met = {0};
    for (size_t k = 0; k < taps; k++) {
        ptrdiff_t at =
            reading->first + (ptrdiff_t)(line * reading->advance + k * reading->step);
        if (at < 0 || at >= (ptrdiff_t)reading->lines)
            continue;
        if (met.count++ == 0)
            met.first = k;
    }
    return met;
}

/* Multiplies the output lines rows[1] in groups of consecutive lines that read lines of
 * the image with the same taps of runs[0]. So no products are computed for lines above
 * and below an image.
 *   slide       x is the first line of the images, y the first tap's
 *   line_floats  floats from a line of the images to the next */
static void multiply_lines(const struct direct_conv *slide,
                           const struct reading *reading, size_t line_floats)
{
    const struct direct_conv_rows *lines = &slide->rows[1];
    size_t taps = slide->runs[0].count;
    for (size_t l = 0, end; l < lines->count; l = end) {
        struct met met = taps_met(reading, l, taps), next = met;
        for (end = l + 1; end < lines->count; end++) {
            next = taps_met(reading, end, taps);
            if (next.first != met.first || next.count != met.count)
                break;
        }
        struct direct_conv part = *slide;
        part.rows[1].count = end - l;
        part.runs[0].count = met.count;
        part.z += l * lines->z_step;
        if (slide->start != NULL)
            part.start += l * lines->start_step;
        if (met.count > 0) {
            ptrdiff_t at = reading->first + (ptrdiff_t)(l * reading->advance +
                                                        met.first * reading->step);
            part.x += (size_t)at * line_floats;
            part.y += (ptrdiff_t)met.first * slide->runs[0].y_step;
        }
        direct_conv_multiply(gemm_choice_best(), &part);
    }
}

static void forward_some(const struct position_pass *pass,
                         const struct zero_padding *frame, struct rows z, struct rows a)
{
    const struct position_layer *layer = pass->layer;
    const struct conv_window *w = &layer->window;
    size_t outputs = layer->rows.outputs, line = zero_padding_line(frame);
    size_t channels = w->image.channels, stride = w->stride;
    size_t left = (size_t)(w->left + (ptrdiff_t)frame->left);
    const struct reading reading = {w->top, stride, w->dilation, w->image.height};
    struct rows images = zero_padding_images(frame, a, pass->scratch);
    struct direct_conv slide = {
        .rows = {{images.count, images.stride, z.stride, 0},
                 {w->out_height, stride * line, w->out_width * outputs, 0},
                 {w->out_width, stride * channels, outputs, 0}},
        .columns = outputs,
        .x = images.data + left * channels,
        .y = pass->weights,
        .y_stride = layer->rows.inputs,
        .form = DIRECT_CONV_BY_ROWS,
        .z = z.data,
        .start = pass->adds ? z.data : pass->bias};

    for (size_t k = 0; k < 3 && pass->adds; k++)
        slide.rows[k].start_step = slide.rows[k].z_step;
    forward_runs(&slide, w, line);
    multiply_lines(&slide, &reading, line);
}

void positions_forward(const struct position_pass *pass, struct rows z, struct rows a)
{
    const struct zero_padding frame = forward_frame(pass->layer);
    size_t records = records_at_once(&frame, positions(pass->layer));

    for (size_t i = 0; i < a.count; i += records)
        forward_some(pass, &frame, rows_from(z, i, records), rows_from(a, i, records));
    for (size_t i = 0; i < z.count && pass->adds && pass->bias != NULL; i++)
        rows_add(positions_of(pass->layer, z, i), pass->bias,
                 pass->layer->rows.outputs);
}

/* Computes the gradients of the pixels that the same taps read, which lie a stride
 * apart in both directions. */
static void backward_phase(const struct position_pass *pass,
                           const struct zero_padding *frame, struct rows da,
                           struct rows b, const size_t phase[2])
{
    const struct position_layer *layer = pass->layer;
    const struct conv_window *w = &layer->window;
    struct conv_window_phase down = conv_window_phase_down(w, phase[0]),
                             across = conv_window_phase_across(w, phase[1]);
    size_t outputs = layer->rows.outputs, line = zero_padding_line(frame);
    size_t channels = w->image.channels, row = w->kernel_width * channels;
    size_t image_line = w->image.width * channels;
    size_t left = (size_t)(across.first + (ptrdiff_t)frame->left);
    const struct reading reading = {down.first, 1, down.step, w->out_height};
    struct direct_conv slide = {
        .rows = {{b.count, b.stride, da.stride, 0},
                 {down.pixels, line, w->stride * image_line, 0},
                 {across.pixels, outputs, w->stride * channels, 0}},
        .runs = {{down.taps, down.step * line, -(ptrdiff_t)(down.tap_step * row)},
                 {across.taps, across.step * outputs,
                  -(ptrdiff_t)(across.tap_step * channels)}},
        .terms = outputs,
        .columns = channels,
        .x = b.data + left * outputs,
        .y = pass->weights + down.last_tap * row + across.last_tap * channels,
        .y_stride = layer->rows.inputs,
        .form = DIRECT_CONV_BY_COLUMNS,
        .z = da.data + phase[0] * image_line + phase[1] * channels};

    slide.start = pass->adds ? slide.z : NULL;
    for (size_t k = 0; k < 3 && pass->adds; k++)
        slide.rows[k].start_step = slide.rows[k].z_step;
    multiply_lines(&slide, &reading, line);
}

static void clear_padding(const struct position_layer *layer, struct rows da)
{
    size_t floats = image_floats(layer);
    for (size_t i = 0; i < da.count; i++)
        memset(da.data + i * da.stride + floats, 0,
               (da.stride - floats) * sizeof *da.data);
}

void positions_backward(const struct position_pass *pass, struct rows da, struct rows b)
{
    const struct zero_padding frame = backward_frame(pass->layer);
    size_t records = records_at_once(&frame, pixels(pass->layer));
    size_t stride = pass->layer->window.stride;

    if (!pass->adds)
        clear_padding(pass->layer, da);
    for (size_t i = 0; i < b.count; i += records) {
        struct rows in =
            zero_padding_images(&frame, rows_from(b, i, records), pass->scratch);
        struct rows out = rows_from(da, i, records);
        for (size_t y = 0; y < stride; y++)
            for (size_t x = 0; x < stride; x++)
                backward_phase(pass, &frame, out, in, (const size_t[]){y, x});
    }
}
