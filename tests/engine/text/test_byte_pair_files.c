/* Goal: files that are no byte-level encoding are refused, by the place and the rule, and
 * nothing of them is quoted. Method: a good pair of files, spoilt in each way that the
 * header names. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include "engine/text/vocabulary.h"
#include "tests/engine/text/byte_vocabulary_fixture.h"
#include "tests/engine/text/tokenizer_fixture.h"

static char buffer[BYTE_VOCABULARY_SIZE];

static void refuse_vocabulary(struct text vocabulary, const char *error)
{
    expect_refused(&byte_pair_tokenizer, (struct text[]){vocabulary, text_of("")},
                   (struct tokenizer_options){0}, error);
}

static void refuse_merges(const char *merges, const char *error)
{
    static const char *const tokens[] = {"ab", "abc", "abab", NULL};
    struct text files[] = {byte_vocabulary(buffer, tokens), text_of(merges)};
    expect_refused(&byte_pair_tokenizer, files, (struct tokenizer_options){0}, error);
}

static void a_vocabulary_is_one_object_in_json(void **state)
{
    (void)state;
    refuse_vocabulary(text_of("{\"secret\":0,\n \"b\" 1}"),
                      "vocab.json: line 2, column 6: this is not JSON in UTF-8");
    refuse_vocabulary(text_of("{\"secret\":0,\"\xff\":1}"),
                      "vocab.json: line 1, column 13: this is not JSON in UTF-8");
    refuse_vocabulary(text_of("{\"a\":0,\"secret\":1,\"secret\":2}"),
                      "vocab.json: line 1, column 26: a token is there twice: take the "
                      "file that the model was published with");
    refuse_vocabulary(text_of("[\"secret\"]"),
                      "vocab.json: is no object of tokens and their ids");
    refuse_vocabulary(text_of(""), "vocab.json: line 1, column 0: this is not JSON in "
                                   "UTF-8");
    refuse_vocabulary(text_of("{}"), "vocab.json: has no tokens");
}

static void each_id_is_an_integer_below_the_count_and_there_once(void **state)
{
    (void)state;
    refuse_vocabulary(
        text_of("{\"a\":0,\"b\":7}"),
        "vocab.json: member 2: the ids of 2 tokens are the integers 0 to 1");
    refuse_vocabulary(
        text_of("{\"a\":-1}"),
        "vocab.json: member 1: the ids of 1 tokens are the integers 0 to 0");
    refuse_vocabulary(
        text_of("{\"a\":0,\"b\":1.0}"),
        "vocab.json: member 2: the ids of 2 tokens are the integers 0 to 1");
    refuse_vocabulary(
        text_of("{\"a\":\"secret\"}"),
        "vocab.json: member 1: the ids of 1 tokens are the integers 0 to 0");
    refuse_vocabulary(text_of("{\"a\":1,\"b\":0,\"c\":1}"),
                      "vocab.json: members 1 and 3 have the same id: take the file "
                      "that the model was published with");
}

static void a_token_has_a_size(void **state)
{
    char text[VOCABULARY_TOKEN_SIZE_MAX + 32];
    (void)state;
    refuse_vocabulary(text_of("{\"\":0}"),
                      "vocab.json: member 1: a token has 1 to 1024 "
                      "bytes");
    snprintf(text, sizeof text, "{\"%0*d\":0}", VOCABULARY_TOKEN_SIZE_MAX + 1, 5);
    refuse_vocabulary(text_of(text),
                      "vocab.json: member 1: a token has 1 to 1024 bytes");
    snprintf(text, sizeof text, "{\"%0*d\":0}", VOCABULARY_TOKEN_SIZE_MAX, 5);
    refuse_vocabulary(
        text_of(text),
        "vocab.json: byte 0x00, the character U+0100, has no token: is it the "
        "vocabulary of a byte-level encoding?");
}

static void every_byte_has_a_token(void **state)
{
    static const char *const none[] = {NULL};
    struct text vocabulary = byte_vocabulary(buffer, none);
    char *space = strstr(buffer, "\"\\u0120\"");
    (void)state;
    assert_non_null(space);
    memcpy(space, "\"\\u0520\"", 8);
    refuse_vocabulary(vocabulary,
                      "vocab.json: byte 0x20, the character U+0120, has no "
                      "token: is it the vocabulary of a byte-level encoding?");
}

static void more_tokens_than_the_limit_are_refused(void **state)
{
    size_t size = 1;
    char *text = malloc((VOCABULARY_TOKENS_MAX + 1) * (size_t)20);
    (void)state;
    assert_non_null(text);
    text[0] = '{';
    for (unsigned i = 0; i <= VOCABULARY_TOKENS_MAX; i++)
        size += (size_t)sprintf(text + size, "\"%x\":0,", i);
    text[size - 1] = '}';
    refuse_vocabulary((struct text){text, size},
                      "vocab.json: has more than 1048576 tokens");
    free(text);
}

static void a_merge_is_two_tokens_that_become_one(void **state)
{
    static const char rule[] = ": a merge is two tokens with one space between";
    static const char *const lines[] = {"secret", " secret", "a ", "a  b", "a b c", ""};
    char text[64], error[128];
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "#version: 0.2\na b\n%s\n", lines[i]);
        snprintf(error, sizeof error, "merges.txt: line 3%s", rule);
        refuse_merges(text, error);
    }
}

static void a_merge_is_of_tokens_that_the_vocabulary_has(void **state)
{
    (void)state;
    refuse_merges("secret b\n",
                  "merges.txt: line 1: the first token is not in vocab.json: "
                  "the two files belong together");
    refuse_merges("a b\na secret\n", "merges.txt: line 2: the second token is not in "
                                     "vocab.json: the two files belong together");
    refuse_merges("a b\nb a\n", "merges.txt: line 2: the merged token is not in "
                                "vocab.json: the two files belong together");
}

static void a_pair_has_one_rank(void **state)
{
    (void)state;
    refuse_merges("a b\nab c\nab ab\n#version\nab c\n",
                  "merges.txt: lines 2 and 5 merge the same pair: take the file that "
                  "the model was published with");
}

static void more_merges_than_the_limit_are_refused(void **state)
{
    char *text = malloc(VOCABULARY_TOKENS_MAX + 2);
    (void)state;
    assert_non_null(text);
    memset(text, '\n', VOCABULARY_TOKENS_MAX + 1);
    text[VOCABULARY_TOKENS_MAX + 1] = '\0';
    refuse_merges(text, "merges.txt: has more than 1048576 lines");
    free(text);
}

static void a_long_token_can_be_no_merge(void **state)
{
    char text[4 * VOCABULARY_TOKEN_SIZE_MAX];
    (void)state;
    snprintf(text, sizeof text, "%0*d %0*d\n", VOCABULARY_TOKEN_SIZE_MAX + 1, 1, 1025,
             1);
    refuse_merges(text,
                  "merges.txt: line 1: the first token is not in vocab.json: the two "
                  "files belong together");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vocabulary_is_one_object_in_json),
        cmocka_unit_test(each_id_is_an_integer_below_the_count_and_there_once),
        cmocka_unit_test(a_token_has_a_size),
        cmocka_unit_test(every_byte_has_a_token),
        cmocka_unit_test(more_tokens_than_the_limit_are_refused),
        cmocka_unit_test(a_merge_is_two_tokens_that_become_one),
        cmocka_unit_test(a_merge_is_of_tokens_that_the_vocabulary_has),
        cmocka_unit_test(a_pair_has_one_rank),
        cmocka_unit_test(more_merges_than_the_limit_are_refused),
        cmocka_unit_test(a_long_token_can_be_no_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
