/* Goal: no text makes a tokenizer slow. Method: the steps of an encoding are counted, not
 * timed: characters that are read, bytes that are sought in the vocabulary, pairs that are
 * looked up, merges that are queued. Each step takes a logarithm of a size at most. Texts
 * that are long in each way in which a text can be long take a number of steps that is
 * proportional to their bytes. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include "engine/text/basic_tokenizer.h"
#include "engine/text/merge_queue.h"
#include "engine/text/merge_table.h"
#include "engine/text/vocabulary.h"
#include "tests/engine/text/byte_vocabulary_fixture.h"
#include "tests/engine/text/tokenizer_fixture.h"

static uint64_t steps;

size_t __real_unicode_decode(int32_t *code, const char *text, size_t size);
size_t __wrap_unicode_decode(int32_t *code, const char *text, size_t size);
unsigned __real_unicode_combining_class(int32_t code);
unsigned __wrap_unicode_combining_class(int32_t code);
bool __real_vocabulary_narrow(const struct vocabulary *vocabulary,
                              struct token_range *range, unsigned char byte);
bool __wrap_vocabulary_narrow(const struct vocabulary *vocabulary,
                              struct token_range *range, unsigned char byte);
uint32_t __real_merge_table_find(const struct merge_table *table, uint32_t left,
                                 uint32_t right);
uint32_t __wrap_merge_table_find(const struct merge_table *table, uint32_t left,
                                 uint32_t right);
void __real_merge_queue_push(struct merge_queue *queue, struct possible_merge merge);
void __wrap_merge_queue_push(struct merge_queue *queue, struct possible_merge merge);
bool __real_merge_queue_pop(struct merge_queue *queue, struct possible_merge *merge);
bool __wrap_merge_queue_pop(struct merge_queue *queue, struct possible_merge *merge);

size_t __wrap_unicode_decode(int32_t *code, const char *text, size_t size)
{
    steps++;
    return __real_unicode_decode(code, text, size);
}

unsigned __wrap_unicode_combining_class(int32_t code)
{
    steps++;
    return __real_unicode_combining_class(code);
}

bool __wrap_vocabulary_narrow(const struct vocabulary *vocabulary,
                              struct token_range *range, unsigned char byte)
{
    steps++;
    return __real_vocabulary_narrow(vocabulary, range, byte);
}

uint32_t __wrap_merge_table_find(const struct merge_table *table, uint32_t left,
                                 uint32_t right)
{
    steps++;
    return __real_merge_table_find(table, left, right);
}

void __wrap_merge_queue_push(struct merge_queue *queue, struct possible_merge merge)
{
    steps++;
    __real_merge_queue_push(queue, merge);
}

bool __wrap_merge_queue_pop(struct merge_queue *queue, struct possible_merge *merge)
{
    steps++;
    return __real_merge_queue_pop(queue, merge);
}

/* What the long texts repeat. */
static const char *const units[] = {
    "a",                /* one word, or one piece, of all of it */
    "ab",               /* merges of several ranks */
    "a b ",             /* many short words */
    " ",                /* white space only */
    " \n",              /* white space of two kinds */
    "\n a",             /* one space after other white space */
    "'",                /* what may begin an English ending */
    "'re",              /* endings only */
    "!",                /* punctuation */
    "\u0301",           /* marks that are left out */
    "\u302e\U0001d165", /* marks that stay and change places */
    "\u4e2d",           /* ideographs */
    "\u1f82",           /* long decompositions */
    "\xff",             /* no UTF-8 */
    "\xe2\x82",         /* characters that are cut off */
    "a\xcc",            /* the same in a word */
};

static uint64_t steps_of(const struct tokenizer *t, const char *unit, size_t size)
{
    char *bytes = malloc(size);
    int32_t *ids = calloc(size + 2, sizeof *ids);
    size_t length = strlen(unit);
    assert_non_null(bytes);
    assert_non_null(ids);
    for (size_t i = 0; i < size; i++)
        bytes[i] = unit[i % length];
    steps = 0;
    assert_int_equal(
        tokenizer_encode(t, &(struct text){bytes, size}, 1, ids, size + 2, NULL),
        ST_OK);
    free(bytes);
    free(ids);
    return steps;
}

/* per_byte: steps that a byte takes at most. */
static void expect_proportional(const struct tokenizer *t, uint64_t per_byte)
{
    enum { SHORT = 3000, LONG = 300000 };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t few = steps_of(t, units[i], SHORT), many = steps_of(t, units[i], LONG);
        if (many > per_byte * LONG || many > few * (LONG / SHORT) * 11 / 10)
            fail_msg("unit %zu: %llu steps for %d bytes, %llu for %d", i,
                     (unsigned long long)few, SHORT, (unsigned long long)many, LONG);
    }
}

/* Tokens of a's, each twice as long as the one before: merges that go on and on. */
static void byte_pairs_take_eleven_steps_a_byte(void **state)
{
    static const char *const tokens[] = {
        "aa",   "aaaa", "aaaaaaaa", "aaaaaaaaaaaaaaaa", "ab",
        "abab", "ba",   "\\u0120a", "abababab",         NULL};
    static char vocabulary[BYTE_VOCABULARY_SIZE];
    struct text files[] = {
        byte_vocabulary(vocabulary, tokens),
        TEXT("a a\naa aa\naaaa aaaa\naaaaaaaa aaaaaaaa\nb a\na b\nab ab\n\xc4\xa0 a\n"
             "abab abab\n")};
    struct tokenizer *t =
        opened(&byte_pair_tokenizer, files, (struct tokenizer_options){0});
    (void)state;
    /* At most 2 for reading, 3 lookups, 3 entries that come and 3 that go. */
    expect_proportional(t, 11);
    tokenizer_close(t);
}

/* A vocabulary in which each start of a piece reads on to the end of the word and finds
 * no token there but a short one. */
static void word_pieces_take_a_bounded_number_of_steps_a_byte(void **state)
{
    char vocabulary[1024];
    (void)state;
    snprintf(vocabulary, sizeof vocabulary, "[UNK]\na\n##a\n##%0*d\n%0*d\n",
             BASIC_WORD_CHARACTERS_MAX, 0, BASIC_WORD_CHARACTERS_MAX, 0);
    for (char *zero = vocabulary; *zero != '\0'; zero++)
        if (*zero == '0')
            *zero = 'a';
    memcpy(strrchr(vocabulary, 'a'), "b", 1);
    struct text file = text_of(vocabulary);
    for (int lower = 0; lower < 2; lower++) {
        struct tokenizer *t = opened(&wordpiece_tokenizer, &file,
                                     (struct tokenizer_options){.lower = lower != 0});
        /* A word of n <= 100 characters sorts and seeks each against all others. */
        expect_proportional(t, BASIC_WORD_CHARACTERS_MAX);
        char *words = malloc(101 * 1000);
        int32_t *ids = calloc(101 * 1000, sizeof *ids);
        assert_non_null(words);
        assert_non_null(ids);
        for (size_t i = 0; i < 101 * 1000; i++)
            words[i] = i % 101 == 100 ? ' ' : 'a';
        steps = 0;
        assert_int_equal(tokenizer_encode(t, &(struct text){words, 101 * 1000}, 1, ids,
                                          101 * 1000, NULL),
                         ST_OK);
        assert_in_range(steps, 1, BASIC_WORD_CHARACTERS_MAX * 101 * 1000);
        free(words);
        free(ids);
        tokenizer_close(t);
    }
}

/* What does not fit into a row is not encoded. */
static void a_full_row_takes_no_more_steps(void **state)
{
    struct text file = TEXT("[UNK]\na\n");
    struct tokenizer *t =
        opened(&wordpiece_tokenizer, &file, (struct tokenizer_options){0});
    char text[4000];
    int32_t ids[10];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 == 0 ? 'a' : ' ';
    steps = 0;
    assert_int_equal(
        tokenizer_encode(t, &(struct text){text, sizeof text}, 1, ids, 10, NULL),
        ST_OK);
    assert_in_range(steps, 1, 60);
    tokenizer_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_pairs_take_eleven_steps_a_byte),
        cmocka_unit_test(word_pieces_take_a_bounded_number_of_steps_a_byte),
        cmocka_unit_test(a_full_row_takes_no_more_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
