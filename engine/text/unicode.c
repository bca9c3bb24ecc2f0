#include "engine/text/unicode.h"

#include <stdbool.h>
#include <utf8proc.h>

#include "base/check.h"

size_t unicode_decode(int32_t *code, const char *text, size_t size)
{
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)size, code);
    if (used > 0)
        return (size_t)used;
    *code = UNICODE_INVALID;
    return 1;
}

size_t unicode_encode(char text[UNICODE_SIZE_MAX], int32_t code)
{
    utf8proc_ssize_t used = utf8proc_encode_char(code, (utf8proc_uint8_t *)text);
    CHECK(used > 0);
    return (size_t)used;
}

static unsigned traits_of_category(utf8proc_category_t category)
{
    switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return UNICODE_LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return UNICODE_NUMBER;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return UNICODE_PUNCTUATION;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return UNICODE_SPACE;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO: return UNICODE_CONTROL;
    case UTF8PROC_CATEGORY_MN: return UNICODE_MARK;
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO: return 0;
    }
    return 0;
}

/* The blocks that BERT's basic tokenizer calls CJK (Devlin et al. 2019, tokenization.py,
 * _is_chinese_char): no kana and no hangul, which are written with spaces or not, but
 * not one character a word. */
static bool is_ideograph(int32_t code)
{
    static const struct {
        int32_t first, last;
    } blocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                  {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                  {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (code >= blocks[i].first && code <= blocks[i].last)
            return true;
    return false;
}

unsigned unicode_traits(int32_t code)
{
    if (code == UNICODE_INVALID)
        return 0;
    unsigned traits = traits_of_category(utf8proc_category(code));
    if ((code >= 0x09 && code <= 0x0D) || code == 0x85)
        traits |= UNICODE_SPACE;
    if (code > ' ' && code < 0x7F && (traits & (UNICODE_LETTER | UNICODE_NUMBER)) == 0)
        traits |= UNICODE_PUNCTUATION;
    if (code >= 0x3400 && is_ideograph(code))
        traits |= UNICODE_IDEOGRAPH;
    return traits;
}

size_t unicode_decompose(int32_t out[UNICODE_DECOMPOSED_MAX], int32_t code)
{
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(code, out, UNICODE_DECOMPOSED_MAX,
                                                     UTF8PROC_DECOMPOSE, &boundary);
    CHECK(count > 0 && count <= UNICODE_DECOMPOSED_MAX);
    return (size_t)count;
}

unsigned unicode_combining_class(int32_t code)
{
    return (unsigned)utf8proc_get_property(code)->combining_class;
}

int32_t unicode_lower(int32_t code)
{
    return utf8proc_tolower(code);
}
