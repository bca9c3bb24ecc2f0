/* wordpiece - the tokenizer of BERT (Devlin et al. 2019; Wu et al. 2016, 4.1).
 *
 *   vocab.txt   a token on each line; its id is the number of its line, from 0. A token
 *               that begins with ## continues a word.
 *
 * Each word of the basic tokenizer becomes the longest token that it begins with, then
 * the longest ## token that goes on, and so to its end. If some part has no token, or the
 * word has more than BASIC_WORD_CHARACTERS_MAX characters, the whole word is [UNK]. */
#include <stdlib.h>

#include "engine/text/basic_tokenizer.h"
#include "engine/text/text_lines.h"
#include "engine/text/vocabulary.h"

#define FILE_NAME "vocab.txt"

struct wordpiece {
    struct vocabulary *vocabulary;
    struct token_range all, continued; /* tokens that begin a word, or go on with one */
    uint32_t unknown;
    bool lower;
};

struct pieces {
    uint32_t ids[BASIC_WORD_CHARACTERS_MAX];
    size_t count;
};

static enum status check_line(struct text line, size_t number, struct error *error)
{
    if (line.size == 0)
        return error_set(error, ST_INVALID,
                         FILE_NAME ": line %zu is empty: " TOKENIZER_ADVICE, number);
    if (line.size > VOCABULARY_TOKEN_SIZE_MAX)
        return error_set(error, ST_INVALID,
                         FILE_NAME
                         ": line %zu has more than %d bytes: is it a vocabulary, "
                         "with one token on each line?",
                         number, VOCABULARY_TOKEN_SIZE_MAX);
    for (size_t i = 0; i < line.size;) {
        int32_t code;
        i += unicode_decode(&code, line.bytes + i, line.size - i);
        if (code == UNICODE_INVALID)
            return error_set(error, ST_INVALID,
                             FILE_NAME ": line %zu is not UTF-8: save it as UTF-8",
                             number);
    }
    return ST_OK;
}

static enum status read_lines(struct token *tokens, struct text rest,
                              struct error *error)
{
    struct text line;
    for (size_t i = 0; text_lines_next(&rest, &line); i++) {
        enum status status = check_line(line, i + 1, error);
        if (status != ST_OK)
            return status;
        tokens[i] = (struct token){line.bytes, (uint32_t)line.size};
    }
    return ST_OK;
}

static enum status create_vocabulary(struct vocabulary **out, struct text file,
                                     uint32_t count, struct error *error)
{
    uint32_t repeated[2];
    struct token *tokens = calloc(count, sizeof *tokens);
    if (tokens == NULL)
        return error_set(error, ST_NO_MEMORY, FILE_NAME ": no memory for its tokens");
    enum status status = read_lines(tokens, file, error);
    if (status == ST_OK) {
        status = vocabulary_create(out, tokens, count, repeated);
        if (status == ST_INVALID)
            error_set(error, status,
                      FILE_NAME
                      ": lines %u and %u are the same token: " TOKENIZER_ADVICE,
                      repeated[0] + 1, repeated[1] + 1);
        else if (status != ST_OK)
            error_set(error, status, FILE_NAME ": no memory for its tokens");
    }
    free(tokens);
    return status;
}

static int32_t find_or_none(const struct vocabulary *vocabulary, const char *token,
                            size_t size)
{
    uint32_t id = vocabulary_find(vocabulary, token, size);
    return id == VOCABULARY_ABSENT ? -1 : (int32_t)id;
}

static void wordpiece_destroy(void *state)
{
    struct wordpiece *wordpiece = state;
    if (wordpiece == NULL)
        return;
    vocabulary_destroy(wordpiece->vocabulary);
    free(wordpiece);
}

static enum status wordpiece_open(struct tokenizer_model *model,
                                  const struct text *files,
                                  const struct tokenizer_options *options,
                                  struct error *error)
{
    struct vocabulary *vocabulary;
    size_t count = text_lines_count(files[0]);
    if (count > VOCABULARY_TOKENS_MAX)
        return error_set(error, ST_INVALID, FILE_NAME ": has more than %d tokens",
                         VOCABULARY_TOKENS_MAX);
    if (count == 0)
        return error_set(error, ST_INVALID, FILE_NAME ": is empty");
    enum status status =
        create_vocabulary(&vocabulary, files[0], (uint32_t)count, error);
    if (status != ST_OK)
        return status;
    uint32_t unknown = vocabulary_find(vocabulary, "[UNK]", 5);
    struct wordpiece *wordpiece = calloc(1, sizeof *wordpiece);
    if (unknown == VOCABULARY_ABSENT || wordpiece == NULL) {
        vocabulary_destroy(vocabulary);
        free(wordpiece);
        return unknown == VOCABULARY_ABSENT
                   ? error_set(error, ST_INVALID,
                               FILE_NAME ": no line is [UNK], the token of unknown "
                                         "words: " TOKENIZER_ADVICE)
                   : error_set(error, ST_NO_MEMORY, FILE_NAME ": no memory");
    }
    struct token_range all = vocabulary_all(vocabulary), continued = all;
    (void)(vocabulary_narrow(vocabulary, &continued, '#') &&
           vocabulary_narrow(vocabulary, &continued, '#'));
    *wordpiece =
        (struct wordpiece){vocabulary, all, continued, unknown, options->lower};
    *model = (struct tokenizer_model){wordpiece, (uint32_t)count,
                                      find_or_none(vocabulary, "[CLS]", 5),
                                      find_or_none(vocabulary, "[SEP]", 5)};
    return ST_OK;
}

/* Returns the bytes of the longest token of the range that text[0..size) begins with,
 * without the range's common ones, and its id; 0 if there is none. */
static size_t longest(const struct wordpiece *wordpiece, uint32_t *id,
                      struct token_range range, const char *text, size_t size)
{
    size_t found = 0;
    for (size_t i = 0; i < size; i++) {
        if (!vocabulary_narrow(wordpiece->vocabulary, &range, (unsigned char)text[i]))
            break;
        uint32_t whole = vocabulary_whole(wordpiece->vocabulary, &range);
        if (whole != VOCABULARY_ABSENT) {
            *id = whole;
            found = i + 1;
        }
    }
    return found;
}

/* Returns whether every part of the word has a token. */
static bool find_pieces(const struct wordpiece *wordpiece,
                        const struct basic_word *word, struct pieces *pieces)
{
    char text[BASIC_WORD_CHARACTERS_MAX * UNICODE_SIZE_MAX];
    size_t size = 0;
    pieces->count = 0;
    if (word->is_too_long)
        return false;
    for (size_t i = 0; i < word->count; i++)
        size += unicode_encode(text + size, word->codes[i]);
    for (size_t at = 0; at < size; pieces->count++) {
        size_t used = longest(wordpiece, &pieces->ids[pieces->count],
                              at == 0 ? wordpiece->all : wordpiece->continued,
                              text + at, size - at);
        if (used == 0)
            return false;
        at += used;
    }
    return true;
}

static enum status wordpiece_encode(const void *state, struct text text,
                                    struct id_list *list)
{
    const struct wordpiece *wordpiece = state;
    struct basic_tokenizer words;
    struct basic_word word;
    struct pieces pieces;
    bool takes_more = list->count < list->room;

    basic_tokenizer_init(&words, text.bytes, text.size, wordpiece->lower);
    while (takes_more && basic_tokenizer_next(&words, &word)) {
        if (!find_pieces(wordpiece, &word, &pieces))
            pieces = (struct pieces){{wordpiece->unknown}, 1};
        for (size_t i = 0; i < pieces.count; i++)
            takes_more = id_list_put(list, pieces.ids[i]);
    }
    return ST_OK;
}

const struct tokenizer_kind wordpiece_tokenizer = {
    .name = "wordpiece",
    .files = {FILE_NAME},
    .has_lower = true,
    .frame_start = "[CLS]",
    .frame_end = "[SEP]",
    .frame_between = 1,
    .open = wordpiece_open,
    .encode = wordpiece_encode,
    .destroy = wordpiece_destroy,
};
