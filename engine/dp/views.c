#include "engine/dp/views.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/nn/network.h"

enum { WORDS = 3 }; /* of the stream, for each view */

static int32_t draw_move(uint32_t word, uint32_t shift)
{
    uint64_t moves = 2 * (uint64_t)shift + 1;
    return (int32_t)((uint64_t)word * moves >> 32) - (int32_t)shift;
}

void views_draw(struct image_view *views, const struct view_spec *spec, uint32_t unit,
                struct views_draw draw, struct stream *stream)
{
    uint32_t words[WORDS * UNIT_ROWS_MAX];
    const struct stream_position from = {.key = draw.key, .nonce = unit};
    CHECK(draw.count <= UNIT_ROWS_MAX);
    stream_read(stream, words, draw.count * WORDS * sizeof *words, &from);
    for (size_t k = 0; k < draw.count; k++)
        views[k] = (struct image_view){
            .is_flipped = spec->flips && (words[WORDS * k] & 1) != 0,
            .down = draw_move(words[WORDS * k + 1], spec->shift),
            .right = draw_move(words[WORDS * k + 2], spec->shift),
        };
    hash_zero(words, sizeof words);
}

static void mirror(float *line, size_t width)
{
    for (size_t left = 0, right = width - 1; left < right; left++, right--) {
        float kept = line[left];
        line[left] = line[right];
        line[right] = kept;
    }
}

/* Copies one line of pixels, moved to the right. */
static void move_line(float *to, const float *from, size_t width, int32_t right)
{
    size_t by = (size_t)(right < 0 ? -right : right);
    size_t left_over = by < width ? width - by : 0;
    memset(to, 0, width * sizeof *to);
    if (right < 0)
        memcpy(to, from + (width - left_over), left_over * sizeof *to);
    else
        memcpy(to + (width - left_over), from, left_over * sizeof *to);
}

void views_make(float *to, const float *from, const struct view_spec *spec,
                struct image_view view)
{
    size_t width = spec->width;
    for (uint32_t plane = 0; plane < spec->planes; plane++)
        for (int64_t y = 0; y < spec->height; y++, to += width) {
            int64_t source = y - view.down;
            if (source < 0 || source >= spec->height) {
                memset(to, 0, width * sizeof *to);
                continue;
            }
            size_t line = (size_t)plane * spec->height + (size_t)source;
            move_line(to, from + line * width, width, view.right);
            if (view.is_flipped)
                mirror(to, width);
        }
}
