#include "engine/text/basic_tokenizer.h"

void basic_tokenizer_init(struct basic_tokenizer *tokenizer, const char *text,
                          size_t size, bool lower)
{
    *tokenizer = (struct basic_tokenizer){.text = text, .size = size, .lower = lower};
}

/* Rule 1: returns whether the character stays, and makes white space a space. */
static bool clean(int32_t *code, unsigned traits)
{
    if (*code == UNICODE_INVALID || *code == 0 || *code == UNICODE_REPLACEMENT)
        return false;
    if (*code == '\t' || *code == '\n' || *code == '\r') {
        *code = ' ';
        return true;
    }
    if ((traits & UNICODE_CONTROL) != 0)
        return false;
    if ((traits & UNICODE_SPACE) != 0)
        *code = ' ';
    return true;
}

/* Reads one character of the text; afterwards up to six wait, or none. */
static void read_character(struct basic_tokenizer *t)
{
    int32_t code;
    t->position += unicode_decode(&code, t->text + t->position, t->size - t->position);
    t->waiting_next = t->waiting_count = 0;
    unsigned traits = unicode_traits(code);
    if (!clean(&code, traits))
        return;
    bool alone = (traits & UNICODE_IDEOGRAPH) != 0;
    if (alone)
        t->waiting[t->waiting_count++] = ' ';
    if (t->lower)
        t->waiting_count += unicode_decompose(t->waiting + t->waiting_count, code);
    else
        t->waiting[t->waiting_count++] = code;
    if (alone)
        t->waiting[t->waiting_count++] = ' ';
}

static bool has_waiting(struct basic_tokenizer *t)
{
    while (t->waiting_next == t->waiting_count && t->position < t->size)
        read_character(t);
    return t->waiting_next < t->waiting_count;
}

/* Appends the character. In NFD adjacent marks are in the order of their combining
 * classes; equal classes keep their order, and a character of class 0 stays in its place
 * and separates those before it from those behind it, even if it is left out. */
static void append(struct basic_word *word, int32_t code, unsigned traits, bool lower)
{
    unsigned order = lower ? unicode_combining_class(code) : 0;
    bool is_dropped = lower && (traits & UNICODE_MARK) != 0;
    if (!is_dropped && word->count == BASIC_WORD_CHARACTERS_MAX) {
        word->is_too_long = true;
    } else if (!is_dropped) {
        size_t place = word->count++;
        for (; order > 0 && place > word->marks &&
               unicode_combining_class(word->codes[place - 1]) > order;
             place--)
            word->codes[place] = word->codes[place - 1];
        word->codes[place] = lower ? unicode_lower(code) : code;
    }
    if (order == 0)
        word->marks = word->count;
}

bool basic_tokenizer_next(struct basic_tokenizer *tokenizer, struct basic_word *word)
{
    word->count = word->marks = 0;
    word->is_too_long = false;
    while (has_waiting(tokenizer)) {
        int32_t code = tokenizer->waiting[tokenizer->waiting_next];
        unsigned traits = unicode_traits(code);
        bool is_punctuation = (traits & UNICODE_PUNCTUATION) != 0;
        if (word->count > 0 && (is_punctuation || code == ' '))
            return true;
        tokenizer->waiting_next++;
        if (code == ' ')
            word->marks = 0;
        else
            append(word, code, traits, tokenizer->lower);
        if (is_punctuation)
            return true;
    }
    return word->count > 0;
}
