/* A release processes its vector in chunks of 2,048 coordinates: the sampler fills its
 * candidates with that chunk's noise (noise_chunk.h), the noise is added to the
 * integers, and the result is divided by the grid's scale and the divisor. The chunk is
 * wiped before the call returns. */
#include "engine/noise/noise.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"

/* Charges assume this deviation (grid.h): a build that draws with another must not
 * compile. */
_Static_assert(INT64_C(1) << NOISE_STDDEV_BITS == (int64_t)GRID_NOISE_STDDEV,
               "noise is of the grid's standard deviation, 2^36 steps");

struct noise {
    struct stream *stream;
    struct noise_chunk chunk;
};

struct noise *noise_create(void)
{
    struct noise *noise = calloc(1, sizeof *noise);
    CHECK(noise != NULL);
    noise->stream = stream_create();
    noise_table_init(&noise->chunk.table);
    return noise;
}

void noise_destroy(struct noise *noise)
{
    if (noise == NULL)
        return;
    noise_chunk_wipe(&noise->chunk);
    stream_destroy(noise->stream);
    free(noise);
}

static void draw(struct noise *noise, const struct noise_address *address,
                 uint64_t chunk)
{
    const struct noise_position position = {
        .key = address->key->bytes, .query = address->query, .chunk = chunk};
    noise_chunk_draw(&noise->chunk, noise->stream, &position, &noise_layout);
}

void noise_draw(struct noise *noise, int64_t *out, const struct noise_address *address,
                uint64_t chunk, size_t chunks)
{
    for (size_t k = 0; k < chunks; k++) {
        draw(noise, address, chunk + k);
        memcpy(out + k * NOISE_CHUNK, noise->chunk.candidate,
               NOISE_CHUNK * sizeof *out);
    }
    noise_chunk_wipe(&noise->chunk);
}

/* Addition is modulo 2^64, which is a function of the exact sum, so privacy does not
 * depend on the absence of overflow. The half recentres the floor. */
VECTOR_CLONES
static void release_chunk(float *out, const int64_t *sum, const uint64_t *noise,
                          size_t count, double unit)
{
    for (size_t j = 0; j < count; j++) {
        int64_t noisy = (int64_t)((uint64_t)sum[j] + noise[j]);
        out[j] = (float)(((double)noisy + 0.5) * unit);
    }
}

void noise_release(struct noise *noise, float *out, const int64_t *sum,
                   struct span span, const struct noise_release *release)
{
    double unit = 1 / (release->grid->scale * release->divisor);
    CHECK(span.first % NOISE_CHUNK == 0);
    for (size_t done = 0; done < span.count; done += NOISE_CHUNK) {
        size_t left = span.count - done;
        size_t part = left < NOISE_CHUNK ? left : NOISE_CHUNK;
        draw(noise, &release->address, (span.first + done) / NOISE_CHUNK);
        release_chunk(out + done, sum + done, noise->chunk.candidate, part, unit);
    }
    noise_chunk_wipe(&noise->chunk);
}

void noise_release_counts(struct noise *noise, double *out, const int64_t *counts,
                          size_t count, const struct noise_release *release)
{
    uint64_t scale = (uint64_t)release->grid->scale;
    double unit = 1 / (release->grid->scale * release->divisor);
    CHECK((double)scale == release->grid->scale);
    for (size_t j = 0; j < count; j++) {
        if (j % NOISE_CHUNK == 0)
            draw(noise, &release->address, j / NOISE_CHUNK);
        uint64_t noisy =
            (uint64_t)counts[j] * scale + noise->chunk.candidate[j % NOISE_CHUNK];
        out[j] = ((double)(int64_t)noisy + 0.5) * unit;
    }
    noise_chunk_wipe(&noise->chunk);
}
