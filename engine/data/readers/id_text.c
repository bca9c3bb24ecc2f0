#include "engine/data/readers/id_text.h"

#include <stdbool.h>
#include <stdint.h>

enum { ASCII_END = 0x80, CODE_POINT_MAX = 0x10FFFF };

struct range {
    uint32_t first, last;
    const char *name;
};

#define CONTROL   "a control character"
#define FORMAT    "an invisible format character"
#define SPACE     "a space other than the ordinary one"
#define INVISIBLE "an invisible character"

/* Unicode 15.0: the categories Cc, Cf, Zs, Zl and Zp, and Default_Ignorable_Code_Point;
 * in ascending order. */
static const struct range hidden[] = {
    {0x0, 0x0, "a NUL"},
    {0x1, 0x8, CONTROL},
    {0x9, 0x9, "a tab"},
    {0xA, 0xA, "a line feed"},
    {0xB, 0xC, CONTROL},
    {0xD, 0xD, "a carriage return"},
    {0xE, 0x1F, CONTROL},
    {0x7F, 0x9F, CONTROL},
    {0xA0, 0xA0, "a no-break space"},
    {0xAD, 0xAD, "a soft hyphen"},
    {0x34F, 0x34F, INVISIBLE},
    {0x600, 0x605, FORMAT},
    {0x61C, 0x61C, FORMAT},
    {0x6DD, 0x6DD, FORMAT},
    {0x70F, 0x70F, FORMAT},
    {0x890, 0x891, FORMAT},
    {0x8E2, 0x8E2, FORMAT},
    {0x115F, 0x1160, INVISIBLE},
    {0x1680, 0x1680, SPACE},
    {0x17B4, 0x17B5, INVISIBLE},
    {0x180B, 0x180F, INVISIBLE},
    {0x2000, 0x200A, SPACE},
    {0x200B, 0x200D, "a zero-width character"},
    {0x200E, 0x200F, FORMAT},
    {0x2028, 0x2029, "a line or paragraph separator"},
    {0x202A, 0x202E, FORMAT},
    {0x202F, 0x202F, "a no-break space"},
    {0x205F, 0x205F, SPACE},
    {0x2060, 0x206F, FORMAT},
    {0x3000, 0x3000, SPACE},
    {0x3164, 0x3164, INVISIBLE},
    {0xFE00, 0xFE0F, INVISIBLE},
    {0xFEFF, 0xFEFF, "a byte order mark"},
    {0xFFA0, 0xFFA0, INVISIBLE},
    {0xFFF0, 0xFFFB, FORMAT},
    {0x110BD, 0x110BD, FORMAT},
    {0x110CD, 0x110CD, FORMAT},
    {0x13430, 0x1343F, FORMAT},
    {0x1BCA0, 0x1BCA3, FORMAT},
    {0x1D173, 0x1D17A, FORMAT},
    {0xE0000, 0xE0FFF, INVISIBLE},
};

/* Returns the number of bytes of the sequence that begins with this byte; 0 if no
 * sequence does. */
static size_t sequence_size(unsigned char first)
{
    if (first < ASCII_END)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/* Decodes the sequence at text, which ends before end. Returns its size, or 0 if it is
 * not UTF-8: cut short, longer than needed, a surrogate, or above the last code
 * point. */
static size_t decode(uint32_t *code, const char *text, const char *end)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t size = sequence_size((unsigned char)*text);
    if (size == 0 || (size_t)(end - text) < size)
        return 0;
    uint32_t value = (unsigned char)text[0] & lead_bits[size];
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | ((unsigned char)text[i] & 0x3F);
    }
    bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < smallest[size] || is_surrogate || value > CODE_POINT_MAX)
        return 0;
    *code = value;
    return size;
}

static const char *name_of(uint32_t code)
{
    size_t low = 0, high = sizeof hidden / sizeof *hidden;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > hidden[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_hidden = low < sizeof hidden / sizeof *hidden && code >= hidden[low].first;
    return is_hidden ? hidden[low].name : NULL;
}

const char *id_text_fault(const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        if (*text > ' ' && *text < '\x7F') { /* most ids are ASCII */
            text++;
            continue;
        }
        uint32_t code = 0;
        size_t length = decode(&code, text, end);
        if (length == 0)
            return "bytes that are not UTF-8";
        const char *name = name_of(code);
        if (name != NULL)
            return name;
        text += length;
    }
    return NULL;
}

bool id_text_is_utf8(const char *text, size_t size)
{
    const char *end = text + size;
    uint32_t code;
    for (size_t length; text < end; text += length) {
        length = decode(&code, text, end);
        if (length == 0)
            return false;
    }
    return true;
}
