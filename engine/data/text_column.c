#include "engine/data/text_column.h"

#include <string.h>

#include "base/check.h"

size_t text_column_files(const struct text_column *column)
{
    size_t count = 0;
    while (count < TOKENIZER_FILES_MAX && column->kind->files[count] != NULL)
        count++;
    return count;
}

static bool options_agree(const struct tokenizer_options *a,
                          const struct tokenizer_options *b)
{
    return a->lower == b->lower && a->prefix_space == b->prefix_space &&
           a->framed == b->framed;
}

bool text_column_shares_tokenizer(const struct text_column *a,
                                  const struct text_column *b)
{
    if (a->kind != b->kind || !options_agree(&a->options, &b->options))
        return false;
    for (size_t i = 0; i < text_column_files(a); i++)
        if (strcmp(a->sha256[i], b->sha256[i]) != 0)
            return false;
    return true;
}

bool text_column_agrees(const struct text_column *a, const struct text_column *b)
{
    return a->length == b->length && text_column_shares_tokenizer(a, b);
}

enum status text_column_encode(const struct text_column *column,
                               const struct tokenizer *tokenizer, struct text text,
                               float *row, struct error *error)
{
    int32_t ids[TEXT_COLUMN_LENGTH_MAX];
    CHECK(tokenizer != NULL && column->length <= TEXT_COLUMN_LENGTH_MAX);
    enum status status =
        tokenizer_encode(tokenizer, &text, 1, ids, column->length, error);
    for (size_t t = 0; t < column->length && status == ST_OK; t++)
        row[t] = (float)ids[t];
    return status;
}
