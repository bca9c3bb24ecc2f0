/*
 * noise_vector.h - the body of a kernel (noise_kernel.h) with vectors. The file of each
 * instruction set includes it once, and first defines
 *
 *   LANES            trials in a vector
 *   V(name)          the name with the number of lanes; test_noise_small compiles all
 *                    widths as one file
 *   VECTOR_TARGET    the attribute of functions with these instructions
 *   VECTOR_INLINE    the same, of functions that are inlined everywhere
 *   V(integers), V(reals)    LANES words of type uint64_t, or of type double
 *   V(flags)                 a truth value for each lane, which | joins
 *   V(pick)(from, at)        the words from[at[0]], from[at[1]], ..., as reals
 *   V(multiply)(word, entry) of the product of the low 52 bits of a word and the width
 *                            in an entry, a struct V(product): high, the product >> 52,
 *                            and low, the product mod 2^52
 *   V(add_high)(sum, word, entry)   sum + the product >> 52
 *   V(signs)(word)           all bits, of words whose highest bit is set; else none
 *   V(at_least)(x, y)        the lanes with x >= y; both are below 2^63
 *   V(reals_of)(integers)    integers below 2^52, converted
 *
 * It defines V(propose_vector) and V(decide). The thread sanitizer must be disabled in
 * VECTOR_TARGET: it would check every vector that is spilled to the stack. The arrays
 * that a kernel reads and writes belong to a chunk, and noise_chunk.c, which the
 * sanitizer does check, accesses the same arrays before and after.
 *
 * No branch depends on random values.
 *
 * Threads: as noise_kernel.h.
 */
#include <string.h>

#include "engine/noise/noise_kernel.h"

#define EACH_LANE _Pragma("GCC unroll 8")

VECTOR_INLINE V(integers) V(load)(const uint64_t *from)
{
    V(integers) words;
    memcpy(&words, from, sizeof words);
    return words;
}

VECTOR_INLINE void V(store)(void *to, V(integers) words)
{
    memcpy(to, &words, sizeof words);
}

VECTOR_INLINE void V(layers_of)(size_t layers[LANES], const uint64_t *words,
                                const size_t at[LANES])
{
    EACH_LANE
    for (int i = 0; i < LANES; i++)
        layers[i] = words[at[i]] >> 52 & (NOISE_LAYERS - 1);
}

/* Stores the floors of a vector of trials, and returns those that are flagged. */
VECTOR_INLINE V(flags) V(propose_vector)(const uint64_t *entries, const uint64_t *words,
                                         uint64_t *candidate)
{
    const uint64_t carry = (UINT64_C(1) << 52) - (UINT64_C(1) << 40);
    size_t all[LANES], layers[LANES];
    EACH_LANE
    for (size_t i = 0; i < LANES; i++)
        all[i] = i;
    V(layers_of)(layers, words, all);
    V(integers) word = V(load)(words);
    V(integers) entry = (V(integers))V(pick)(entries, layers);
    struct V(product) product = V(multiply)(word, entry);
    V(store)(candidate, product.high ^ V(signs)(word));
    V(flags) edge = V(at_least)(product.high >> NOISE_FAST_SHIFT, entry >> 52);
    return (V(flags))(edge | V(at_least)(product.low, (V(integers)){0} + carry));
}

/* E(x) of noise_chunk.c, operation by operation. */
VECTOR_INLINE V(reals) V(gaussian)(V(reals) x)
{
    const double shift = 0x1.8p52;
    V(reals) t = -0.5 * x * x;
    V(reals) rounded = t * 1.4426950408889634 + shift;
    V(reals) n = rounded - shift;
    V(reals) r = (t - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    V(reals) e = (V(reals)){0} + 1.0 / 6227020800.0;
    for (unsigned k = 0; k < NOISE_KERNEL_TERMS; k++)
        e = e * r + noise_kernel_terms[k];
    return e * (V(reals))(((V(integers))rounded + 1023) << 52);
}

VECTOR_INLINE void V(decide_vector)(const struct noise_lanes *lanes, unsigned k)
{
    _Static_assert(sizeof(struct noise_strip) == 3 * sizeof(double),
                   "a strip is base, height and width");
    const double *strip = (const void *)lanes->table->strip;
    const uint64_t *heights = lanes->words + lanes->trials;
    const uint64_t *thetas = heights + lanes->flags;
    size_t trials[LANES], layers[LANES], strips[LANES];
    EACH_LANE
    for (unsigned i = 0; i < LANES; i++)
        trials[i] = lanes->flagged[k + i];
    V(layers_of)(layers, lanes->words, trials);
    EACH_LANE
    for (unsigned i = 0; i < LANES; i++)
        strips[i] = 3 * layers[i];
    V(integers) word = (V(integers))V(pick)(lanes->words, trials);
    V(integers) entry = (V(integers))V(pick)(lanes->table->entry, layers);
    V(reals) base = V(pick)(strip, strips);
    V(reals) height = V(pick)(strip + 1, strips);
    V(reals) width = V(pick)(strip + 2, strips);

    struct V(product) product = V(multiply)(word, entry);
    V(integers) s = V(add_high)(product.low, V(load)(thetas + k), entry);
    V(reals) u = V(reals_of)(word & NOISE_WIDTH_MASK);
    V(reals) v = V(reals_of)(V(load)(heights + k) >> 12) * 0x1p-52;
    V(reals) y = height * v + base;
    V(reals) f = V(gaussian)(u * width);
    V(store)(lanes->gap + k, (V(integers))(f - y));
    V(store)(lanes->magnitude + k, product.high + (s >> 52));
    V(store)(lanes->fraction + k, s);
}

VECTOR_TARGET
static unsigned V(decide)(const struct noise_lanes *lanes)
{
    unsigned k = 0;
    for (; k + LANES <= lanes->flags; k += LANES)
        V(decide_vector)(lanes, k);
    return k;
}
