#include "engine/noise/noise_kernel.h"

const double noise_kernel_terms[NOISE_KERNEL_TERMS] = {1.0 / 479001600.0,
                                                       1.0 / 39916800.0,
                                                       1.0 / 3628800.0,
                                                       1.0 / 362880.0,
                                                       1.0 / 40320.0,
                                                       1.0 / 5040.0,
                                                       1.0 / 720.0,
                                                       1.0 / 120.0,
                                                       1.0 / 24.0,
                                                       1.0 / 6.0,
                                                       0.5,
                                                       1.0,
                                                       1.0};
