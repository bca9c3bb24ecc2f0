/* Batch and channels are one axis here, (n, 1, height, width), because each channel is
 * transformed separately. Filters are the second axis; after the first modulus they are
 * merged into the first axis. */
#include "engine/nn/layers/scatter_graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "engine/nn/layers/scattering.h"

struct pair { /* names: real and imaginary parts */
    const char *re, *im;
};

struct sides {
    size_t height, width;
};

/* The Fourier transform of length pixels at length frequencies, or the inverse at every
 * step-th pixel: cos and sin of 2 pi j k step / length. */
struct turns {
    const char *cosines, *sines; /* (rows, columns) */
};

struct scatter_work {
    struct onnx_graph *graph;
    struct sides torus, out;
};

static const char *matrix(struct onnx_graph *graph, const float *values, size_t rows,
                          size_t columns)
{
    const int64_t shape[] = {(int64_t)rows, (int64_t)columns};
    return onnx_reshape(graph, onnx_floats(graph, values, rows * columns), shape, 2);
}

static float *room_for(size_t count)
{
    float *values = calloc(count, sizeof *values);
    CHECK(values != NULL);
    return values;
}

static const char *binary(struct onnx_graph *graph, const char *op_type,
                          const char *one, const char *other)
{
    return onnx_node(graph, op_type, (struct onnx_inputs){{one, other}});
}

/* Rows j = 0, step, 2 step, ...; columns k. They are transposed if they are the right
 * factor of a product. */
static struct turns turns_of(struct onnx_graph *graph, size_t length, size_t step,
                             bool turned)
{
    size_t rows = length / step;
    float *cosines = room_for(rows * length), *sines = room_for(rows * length);
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < length; k++) {
            size_t at = turned ? k * rows + j : j * length + k;
            double angle = 2 * M_PI * (double)(j * step * k % length) / (double)length;
            cosines[at] = (float)cos(angle);
            sines[at] = (float)sin(angle);
        }
    size_t height = turned ? length : rows, width = turned ? rows : length;
    struct turns turns = {matrix(graph, cosines, height, width),
                          matrix(graph, sines, height, width)};
    free(cosines);
    free(sines);
    return turns;
}

/* The spectrum of an image of real numbers. */
static struct pair spectrum_of(const struct scatter_work *work, const char *image)
{
    struct onnx_graph *graph = work->graph;
    struct turns down = turns_of(graph, work->torus.height, 1, false),
                 across = turns_of(graph, work->torus.width, 1, true);
    const char *c = binary(graph, "MatMul", down.cosines, image);
    const char *s = binary(graph, "MatMul", down.sines, image);
    const char *cc = binary(graph, "MatMul", c, across.cosines);
    const char *ss = binary(graph, "MatMul", s, across.sines);
    const char *cs = binary(graph, "MatMul", c, across.sines);
    const char *sc = binary(graph, "MatMul", s, across.cosines);
    const char *im = binary(graph, "Add", cs, sc);
    return (struct pair){binary(graph, "Sub", cc, ss),
                         onnx_node(graph, "Neg", (struct onnx_inputs){{im}})};
}

/* (1, directions, height, width), divided by the number of pixels */
static const char *wavelets_of(const struct scatter_work *work, size_t scale)
{
    size_t height = work->torus.height, width = work->torus.width;
    const int64_t shape[] = {1, WAVELET_DIRECTIONS, (int64_t)height, (int64_t)width};
    float *values = room_for(WAVELET_DIRECTIONS * height * width);
    for (size_t l = 0; l < WAVELET_DIRECTIONS; l++) {
        const struct wavelet_spectrum spectrum = wavelet_spectrum_of(
            (struct wavelet){scale, l}, (struct torus){height, width});
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++)
                values[(l * height + y) * width + x] =
                    (float)(wavelet_spectrum_at(&spectrum, y, x) /
                            (double)(height * width));
    }
    const char *name =
        onnx_floats(work->graph, values, WAVELET_DIRECTIONS * height * width);
    free(values);
    return onnx_reshape(work->graph, name, shape, 4);
}

/* |x * psi| in every direction, at every pixel or every second one. */
static const char *moduli_of(const struct scatter_work *work, struct pair spectrum,
                             size_t scale)
{
    struct onnx_graph *graph = work->graph;
    size_t step = (size_t)1 << scale;
    const char *wavelets = wavelets_of(work, scale);
    const struct turns down = turns_of(graph, work->torus.height, step, false),
                       across = turns_of(graph, work->torus.width, step, true);
    const char *re = binary(graph, "Mul", spectrum.re, wavelets);
    const char *im = binary(graph, "Mul", spectrum.im, wavelets);
    const char *c = binary(graph, "Sub", binary(graph, "MatMul", down.cosines, re),
                           binary(graph, "MatMul", down.sines, im));
    const char *s = binary(graph, "Add", binary(graph, "MatMul", down.cosines, im),
                           binary(graph, "MatMul", down.sines, re));
    re = binary(graph, "Sub", binary(graph, "MatMul", c, across.cosines),
                binary(graph, "MatMul", s, across.sines));
    im = binary(graph, "Add", binary(graph, "MatMul", c, across.sines),
                binary(graph, "MatMul", s, across.cosines));
    const char *square = binary(graph, "Add", binary(graph, "Mul", re, re),
                                binary(graph, "Mul", im, im));
    return onnx_node(graph, "Sqrt", (struct onnx_inputs){{square}});
}

/* The low pass along one axis of a torus of length pixels, of which the image has every
 * between-th. */
static const char *low_pass(struct onnx_graph *graph, size_t length, size_t between,
                            bool turned)
{
    size_t count = length / between, out = length / SCATTERING_STEP - 2;
    float *values = room_for(out * count);
    for (size_t o = 0; o < out; o++)
        for (size_t a = 0; a < count; a++) {
            size_t at = (o + 1) * SCATTERING_STEP, pixel = a * between;
            size_t apart = at > pixel ? at - pixel : pixel - at;
            values[turned ? a * out + o : o * count + a] =
                (float)((double)between * wavelet_low_pass(apart, length));
        }
    const char *name =
        turned ? matrix(graph, values, count, out) : matrix(graph, values, out, count);
    free(values);
    return name;
}

static const char *smooth(const struct scatter_work *work, const char *images,
                          size_t scale)
{
    struct onnx_graph *graph = work->graph;
    size_t between = (size_t)1 << scale;
    const char *rows = low_pass(graph, work->torus.height, between, false);
    const char *columns = low_pass(graph, work->torus.width, between, true);
    return binary(graph, "MatMul", rows, binary(graph, "MatMul", images, columns));
}

/* The image extended by reflection along an axis. */
static const char *continued(struct onnx_graph *graph, const char *image, int64_t axis,
                             size_t side)
{
    int64_t places[SCATTERING_SIDE_MAX + 2 * SCATTERING_STEP];
    const int64_t margin = SCATTERING_STEP, last = (int64_t)side - 1;
    size_t count = side + 2 * SCATTERING_STEP;
    for (size_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i - margin;
        places[i] = at < 0 ? -at : at > last ? 2 * last - at : at;
    }
    const char *name =
        binary(graph, "Gather", image, onnx_int64s(graph, places, count));
    onnx_attribute_int(graph, "axis", axis);
    return name;
}

static const char *shaped(struct onnx_graph *graph, const char *name, size_t channels,
                          struct sides sides)
{
    const int64_t shape[] = {-1, (int64_t)channels, (int64_t)sides.height,
                             (int64_t)sides.width};
    return onnx_reshape(graph, name, shape, 4);
}

/* All maps of images (n, 1, torus): (n, SCATTERING_MAPS, out). */
static const char *maps_of(const struct scatter_work *work, const char *images)
{
    struct onnx_graph *graph = work->graph;
    const struct pair spectrum = spectrum_of(work, images);
    const char *fine = moduli_of(work, spectrum, 0),
               *coarse = moduli_of(work, spectrum, 1);
    const struct pair again = spectrum_of(work, shaped(graph, fine, 1, work->torus));
    const char *second = smooth(work, moduli_of(work, again, 1), 1);
    const char *parts[] = {
        smooth(work, images, 0), smooth(work, fine, 0), smooth(work, coarse, 1),
        shaped(graph, second, WAVELET_DIRECTIONS * WAVELET_DIRECTIONS, work->out)};
    const char *maps = onnx_node_of_many(graph, "Concat", parts, 4);
    onnx_attribute_int(graph, "axis", 1);
    return maps;
}

void scatter_graph(const struct translation *t, struct image image, float centre)
{
    struct onnx_graph *graph = t->graph;
    const struct scatter_work work = {
        graph,
        {image.height + 2 * SCATTERING_STEP, image.width + 2 * SCATTERING_STEP},
        {image.height / SCATTERING_STEP, image.width / SCATTERING_STEP}};
    const char *x = onnx_value_as(graph, t->node->from, translation_image(image));
    struct onnx_image out = {image.channels * SCATTERING_MAPS, work.out.height,
                             work.out.width};

    x = binary(graph, "Sub", x, onnx_floats(graph, &centre, 0));
    x = continued(graph, x, 2, image.height);
    x = continued(graph, x, 3, image.width);
    x = maps_of(&work, shaped(graph, x, 1, work.torus));
    onnx_give(graph, t->node->to, shaped(graph, x, out.channels, work.out), out);
}
