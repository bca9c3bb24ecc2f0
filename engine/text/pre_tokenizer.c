#include "engine/text/pre_tokenizer.h"

#include <string.h>

#include "engine/text/unicode.h"

enum kind { KIND_SPACE, KIND_LETTER, KIND_NUMBER, KIND_OTHER };

/* Returns the kind of the first character, and its bytes in size_of. */
static enum kind first_kind(size_t *size_of, const char *text, size_t size)
{
    int32_t code;
    *size_of = unicode_decode(&code, text, size);
    unsigned traits = unicode_traits(code);
    if ((traits & UNICODE_SPACE) != 0)
        return KIND_SPACE;
    if ((traits & UNICODE_LETTER) != 0)
        return KIND_LETTER;
    return (traits & UNICODE_NUMBER) != 0 ? KIND_NUMBER : KIND_OTHER;
}

/* Returns the bytes of the English ending at the beginning of the text, or 0. */
static size_t ending_size(const char *text, size_t size)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; text[0] == '\'' && i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (length <= size && memcmp(text, endings[i], length) == 0)
            return length;
    }
    return 0;
}

/* Returns the end of the run of characters of one kind that begins at `begin`; last is
 * where its last character begins. */
static size_t run_end(size_t *last, enum kind kind, size_t begin, const char *text,
                      size_t size)
{
    size_t end = begin, length;
    *last = begin;
    while (end < size && first_kind(&length, text + end, size - end) == kind) {
        *last = end;
        end += length;
    }
    return end;
}

size_t pre_tokenizer_piece(const char *text, size_t size)
{
    size_t length, last, ending = ending_size(text, size);
    if (ending > 0)
        return ending;
    enum kind kind = first_kind(&length, text, size);
    if (kind != KIND_SPACE)
        return run_end(&last, kind, 0, text, size);
    if (text[0] == ' ' && size > 1) {
        kind = first_kind(&length, text + 1, size - 1);
        if (kind != KIND_SPACE)
            return run_end(&last, kind, 1, text, size);
    }
    size_t end = run_end(&last, KIND_SPACE, 0, text, size);
    return end == size || last == 0 ? end : last;
}
