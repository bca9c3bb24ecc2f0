/* All numbers here are fixed-point: 192 bits after the point, and the integer part. One
 * decision is
 *
 *   position             x = w U exactly: 52 bits of U from the trial, 52 from theta
 *                        and 128 more digits, times the layer's width
 *   divide_by_deviation  x / s0, cut to 192 bits
 *   exponential          f = exp(-(x / s0)^2 / 2): the argument modulo ln 2, a Taylor
 *                        series by Horner's rule, and a shift for the power of two
 *   less                 y < f, with y = Y + h V from the layer's base and height
 *
 * It takes much longer than a decision in double, but few trials need it. */
#include "engine/noise/noise_exact.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* A number in [0, 2^64): an integer limb over a 192-bit fraction, low limb first. */
struct fixed {
    uint64_t limb[4];
};

enum { INTEGER = 3, TERMS = 46 }; /* 2^-192 < 46!^-1 (ln 2)^46 needs no further term */

static const struct fixed ln2 = {
    {0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab, 0}};

static bool less(const struct fixed *a, const struct fixed *b)
{
    for (int k = INTEGER; k > 0; k--)
        if (a->limb[k] != b->limb[k])
            return a->limb[k] < b->limb[k];
    return a->limb[0] < b->limb[0];
}

static void subtract(struct fixed *a, const struct fixed *b)
{
    uint64_t borrow = 0;
    for (int k = 0; k < 4; k++) {
        wide part = (wide)a->limb[k] - b->limb[k] - borrow;
        a->limb[k] = (uint64_t)part;
        borrow = (uint64_t)(part >> 64) & 1;
    }
}

static void add(struct fixed *a, const struct fixed *b)
{
    wide carry = 0;
    for (int k = 0; k < 4; k++) {
        carry += (wide)a->limb[k] + b->limb[k];
        a->limb[k] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* floor(a b), to the last bit; the product must be below 2^64. */
static struct fixed multiply(const struct fixed *a, const struct fixed *b)
{
    uint64_t product[8] = {0};
    struct fixed out;
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 4; k++) {
            wide part = (wide)a->limb[i] * b->limb[k] + product[i + k] + carry;
            product[i + k] = (uint64_t)part;
            carry = (uint64_t)(part >> 64);
        }
        product[i + 4] = carry;
    }
    memcpy(out.limb, product + NOISE_LIMBS, sizeof out.limb);
    return out;
}

static void divide_small(struct fixed *a, uint64_t divisor)
{
    uint64_t rest = 0;
    for (int k = INTEGER; k >= 0; k--) {
        wide part = (wide)rest << 64 | a->limb[k];
        a->limb[k] = (uint64_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
}

static void shift_right(struct fixed *a, unsigned count)
{
    for (; count >= 64; count -= 64) {
        memmove(a->limb, a->limb + 1, 3 * sizeof a->limb[0]);
        a->limb[INTEGER] = 0;
    }
    if (count == 0)
        return;
    for (int k = 0; k < INTEGER; k++)
        a->limb[k] = a->limb[k] >> count | a->limb[k + 1] << (64 - count);
    a->limb[INTEGER] >>= count;
}

/* Leaves t modulo ln 2 in t and returns floor(t / ln 2); t < 2^8. */
static unsigned reduce(struct fixed *t)
{
    unsigned n = 0;
    for (unsigned bit = 256; bit > 0; bit >>= 1) {
        struct fixed multiple = ln2;
        struct fixed factor = {{0, 0, 0, bit}};
        multiple = multiply(&multiple, &factor);
        if (!less(t, &multiple)) {
            subtract(t, &multiple);
            n += bit;
        }
    }
    return n;
}

/* exp(-t), 0 <= t < 2^8: E = 1 - r (1 - r/2 (1 - r/3 ...)) with r = t mod ln 2. */
static struct fixed exponential(struct fixed t)
{
    unsigned n = reduce(&t);
    struct fixed e = {{0, 0, 0, 1}};
    for (uint64_t k = TERMS; k > 0; k--) {
        struct fixed one = {{0, 0, 0, 1}};
        struct fixed term = multiply(&t, &e);
        divide_small(&term, k);
        subtract(&one, &term);
        e = one;
    }
    shift_right(&e, n);
    return e;
}

/* x = w U in units of 2^-232 grid steps, which takes 272 bits. */
static void position(uint64_t x[5], const struct noise_trial *trial,
                     const struct noise_digits *digits, uint64_t width)
{
    uint64_t u = trial->word & NOISE_WIDTH_MASK;
    const uint64_t limbs[4] = {digits->u_low, digits->u_high,
                               (trial->fraction & NOISE_WIDTH_MASK) | u << 52, u >> 12};
    uint64_t carry = 0;
    for (int k = 0; k < 4; k++) {
        wide part = (wide)limbs[k] * width + carry;
        x[k] = (uint64_t)part;
        carry = (uint64_t)(part >> 64);
    }
    x[4] = carry;
}

/* ratio = x / s0, with 192 fraction bits of the 232: the lower bits are dropped. */
static void divide_by_deviation(struct fixed *ratio, const uint64_t x[5])
{
    enum { CUT = 232 + NOISE_STDDEV_BITS - 192, LIMBS = CUT / 64, BITS = CUT % 64 };
    for (int k = 0; k <= INTEGER; k++) {
        uint64_t low = k + LIMBS < 5 ? x[k + LIMBS] : 0;
        uint64_t high = k + LIMBS + 1 < 5 ? x[k + LIMBS + 1] : 0;
        ratio->limb[k] = low >> BITS | high << (64 - BITS);
    }
}

bool noise_exact(const struct noise_table *table, const struct noise_trial *trial,
                 const struct noise_digits *digits, uint64_t *magnitude)
{
    size_t layer = trial->word >> 52 & (NOISE_LAYERS - 1);
    uint64_t x[5];
    struct fixed ratio, t, f, y, height = {{0}}, base = {{0}};
    struct fixed v = {{digits->v_low, digits->v_high, trial->height, 0}};

    position(x, trial, digits, table->entry[layer] & NOISE_WIDTH_MASK);
    *magnitude = x[3] >> 40 | x[4] << 24;

    divide_by_deviation(&ratio, x);
    t = multiply(&ratio, &ratio);
    shift_right(&t, 1);
    f = exponential(t);

    memcpy(height.limb, table->height[layer], sizeof table->height[layer]);
    memcpy(base.limb, table->base[layer], sizeof table->base[layer]);
    y = multiply(&height, &v);
    add(&y, &base);
    return less(&y, &f);
}
