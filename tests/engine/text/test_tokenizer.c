/* Goal: texts get the ids that the reference library gives them, in rows of a declared
 * length, with the frame of the kind's published models; what cannot be opened is refused.
 * Method: all cases of the public vectors (tokenizers 0.23.3 made them), small
 * vocabularies whose ids are plain to see, and every error of tokenizer.h. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include <jansson.h>

#include "tests/engine/text/tokenizer_fixture.h"

static const struct text words[] = {
    TEXT("[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\ne\nf\n##g\n")};

static struct tokenizer *framed_words(void)
{
    return opened(&wordpiece_tokenizer, words,
                  (struct tokenizer_options){.framed = true});
}

/* Encodes every line of NAME.json, and counts them. */
static size_t check_lines(const struct tokenizer *tokenizer, const char *name)
{
    char path[1024];
    shared_path(path, name);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL), *line;
    size_t i, count = 0;
    assert_non_null(root);
    assert_int_equal(tokenizer_vocabulary(tokenizer),
                     json_integer_value(json_object_get(root, "vocabulary")));
    json_array_foreach(json_object_get(root, "lines"), i, line)
    {
        json_t *expected = json_object_get(line, "ids"),
               *text = json_object_get(line, "text");
        int32_t ids[512];
        struct text bytes = {json_string_value(text), json_string_length(text)};
        assert_in_range(json_array_size(expected), 0, 511);
        assert_int_equal(tokenizer_encode(tokenizer, &bytes, 1, ids, 512, NULL), ST_OK);
        for (size_t j = 0; j <= json_array_size(expected); j++) {
            json_t *id = json_array_get(expected, j);
            long long wanted = id != NULL ? json_integer_value(id) : -1;
            if (ids[j] != wanted)
                fail_msg("%s, line %zu, id %zu: %d, expected %lld", name, i, j, ids[j],
                         wanted);
        }
        count++;
    }
    json_decref(root);
    return count;
}

struct public_vector {
    const struct tokenizer_kind *kind;
    const char *files[TOKENIZER_FILES_MAX];
    struct tokenizer_options options;
    const char *cases;
};

static void every_public_case_has_its_ids(void **state)
{
    static const struct public_vector vectors[] = {
        {&wordpiece_tokenizer,
         {"vectors/deep/wordpiece_cased.vocab.txt"},
         {0},
         "vectors/deep/wordpiece_cased.json"},
        {&wordpiece_tokenizer,
         {"vectors/deep/wordpiece_uncased.vocab.txt"},
         {.lower = true},
         "vectors/deep/wordpiece_uncased.json"},
        {&byte_pair_tokenizer,
         {"vectors/deep/bpe.vocab.json", "vectors/deep/bpe.merges.txt"},
         {0},
         "vectors/deep/bpe.json"},
        {&byte_pair_tokenizer,
         {"vectors/deep/bpe.vocab.json", "vectors/deep/bpe.merges.txt"},
         {.prefix_space = true},
         "vectors/deep/bpe_prefix_space.json"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char paths[TOKENIZER_FILES_MAX][1024];
        struct tokenizer *tokenizer = NULL;
        struct error error = {0};
        for (size_t j = 0; j < TOKENIZER_FILES_MAX && vectors[i].files[j] != NULL; j++)
            shared_path(paths[j], vectors[i].files[j]);
        const char *const names[] = {paths[0], paths[1]};
        if (tokenizer_open(&tokenizer, vectors[i].kind, names, &vectors[i].options,
                           &error) != ST_OK)
            fail_msg("%s: %s", vectors[i].files[0], error.text);
        assert_int_equal(check_lines(tokenizer, vectors[i].cases), 68);
        tokenizer_close(tokenizer);
    }
}

static void one_text_stands_in_its_frame(void **state)
{
    struct tokenizer *t = framed_words();
    (void)state;
    assert_int_equal(tokenizer_frame_size(t, 1), 2);
    assert_int_equal(tokenizer_vocabulary(t), 10);
    assert_ids(t, text_of("a bg"), 1, 3, 4, 9, 2);
    assert_ids(t, text_of(""), 1, 2);
    tokenizer_close(t);
}

/* Encodes two texts of na and nb ids into `length` ids; expects ka and kb to be kept. */
static void expect_cut(const struct tokenizer *t, const size_t sizes[2], size_t length,
                       const size_t kept[2])
{
    static const char a[] = "a a a a a a a a a a", b[] = "b b b b b b b b b b";
    struct text texts[] = {{a, 2 * sizes[0]}, {b, 2 * sizes[1]}};
    int32_t ids[64], expected[64];
    size_t count = 0;
    expected[count++] = 1;
    for (size_t i = 0; i < kept[0]; i++)
        expected[count++] = 3;
    expected[count++] = 2;
    for (size_t i = 0; i < kept[1]; i++)
        expected[count++] = 4;
    expected[count++] = 2;
    while (count < length)
        expected[count++] = -1;
    assert_int_equal(count, length);
    assert_int_equal(tokenizer_encode(t, texts, 2, ids, length, NULL), ST_OK);
    assert_memory_equal(ids, expected, length * sizeof *ids);
}

/* The oracle takes ids away one by one, as transformers' longest_first does. */
static void the_longer_text_is_cut_first(void **state)
{
    struct tokenizer *t = framed_words();
    (void)state;
    assert_int_equal(tokenizer_frame_size(t, 2), 3);
    for (size_t room = 1; room < 12; room++)
        for (size_t a = 0; a <= 9; a++)
            for (size_t b = 0; b <= 9; b++) {
                size_t kept[] = {a, b};
                while (kept[0] + kept[1] > room)
                    kept[kept[0] > kept[1] ? 0 : 1]--;
                expect_cut(t, (size_t[]){a, b}, room + 3, kept);
            }
    tokenizer_close(t);
}

static void a_long_text_keeps_its_beginning_and_its_frame(void **state)
{
    struct tokenizer *t = framed_words();
    struct text text = text_of("a b c d e f");
    int32_t ids[5];
    (void)state;
    assert_int_equal(tokenizer_encode(t, &text, 1, ids, 5, NULL), ST_OK);
    assert_memory_equal(ids, ((int32_t[]){1, 3, 4, 5, 2}), sizeof ids);
    tokenizer_close(t);
}

static void a_row_without_a_frame_is_the_text(void **state)
{
    struct tokenizer *t =
        opened(&wordpiece_tokenizer, words, (struct tokenizer_options){0});
    (void)state;
    assert_int_equal(tokenizer_frame_size(t, 1), 0);
    assert_ids(t, text_of("f [CLS]"), 8, 0, 0, 0);
    tokenizer_close(t);
}

static void a_text_above_the_limit_is_refused_and_not_quoted(void **state)
{
    struct tokenizer *t =
        opened(&wordpiece_tokenizer, words, (struct tokenizer_options){0});
    struct error error = {0};
    char *bytes = malloc(TOKENIZER_TEXT_SIZE_MAX + 1);
    int32_t ids[4];
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'z', TOKENIZER_TEXT_SIZE_MAX + 1);
    struct text text = {bytes, TOKENIZER_TEXT_SIZE_MAX};
    assert_int_equal(tokenizer_encode(t, &text, 1, ids, 4, &error), ST_OK);
    assert_memory_equal(ids, ((int32_t[]){0, -1, -1, -1}), sizeof ids);
    text.size++;
    assert_int_equal(tokenizer_encode(t, &text, 1, ids, 4, &error), ST_INVALID);
    assert_string_equal(error.text, "the text has more than 1048576 bytes");
    free(bytes);
    tokenizer_close(t);
}

static void an_option_that_a_kind_does_not_take_is_refused(void **state)
{
    struct tokenizer_options lower = {.lower = true}, prefix = {.prefix_space = true},
                             framed = {.framed = true};
    (void)state;
    expect_refused(&bytes_tokenizer, words, lower,
                   "a tokenizer of kind bytes has no lower case: leave it out");
    expect_refused(&byte_pair_tokenizer, (struct text[]){words[0], words[0]}, lower,
                   "a tokenizer of kind byte_pair has no lower case: leave it out");
    expect_refused(
        &wordpiece_tokenizer, words, prefix,
        "a tokenizer of kind wordpiece has no space before the text: leave it "
        "out");
    expect_refused(&bytes_tokenizer, words, framed,
                   "a tokenizer of kind bytes has no frame: leave it out");
}

static void a_frame_needs_its_tokens(void **state)
{
    struct text no_start = text_of("[UNK]\n[SEP]\n"),
                no_end = text_of("[CLS]\n[UNK]\n");
    struct tokenizer_options framed = {.framed = true};
    (void)state;
    expect_refused(&wordpiece_tokenizer, &no_start, framed,
                   "vocab.txt: there is no token [CLS]: ask for no frame, or take the "
                   "file that the model was published with");
    expect_refused(&wordpiece_tokenizer, &no_end, framed,
                   "vocab.txt: there is no token [SEP]: ask for no frame, or take the "
                   "file that the model was published with");
    tokenizer_close(
        opened(&wordpiece_tokenizer, &no_end, (struct tokenizer_options){0}));
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
    struct tokenizer *tokenizer = NULL;
    struct error error = {0}, folder = {0};
    struct tokenizer_options options = {0};
    (void)state;
    assert_int_equal(tokenizer_open(&tokenizer, &wordpiece_tokenizer,
                                    (const char *[]){"/nowhere/vocab.txt"}, &options,
                                    &error),
                     ST_IO);
    assert_string_equal(error.text,
                        "vocab.txt: cannot be opened: No such file or directory");
    assert_int_equal(tokenizer_open(&tokenizer, &wordpiece_tokenizer,
                                    (const char *[]){"/tmp"}, &options, &folder),
                     ST_IO);
    assert_string_equal(folder.text, "vocab.txt: cannot be read: Is a directory");
    assert_null(tokenizer);
}

static void a_file_above_the_limit_is_refused(void **state)
{
    struct text big = {NULL, TOKENIZER_FILE_SIZE_MAX + 1};
    char *bytes = malloc(big.size);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, '\n', big.size);
    big.bytes = bytes;
    expect_refused(&wordpiece_tokenizer, &big, (struct tokenizer_options){0},
                   "vocab.txt: has more than 16777216 bytes: is it the vocabulary?");
    big.size--; /* its lines are looked at, which are too many */
    expect_refused(&wordpiece_tokenizer, &big, (struct tokenizer_options){0},
                   "vocab.txt: has more than 1048576 tokens");
    free(bytes);
}

static void every_kind_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; tokenizer_kinds[i] != NULL; i++)
        assert_ptr_equal(tokenizer_kind_find(tokenizer_kinds[i]->name),
                         tokenizer_kinds[i]);
    assert_ptr_equal(tokenizer_kind_find("bytes"), &bytes_tokenizer);
    assert_null(tokenizer_kind_find("sentencepiece"));
    tokenizer_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_public_case_has_its_ids),
        cmocka_unit_test(one_text_stands_in_its_frame),
        cmocka_unit_test(the_longer_text_is_cut_first),
        cmocka_unit_test(a_long_text_keeps_its_beginning_and_its_frame),
        cmocka_unit_test(a_row_without_a_frame_is_the_text),
        cmocka_unit_test(a_text_above_the_limit_is_refused_and_not_quoted),
        cmocka_unit_test(an_option_that_a_kind_does_not_take_is_refused),
        cmocka_unit_test(a_frame_needs_its_tokens),
        cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_file_above_the_limit_is_refused),
        cmocka_unit_test(every_kind_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
