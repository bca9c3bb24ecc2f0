#include "engine/nn/activation.h"

#include <string.h>

#include "base/check.h"

void activation_forward(const struct activation *activation, size_t width,
                        struct rows y, struct rows z)
{
    size_t padding = y.stride - width;

    CHECK(y.stride == z.stride);
    activation->forward(y.data, z.data, y.count * y.stride);
    for (size_t i = 0; activation->moves_zero && padding > 0 && i < y.count; i++)
        memset(y.data + i * y.stride + width, 0, padding * sizeof *y.data);
}

void activation_backward(const struct activation *activation, struct rows dz,
                         struct rows dy, struct rows at)
{
    CHECK(dy.stride == at.stride);
    activation->backward(dz.data, dy.data, at.data, at.count * at.stride);
}
