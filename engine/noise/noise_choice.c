#include "engine/noise/noise_choice.h"

#include "engine/noise/noise_avx2.h"
#include "engine/noise/noise_avx512.h"

static bool always(void)
{
    return true;
}

static unsigned propose_none(const struct noise_lanes *lanes, unsigned *count)
{
    (void)lanes;
    *count = 0;
    return 0;
}

static unsigned decide_none(const struct noise_lanes *lanes)
{
    (void)lanes;
    return 0;
}

static const struct noise_kernel portable = {.name = "portable",
                                             .available = always,
                                             .propose = propose_none,
                                             .decide = decide_none};

static const struct noise_kernel *const kernels[] = {
#if PROCESSOR_X86_64
    &noise_avx512,
    &noise_avx2,
#endif
    &portable,
};

const struct noise_kernel *noise_choice_at(size_t index)
{
    return index < sizeof kernels / sizeof *kernels ? kernels[index] : NULL;
}

const struct noise_kernel *noise_choice_best(void)
{
    size_t k = 0;
    while (!kernels[k]->available())
        k++;
    return kernels[k];
}
