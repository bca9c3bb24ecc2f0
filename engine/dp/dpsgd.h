/* dpsgd.h - DP-SGD (Abadi et al. 2016; papers/valueclip.md 1.1) with flat or automatic
 * clipping (Bu et al. 2023; papers/dcsgd.md 1.8). */
#ifndef ENGINE_DP_DPSGD_H
#define ENGINE_DP_DPSGD_H

#include "engine/dp/algorithm.h"

extern const struct algorithm dpsgd;

#endif
