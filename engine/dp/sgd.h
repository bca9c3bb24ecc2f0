/* sgd.h - plain SGD on data declared public: the reference the private ones run beside.
 */
#ifndef ENGINE_DP_SGD_H
#define ENGINE_DP_SGD_H

#include "engine/dp/algorithm.h"

extern const struct algorithm sgd;

#endif
