#include "engine/nn/zero_padding.h"

#include <string.h>

bool zero_padding_is_bare(const struct zero_padding *frame)
{
    return frame->up == 0 && frame->left == 0 && frame->height <= frame->image.height &&
           frame->width <= frame->image.width;
}

size_t zero_padding_line(const struct zero_padding *frame)
{
    size_t width = zero_padding_is_bare(frame) ? frame->image.width : frame->width;
    return width * frame->image.channels;
}

size_t zero_padding_floats(const struct zero_padding *frame)
{
    return zero_padding_is_bare(frame)
               ? 0
               : rows_spread_stride(frame->height * zero_padding_line(frame));
}

/* Returns how many pixels of an axis a frame holds after its `before` zeros. */
static size_t pixels_held(size_t pixels, size_t frame, size_t before)
{
    size_t room = frame > before ? frame - before : 0;
    return pixels < room ? pixels : room;
}

const float *zero_padding_image(const struct zero_padding *frame, const float *image,
                                float *room)
{
    const struct image *size = &frame->image;
    size_t lines = pixels_held(size->height, frame->height, frame->up);
    size_t pixels = pixels_held(size->width, frame->width, frame->left);
    size_t line = zero_padding_line(frame), image_line = size->width * size->channels;
    float *to = room + frame->up * line + frame->left * size->channels;

    if (zero_padding_is_bare(frame))
        return image;
    memset(room, 0, frame->height * line * sizeof *room);
    for (size_t y = 0; y < lines; y++)
        memcpy(to + y * line, image + y * image_line,
               pixels * size->channels * sizeof *to);
    return room;
}

struct rows zero_padding_images(const struct zero_padding *frame, struct rows images,
                                float *room)
{
    struct rows framed = {room, zero_padding_floats(frame), images.count};
    if (zero_padding_is_bare(frame))
        return images;
    for (size_t i = 0; i < images.count; i++)
        zero_padding_image(frame, images.data + i * images.stride,
                           room + i * framed.stride);
    return framed;
}
