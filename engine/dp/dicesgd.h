/* dicesgd.h - DiceSGD (Zhang et al. 2024; papers/dicesgd.md): what clipping cuts off is
 * kept and fed back, under one of four sound accountants. */
#ifndef ENGINE_DP_DICESGD_H
#define ENGINE_DP_DICESGD_H

#include "engine/dp/algorithm.h"

extern const struct algorithm dicesgd;

#endif
