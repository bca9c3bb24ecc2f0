/* dpsgd.h - DP-SGD with flat clipping (Abadi et al. 2016; papers/valueclip.md 1.1). */
#ifndef ENGINE_DP_DPSGD_H
#define ENGINE_DP_DPSGD_H

#include "engine/dp/algorithm.h"

extern const struct algorithm dpsgd;

#endif
