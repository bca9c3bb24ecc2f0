/* Goal: words become the longest pieces that the vocabulary has, and a vocabulary that
 * is none is refused. Method: small vocabularies whose ids are plain to see, the lengths
 * around each limit, and each refusal. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include "engine/text/vocabulary.h"
#include "tests/engine/text/tokenizer_fixture.h"

static struct tokenizer *open_words(const char *vocabulary)
{
    struct text file = text_of(vocabulary);
    return opened(&wordpiece_tokenizer, &file, (struct tokenizer_options){0});
}

static void refuse(struct text file, const char *error)
{
    expect_refused(&wordpiece_tokenizer, &file, (struct tokenizer_options){0}, error);
}

static void the_longest_piece_is_taken_first(void **state)
{
    struct tokenizer *t = open_words("[UNK]\nun\nunaff\n##aff\n##able\n##a\n##ab");
    (void)state;
    assert_ids(t, text_of("unaffable"), 2, 4);
    assert_ids(t, text_of("unaaff unab un"), 1, 5, 3, 1, 6, 1);
    tokenizer_close(t);
}

static void a_word_with_a_part_that_has_no_token_is_unknown(void **state)
{
    struct tokenizer *t = open_words("ab\n##c\n[UNK]\n##d\n##dx\n##\n");
    (void)state;
    /* Greedy: ##dx is taken, though ##d and another piece might fit. */
    assert_ids(t, text_of("abc abcx cd abdxy ab"), 0, 1, 2, 2, 2, 0);
    tokenizer_close(t);
}

static void a_piece_ends_with_its_character(void **state)
{
    /* U+00E9 and U+00E8 share their first byte. */
    struct tokenizer *t = open_words("[UNK]\na\n##\xc3\xa9\n\xc3\xa9\n");
    (void)state;
    assert_ids(t, text_of("a\xc3\xa9 a\xc3\xa8 \xc3\xa9"), 1, 2, 0, 3);
    tokenizer_close(t);
}

static void a_word_has_a_hundred_characters_at_most(void **state)
{
    struct tokenizer *t = open_words("[UNK]\n\xc3\xa9\n##\xc3\xa9\nb\n");
    char text[203];
    int32_t ids[128];
    (void)state;
    for (int i = 0; i < 101; i++)
        memcpy(text + 2 * i, "\xc3\xa9", 2);
    struct text word = {text, 200};
    assert_int_equal(tokenizer_encode(t, &word, 1, ids, 128, NULL), ST_OK);
    assert_int_equal(ids[0], 1);
    for (int i = 1; i < 100; i++)
        assert_int_equal(ids[i], 2);
    assert_int_equal(ids[100], -1);
    word.size = 202;
    assert_ids(t, word, 0);
    tokenizer_close(t);
}

static void control_words_of_a_text_are_text(void **state)
{
    struct tokenizer *t = open_words("[UNK]\n[\n]\n[CLS]\nCLS\n#\n##\n");
    (void)state;
    assert_ids(t, text_of("[CLS]##"), 1, 4, 2, 5, 5);
    tokenizer_close(t);
}

static void bytes_that_are_no_utf_8_are_left_out(void **state)
{
    struct tokenizer *t = open_words("[UNK]\nab\n");
    (void)state;
    assert_ids(t,
               text_of("a\xff\xc3\xe2\x82"
                       "b"),
               1);
    tokenizer_close(t);
}

static void a_row_that_is_full_takes_no_more(void **state)
{
    struct tokenizer *t = open_words("[UNK]\na\n##b\n");
    struct text text = text_of("ab abbb a");
    int32_t ids[4];
    (void)state;
    assert_int_equal(tokenizer_encode(t, &text, 1, ids, 4, NULL), ST_OK);
    assert_memory_equal(ids, ((int32_t[]){1, 2, 1, 2}), sizeof ids);
    tokenizer_close(t);
}

static void lines_may_end_as_on_windows(void **state)
{
    struct tokenizer *t = open_words("[UNK]\r\na\r\n##b\r\n");
    (void)state;
    assert_ids(t, text_of("ab"), 1, 2);
    assert_int_equal(tokenizer_vocabulary(t), 3);
    tokenizer_close(t);
}

static void a_file_that_is_no_vocabulary_is_refused(void **state)
{
    char line[VOCABULARY_TOKEN_SIZE_MAX + 16] = "[UNK]\n";
    (void)state;
    refuse(text_of(""), "vocab.txt: is empty");
    refuse(text_of("secret\n"),
           "vocab.txt: no line is [UNK], the token of unknown words: take the file "
           "that the model was published with");
    refuse(
        text_of("[UNK]\n\nsecret\n"),
        "vocab.txt: line 2 is empty: take the file that the model was published with");
    refuse(text_of("secret\n[UNK]\nx\nsecret"),
           "vocab.txt: lines 1 and 4 are the same token: take the file that the model "
           "was published with");
    refuse(text_of("[UNK]\nsecret\xff\n"),
           "vocab.txt: line 2 is not UTF-8: save it as UTF-8");
    memset(line + 6, 'x', VOCABULARY_TOKEN_SIZE_MAX + 1);
    refuse(text_of(line),
           "vocab.txt: line 2 has more than 1024 bytes: is it a vocabulary, "
           "with one token on each line?");
    line[6 + VOCABULARY_TOKEN_SIZE_MAX] = '\0';
    tokenizer_close(open_words(line));
}

/* Writes `count` different tokens, [UNK] the last of them. */
static struct text many_lines(char *to, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 1; i < count; i++)
        size += (size_t)sprintf(to + size, "%x\n", i);
    size += (size_t)sprintf(to + size, "[UNK]\n");
    return (struct text){to, size};
}

static void a_vocabulary_has_as_many_tokens_as_the_limit(void **state)
{
    char *text = malloc((size_t)VOCABULARY_TOKENS_MAX * 8);
    (void)state;
    assert_non_null(text);
    struct text file = many_lines(text, VOCABULARY_TOKENS_MAX);
    struct tokenizer *t =
        opened(&wordpiece_tokenizer, &file, (struct tokenizer_options){0});
    assert_int_equal(tokenizer_vocabulary(t), VOCABULARY_TOKENS_MAX);
    assert_ids(t, text_of("1 fffff 100000"), 0, VOCABULARY_TOKENS_MAX - 2,
               VOCABULARY_TOKENS_MAX - 1);
    tokenizer_close(t);
    refuse(many_lines(text, VOCABULARY_TOKENS_MAX + 1),
           "vocab.txt: has more than 1048576 tokens");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_piece_is_taken_first),
        cmocka_unit_test(a_word_with_a_part_that_has_no_token_is_unknown),
        cmocka_unit_test(a_piece_ends_with_its_character),
        cmocka_unit_test(a_word_has_a_hundred_characters_at_most),
        cmocka_unit_test(control_words_of_a_text_are_text),
        cmocka_unit_test(bytes_that_are_no_utf_8_are_left_out),
        cmocka_unit_test(a_row_that_is_full_takes_no_more),
        cmocka_unit_test(lines_may_end_as_on_windows),
        cmocka_unit_test(a_file_that_is_no_vocabulary_is_refused),
        cmocka_unit_test(a_vocabulary_has_as_many_tokens_as_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
