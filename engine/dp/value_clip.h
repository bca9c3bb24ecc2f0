/* value_clip.h - DP-SGD with value clipping (Fang et al. 2023; papers/valueclip.md): a
 * record's weight comes from a bound of its gradient norm by its own loss. */
#ifndef ENGINE_DP_VALUE_CLIP_H
#define ENGINE_DP_VALUE_CLIP_H

#include "engine/dp/algorithm.h"

extern const struct algorithm value_clip;

#endif
