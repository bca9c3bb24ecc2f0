/* The digits are collected into one integer of up to 19 digits and a power of ten
 * (struct decimal), up to eight at a time. If both are exact doubles, the processor
 * rounds one multiplication or division once, and the result is the nearest double
 * (Clinger 1990). If they fit in 128-bit integers, the product or quotient is computed
 * there and rounded once by round_wide. All other numbers, which are rare, go to strtod
 * under a C locale. */
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

/* 10^22 is the last power of ten that a double holds exactly, 5^27 the last of five
 * that fits in 63 bits. */
enum {
    POWER_EXACT_MAX = 22,
    POWER_WIDE_MAX = 27,
    DOUBLE_BITS = 53,
    DOUBLE_BIAS = 1023,
    DIGITS_MAX = 19 /* any number of so few digits fits in 64 bits */
};

/* A number below this still fits in 64 bits when one more digit is appended. */
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

/* The powers of five up to 5^27. */
static const uint64_t powers_of_five[POWER_WIDE_MAX + 1] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    6103515625,
    30517578125,
    152587890625,
    762939453125,
    3814697265625,
    19073486328125,
    95367431640625,
    476837158203125,
    2384185791015625,
    11920928955078125,
    59604644775390625,
    298023223876953125,
    1490116119384765625,
    7450580596923828125,
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the first character of a word is its lowest byte");

/* Returns the number of leading digits in the eight characters of a word. A byte that
 * is not a digit keeps its top bit, or gets it when 0x76 is added. Its carry can change
 * only the bytes after it. */
static unsigned leading_digits(uint64_t word)
{
    uint64_t values = word ^ 0x3030303030303030;
    uint64_t others = ((values + 0x7676767676767676) | values) & 0x8080808080808080;
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* Returns the number that the first count characters, which are digits, represent; 0 <
 * count <= 8. They are shifted so that zeros precede them, and then combined to pairs,
 * to groups of four and to all eight. */
static uint64_t number_of(uint64_t word, unsigned count)
{
    word = (word & 0x0f0f0f0f0f0f0f0f) << (64 - 8 * count);
    word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ff;
    word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffff;
    return (word * 10000 + (word >> 32)) & 0xffffffff;
}

/* Appends the digits at text to digits and returns the place after them. Digits
 * overflow 64 bits silently; up to 19 digits in all do not. */
static inline const char *append_digits(uint64_t *digits, const char *text,
                                        const char *end)
{
    static const uint64_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    while (end - text >= 8) {
        uint64_t word;
        memcpy(&word, text, sizeof word);
        unsigned count = leading_digits(word);
        if (count == 0)
            return text;
        *digits = *digits * powers[count] + number_of(word, count);
        text += count;
        if (count < 8)
            return text;
    }
    for (; text < end && (unsigned char)(*text - '0') < 10; text++)
        *digits = *digits * 10 + (unsigned char)(*text - '0');
    return text;
}

/* Reads any number of digits; if some no longer fit, sets cut. */
static const char *append_many(struct decimal *decimal, const char *text,
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

/* Reads an exponent and returns the place after it, or text itself if there is no
 * complete exponent. */
__attribute__((always_inline)) static inline const char *
read_exponent(struct decimal *decimal, const char *text, const char *end)
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

/* 2^exponent, a normal double. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + DOUBLE_BIAS) << (DOUBLE_BITS - 1);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The double nearest to value x 2^exponent, ties to even; value > 0. The processor
 * rounds once, from the upper 62 bits and one bit that is set if any lower bit is. The
 * result is far inside the normal range (see scale_wide), so the power of two is
 * exact. */
static double round_wide(wide value, int exponent)
{
    int drop = width_of(value) - 62;
    uint64_t kept = (uint64_t)value;
    if (drop > 0) {
        kept = (uint64_t)(value >> drop);
        kept |= (value & (((wide)1 << drop) - 1)) != 0;
        exponent += drop;
    }
    return (double)(int64_t)kept * power_of_two(exponent);
}

/* 10^e = 5^e x 2^e. Dividend and divisor are shifted so that the quotient has 62 or 63
 * bits and fits in a word. Its last bit can then mean "the remainder is not zero"
 * without changing the rounding. */
static double scale_wide(uint64_t digits, int exponent)
{
    if (exponent >= 0)
        return round_wide((wide)digits * powers_of_five[exponent], exponent);
    int up = __builtin_clzll(digits);
    uint64_t divisor = powers_of_five[-exponent];
    int divisor_up = __builtin_clzll(divisor);
    divisor <<= divisor_up;
    wide dividend = (wide)(digits << up) << 62;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    if ((wide)quotient * divisor != dividend)
        quotient |= 1;
    return (double)(int64_t)quotient * power_of_two(exponent + divisor_up - up - 62);
}

/* Reads the rare numbers: of more than 19 digits, or with a large exponent. */
static double read_slowly(const char *text, size_t size)
{
    char copy[DECIMAL_SIZE_MAX + 1];
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *comma = memchr(copy, ',', size);
    if (comma != NULL)
        *comma = '.';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    CHECK(c != (locale_t)0);
    locale_t before = uselocale(c);
    double value = strtod(copy, NULL);
    uselocale(before);
    freelocale(c);
    return value;
}

__attribute__((always_inline)) static inline double
scale_decimal(const struct decimal *decimal, const char *text, size_t size)
{
    int64_t exponent = decimal->exponent;
    uint64_t digits = decimal->digits;
    if (decimal->cut || exponent < -POWER_WIDE_MAX || exponent > POWER_WIDE_MAX)
        return read_slowly(text, size);
    if (digits == 0)
        return 0;
    if (digits > DOUBLE_WHOLE_MAX || exponent < -POWER_EXACT_MAX ||
        exponent > POWER_EXACT_MAX)
        return scale_wide(digits, (int)exponent);
    double whole = (double)(int64_t)digits;
    return exponent < 0 ? whole / powers_of_ten[-exponent]
                        : whole * powers_of_ten[exponent];
}

/* Reads digits, and an optional point among them, from text on; NULL if there is no
 * digit. The sign of the point is known when the function is compiled. */
__attribute__((always_inline)) static inline const char *
read_digits(struct decimal *decimal, const char *text, const char *end, char sign)
{
    const char *at = text;
    for (; at < end && (unsigned char)(*at - '0') < 10; at++)
        decimal->digits = decimal->digits * 10 + (unsigned char)(*at - '0');
    const char *point = at;
    bool has_point = at < end && *at == sign;
    if (has_point)
        at = append_digits(&decimal->digits, at + 1, end);
    ptrdiff_t count = at - text - has_point;
    if (count == 0)
        return NULL;
    if (has_point)
        decimal->exponent = point + 1 - at;
    if (count <= DIGITS_MAX)
        return at;
    *decimal = (struct decimal){0};
    at = append_many(decimal, text, end, 0);
    return has_point ? append_many(decimal, at + 1, end, -1) : at;
}

/* Returns whether a number of one digit is at text; most values of sparse data are such
 * numbers. No character before the point, or before a comma that stands for it, in
 * ASCII continues a number. */
static inline bool is_digit_alone(const char *text, const char *end, char sign)
{
    return end - text >= 2 && (unsigned char)(text[0] - '0') < 10 &&
           (unsigned char)text[1] < (unsigned char)sign;
}

__attribute__((always_inline)) static inline const char *
read_with(double *value, const char *text, const char *end, char sign)
{
    if (is_digit_alone(text, end, sign)) {
        *value = text[0] - '0';
        return text + 1;
    }
    const char *at = text;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *first = at;
    struct decimal decimal = {0};
    at = read_digits(&decimal, at, end, sign);
    if (at == NULL)
        return NULL;
    at = read_exponent(&decimal, at, end);
    if (at - first > DECIMAL_SIZE_MAX)
        return NULL;
    double magnitude = scale_decimal(&decimal, first, (size_t)(at - first));
    *value = negative ? -magnitude : magnitude;
    return at;
}

const char *decimal_read(double *value, const char *text, const char *end)
{
    return read_with(value, text, end, '.');
}

const char *decimal_read_comma(double *value, const char *text, const char *end)
{
    return read_with(value, text, end, ',');
}
