#include "engine/nn/activation.h"

#include "engine/nn/vector_math.h"

VECTOR_CLONES
void relu_forward(float *y, const float *z, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = z[i] < 0.0F ? 0.0F : z[i];
}

VECTOR_CLONES
void tanh_forward(float *y, const float *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        y[i] = lanes_tanhf(z[i]);
}

VECTOR_CLONES
void relu_backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = y[i] > 0.0F ? dy[i] : 0.0F;
}

VECTOR_CLONES
void tanh_backward(float *dz, const float *dy, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dz[i] = dy[i] * ((1.0F - y[i]) * (1.0F + y[i]));
}
