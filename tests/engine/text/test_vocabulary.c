/* Goal: a token is found by its bytes, ranges hold the tokens of one beginning, and equal
 * tokens are refused. Method: a search of all tokens as the oracle, on random tokens of
 * few letters, so that many begin others. */
#include "tests/expect.h"

#include <string.h>

#include "engine/text/vocabulary.h"

enum { TOKENS = 400, SIZE = 6 };

static char texts[TOKENS][SIZE + 1];
static struct token tokens[TOKENS];

static bool is_new(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(texts[i], texts[count]) == 0)
            return false;
    return true;
}

static struct vocabulary *random_vocabulary(void)
{
    uint64_t word = 7;
    struct vocabulary *vocabulary = NULL;
    uint32_t repeated[2];
    for (uint32_t i = 0; i < TOKENS;) {
        word = word * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t size = 1 + (uint32_t)(word >> 60) % SIZE;
        memset(texts[i], 0, sizeof texts[i]);
        for (uint32_t j = 0; j < size; j++)
            texts[i][j] = "\x01"
                          "az\xff"[word >> (8 + 2 * j) & 3];
        if (is_new(i)) {
            tokens[i] = (struct token){texts[i], size};
            i++;
        }
    }
    assert_int_equal(vocabulary_create(&vocabulary, tokens, TOKENS, repeated), ST_OK);
    return vocabulary;
}

static void every_token_has_its_id_and_nothing_else_has_one(void **state)
{
    struct vocabulary *vocabulary = random_vocabulary();
    char longer[VOCABULARY_TOKEN_SIZE_MAX + 1] = {0};
    (void)state;
    for (uint32_t i = 0; i < TOKENS; i++) {
        assert_int_equal(vocabulary_find(vocabulary, texts[i], tokens[i].size), i);
        assert_int_equal(vocabulary_find(vocabulary, texts[i], tokens[i].size + 1),
                         VOCABULARY_ABSENT); /* with a zero byte */
    }
    assert_int_equal(vocabulary_find(vocabulary, "b", 1), VOCABULARY_ABSENT);
    assert_int_equal(vocabulary_find(vocabulary, "", 0), VOCABULARY_ABSENT);
    assert_int_equal(vocabulary_find(vocabulary, longer, sizeof longer),
                     VOCABULARY_ABSENT);
    vocabulary_destroy(vocabulary);
}

static void check_range(const struct vocabulary *vocabulary, const char *beginning)
{
    struct token_range range = vocabulary_all(vocabulary);
    uint32_t size = (uint32_t)strlen(beginning), count = 0, whole = VOCABULARY_ABSENT;
    bool left = true;
    for (uint32_t i = 0; i < size; i++)
        left = vocabulary_narrow(vocabulary, &range, (unsigned char)beginning[i]);
    for (uint32_t i = 0; i < TOKENS; i++) {
        count += strncmp(texts[i], beginning, size) == 0;
        if (strcmp(texts[i], beginning) == 0)
            whole = i;
    }
    assert_int_equal(range.last - range.first, count);
    assert_int_equal(left, count > 0);
    assert_int_equal(vocabulary_whole(vocabulary, &range), whole);
}

static void a_range_has_all_tokens_of_a_beginning(void **state)
{
    struct vocabulary *vocabulary = random_vocabulary();
    char beginning[SIZE + 2] = "";
    (void)state;
    check_range(vocabulary, "");
    check_range(vocabulary, "b");
    for (uint32_t i = 0; i < TOKENS; i++)
        for (uint32_t size = 1; size <= tokens[i].size + 1; size++) {
            snprintf(beginning, sizeof beginning, "%.*sz", (int)size - 1, texts[i]);
            check_range(vocabulary, beginning);
            snprintf(beginning, sizeof beginning, "%.*s", (int)size, texts[i]);
            check_range(vocabulary, beginning);
        }
    vocabulary_destroy(vocabulary);
}

static void a_range_of_none_stays_empty(void **state)
{
    struct vocabulary *vocabulary = random_vocabulary();
    struct token_range range = vocabulary_all(vocabulary);
    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(vocabulary_narrow(vocabulary, &range, 0xFF) && i >= SIZE,
                         false);
    assert_int_equal(vocabulary_whole(vocabulary, &range), VOCABULARY_ABSENT);
    vocabulary_destroy(vocabulary);
}

static void equal_tokens_are_refused_by_their_ids(void **state)
{
    struct token equal[] = {{"b", 1}, {"a", 1}, {"ab", 2}, {"a", 1}};
    struct vocabulary *vocabulary = NULL;
    uint32_t repeated[2] = {9, 9};
    (void)state;
    assert_int_equal(vocabulary_create(&vocabulary, equal, 4, repeated), ST_INVALID);
    assert_null(vocabulary);
    assert_int_equal(repeated[0], 1);
    assert_int_equal(repeated[1], 3);
    vocabulary_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_token_has_its_id_and_nothing_else_has_one),
        cmocka_unit_test(a_range_has_all_tokens_of_a_beginning),
        cmocka_unit_test(a_range_of_none_stays_empty),
        cmocka_unit_test(equal_tokens_are_refused_by_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
