#include "engine/data/rescaling.h"

#include <stdlib.h>

#include "base/check.h"

void rescaling_init(struct rescaling *rescaling, size_t features)
{
    *rescaling = (struct rescaling){.features = features,
                                    .gain = calloc(features, sizeof(float)),
                                    .offset = calloc(features, sizeof(float))};
    CHECK(rescaling->gain != NULL && rescaling->offset != NULL);
    for (size_t j = 0; j < features; j++)
        rescaling->gain[j] = 1;
}

void rescaling_fini(struct rescaling *rescaling)
{
    free(rescaling->gain);
    free(rescaling->offset);
    *rescaling = (struct rescaling){0};
}

void rescaling_apply(const struct rescaling *rescaling, float *row)
{
    const float *gain = rescaling->gain, *offset = rescaling->offset;
    for (size_t j = 0; j < rescaling->features; j++) {
        float mapped = gain[j] * row[j] + offset[j];
        mapped = mapped > -1 ? mapped : -1;
        row[j] = mapped < 1 ? mapped : 1;
    }
}
