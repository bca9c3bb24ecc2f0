/*
 * tokenizer_fixture.h - opens tokenizers whose files are texts in the test, and encodes
 * texts by them.
 */
#ifndef TESTS_ENGINE_TEXT_TOKENIZER_FIXTURE_H
#define TESTS_ENGINE_TEXT_TOKENIZER_FIXTURE_H

#include <string.h>
#include <sys/mman.h>

#include "engine/text/tokenizer.h"

/* TEXT("...") is a constant; text_of takes any text of C, without its terminator. */
#define TEXT(literal)                                                                  \
    {                                                                                  \
        literal, sizeof(literal) - 1                                                   \
    }
static inline struct text text_of(const char *text)
{
    return (struct text){text, strlen(text)};
}

/* Opens a tokenizer whose files have these bytes; they have no name on a disk. */
static inline enum status open_texts(struct tokenizer **out,
                                     const struct tokenizer_kind *kind,
                                     const struct text *files,
                                     struct tokenizer_options options,
                                     struct error *error)
{
    char paths[TOKENIZER_FILES_MAX][64];
    const char *names[TOKENIZER_FILES_MAX] = {NULL};
    int opened[TOKENIZER_FILES_MAX];
    size_t count = 0;
    for (; count < TOKENIZER_FILES_MAX && kind->files[count] != NULL; count++) {
        opened[count] = memfd_create("tokenizer", MFD_CLOEXEC);
        assert_true(opened[count] >= 0);
        assert_int_equal(write(opened[count], files[count].bytes, files[count].size),
                         files[count].size);
        snprintf(paths[count], sizeof paths[count], "/proc/self/fd/%d", opened[count]);
        names[count] = paths[count];
    }
    enum status status = tokenizer_open(out, kind, names, &options, error);
    for (size_t i = 0; i < count; i++)
        close(opened[i]);
    return status;
}

/* Opens a tokenizer that must open. */
static inline struct tokenizer *opened(const struct tokenizer_kind *kind,
                                       const struct text *files,
                                       struct tokenizer_options options)
{
    struct tokenizer *tokenizer = NULL;
    struct error error = {0};
    if (open_texts(&tokenizer, kind, files, options, &error) != ST_OK)
        fail_msg("%s", error.text);
    return tokenizer;
}

/* The text must have exactly these ids; the list ends with -1. */
static inline void expect_ids(const struct tokenizer *tokenizer, struct text text,
                              const int32_t *expected)
{
    int32_t ids[64];
    assert_int_equal(tokenizer_encode(tokenizer, &text, 1, ids, 64, NULL), ST_OK);
    size_t i = 0;
    do
        assert_int_equal(ids[i], expected[i]);
    while (expected[i++] != -1);
}
#define assert_ids(tokenizer, text, ...)                                               \
    expect_ids((tokenizer), (text), (const int32_t[]){__VA_ARGS__, -1})

/* Opening must be refused, and the error must be this text. */
static inline void expect_refused(const struct tokenizer_kind *kind,
                                  const struct text *files,
                                  struct tokenizer_options options, const char *text)
{
    struct tokenizer *tokenizer = NULL;
    struct error error = {0};
    assert_int_equal(open_texts(&tokenizer, kind, files, options, &error), ST_INVALID);
    assert_null(tokenizer);
    assert_int_equal(error.status, ST_INVALID);
    assert_string_equal(error.text, text);
}

#endif
