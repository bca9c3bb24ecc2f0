/* Encodes texts, for tests/python/check_tokenizers.py:
 *   encode_texts KIND OPTION FILE...
 * OPTION is plain, lower, prefix_space or framed. Reads texts from standard input, each
 * after its bytes as a decimal number and a line feed, and prints the ids of each on a line.
 * Exit code 1: the tokenizer cannot be opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/text/tokenizer.h"

enum { LENGTH = 4096 };

static void encode(const struct tokenizer *tokenizer, const char *bytes, size_t size)
{
    static int32_t ids[LENGTH];
    struct text text = {bytes, size};
    CHECK(tokenizer_encode(tokenizer, &text, 1, ids, LENGTH, NULL) == ST_OK);
    for (size_t i = 0; i < LENGTH && ids[i] >= 0; i++)
        printf("%s%d", i == 0 ? "" : " ", ids[i]);
    printf("\n");
}

int main(int count, char **words)
{
    static char bytes[TOKENIZER_TEXT_SIZE_MAX];
    struct tokenizer *tokenizer;
    struct error error = {0};
    size_t size;
    CHECK(count > 2);
    const struct tokenizer_kind *kind = tokenizer_kind_find(words[1]);
    const struct tokenizer_options options = {
        .lower = strcmp(words[2], "lower") == 0,
        .prefix_space = strcmp(words[2], "prefix_space") == 0,
        .framed = strcmp(words[2], "framed") == 0,
    };
    CHECK(kind != NULL);
    if (tokenizer_open(&tokenizer, kind, (const char *const *)words + 3, &options,
                       &error) != ST_OK) {
        fprintf(stderr, "encode_texts: %s\n", error.text);
        return 1;
    }
    while (scanf("%zu", &size) == 1) {
        CHECK(getchar() == '\n' && size <= sizeof bytes);
        CHECK(fread(bytes, 1, size, stdin) == size);
        encode(tokenizer, bytes, size);
    }
    tokenizer_close(tokenizer);
    return 0;
}
