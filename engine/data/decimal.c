/* How it works: the digits are gathered into one integer of up to 19 digits and a power of
 * ten (struct decimal). Where both are exact doubles, one multiplication or division is
 * rounded once by the processor and is the nearest double (Clinger 1990). Where they fit
 * in 128-bit integers, the product or quotient is taken there and rounded once by
 * round_wide. The rest, which is rare, goes to strtod under a C locale. */
#include "engine/data/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

__extension__ typedef unsigned __int128 wide;

/* 10^22 is the last power of ten that a double holds exactly, 5^27 the last of five that
 * fits in 63 bits. */
enum { POWER_EXACT_MAX = 22, POWER_WIDE_MAX = 27, DOUBLE_BITS = 53 };

/* A number below this stays inside 64 bits when one more digit is appended. */
#define DIGITS_ROOM      UINT64_C(1000000000000000000)
#define DOUBLE_WHOLE_MAX (UINT64_C(1) << DOUBLE_BITS)
#define EXPONENT_LIMIT   1000000 /* beyond any double, far from overflow */

static const double powers_of_ten[POWER_EXACT_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct decimal {     /* digits x 10^exponent */
    uint64_t digits; /* all of them, unless cut */
    int64_t exponent;
    bool cut;
};

static uint64_t power_of_five(int64_t exponent)
{
    uint64_t power = 1;
    for (int64_t i = 0; i < exponent; i++)
        power *= 5;
    return power;
}

static const char *read_digits(struct decimal *decimal, const char *text,
                               const char *end, int64_t place)
{
    for (; text < end && (unsigned char)(*text - '0') < 10; text++) {
        if (decimal->digits < DIGITS_ROOM) {
            decimal->digits = decimal->digits * 10 + (unsigned char)(*text - '0');
            decimal->exponent += place;
        } else {
            decimal->cut = true;
        }
    }
    return text;
}

/* Reads an exponent and returns the place behind it, or text itself where no whole
 * exponent stands there. */
static const char *read_exponent(struct decimal *decimal, const char *text,
                                 const char *end)
{
    const char *at = text;
    if (at == end || (*at | 0x20) != 'e')
        return text;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *first = at;
    int64_t exponent = 0;
    for (; at < end && (unsigned char)(*at - '0') < 10; at++) {
        if (exponent < EXPONENT_LIMIT)
            exponent = exponent * 10 + (*at - '0');
    }
    if (at == first)
        return text;
    decimal->exponent += negative ? -exponent : exponent;
    return at;
}

static int width_of(wide value)
{
    uint64_t high = (uint64_t)(value >> 64);
    return high != 0 ? 128 - __builtin_clzll(high)
                     : 64 - __builtin_clzll((uint64_t)value);
}

/* The double nearest to value x 2^exponent, ties to even; value > 0. */
static double round_wide(wide value, int exponent)
{
    int drop = width_of(value) - DOUBLE_BITS;
    if (drop <= 0)
        return ldexp((double)(uint64_t)value, exponent);
    wide half = (wide)1 << (drop - 1);
    wide rest = value & (((wide)1 << drop) - 1);
    uint64_t kept = (uint64_t)(value >> drop);
    if (rest > half || (rest == half && (kept & 1) != 0))
        kept++;
    return ldexp((double)kept, exponent + drop);
}

/* 10^e = 5^e x 2^e. The quotient keeps at least 64 bits, so its last one can say "and
 * something more" without touching the rounding. */
static double scale_wide(uint64_t digits, int64_t exponent)
{
    if (exponent >= 0)
        return round_wide((wide)digits * power_of_five(exponent), (int)exponent);
    int shift = 63 + __builtin_clzll(digits);
    uint64_t divisor = power_of_five(-exponent);
    wide dividend = (wide)digits << shift;
    wide quotient = dividend / divisor;
    if (dividend % divisor != 0)
        quotient |= 1;
    return round_wide(quotient, (int)exponent - shift);
}

/* Reads what is rare: numbers of more than 19 digits, or with a large exponent. */
static double read_slowly(const char *text, size_t size)
{
    char copy[DECIMAL_SIZE_MAX + 1];
    memcpy(copy, text, size);
    copy[size] = '\0';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    CHECK(c != (locale_t)0);
    locale_t before = uselocale(c);
    double value = strtod(copy, NULL);
    uselocale(before);
    freelocale(c);
    return value;
}

static double scale_decimal(const struct decimal *decimal, const char *text,
                            size_t size)
{
    int64_t exponent = decimal->exponent;
    uint64_t digits = decimal->digits;
    if (decimal->cut || exponent < -POWER_WIDE_MAX || exponent > POWER_WIDE_MAX)
        return read_slowly(text, size);
    if (digits == 0)
        return 0;
    if (digits > DOUBLE_WHOLE_MAX || exponent < -POWER_EXACT_MAX ||
        exponent > POWER_EXACT_MAX)
        return scale_wide(digits, exponent);
    return exponent < 0 ? (double)digits / powers_of_ten[-exponent]
                        : (double)digits * powers_of_ten[exponent];
}

const char *decimal_read(double *value, const char *text, const char *end)
{
    const char *at = text;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *first = at;
    struct decimal decimal = {0};
    at = read_digits(&decimal, at, end, 0);
    bool any = at > first;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = read_digits(&decimal, fraction, end, -1);
        any = any || at > fraction;
    }
    if (!any)
        return NULL;
    at = read_exponent(&decimal, at, end);
    if (at - first > DECIMAL_SIZE_MAX)
        return NULL;
    double magnitude = scale_decimal(&decimal, first, (size_t)(at - first));
    *value = negative ? -magnitude : magnitude;
    return at;
}
