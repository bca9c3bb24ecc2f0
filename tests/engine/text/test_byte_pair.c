/* Goal: the ids of a text are those of byte-level byte-pair encoding, and its bytes are
 * all there. Method: merges whose effect is plain to see; random merges against an oracle
 * that looks at the whole word for each merge; every byte. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include "tests/engine/text/byte_vocabulary_fixture.h"
#include "tests/engine/text/tokenizer_fixture.h"

static struct tokenizer *open_merges(const char *const *tokens, const char *merges,
                                     struct tokenizer_options options)
{
    static char vocabulary[BYTE_VOCABULARY_SIZE];
    struct text files[] = {byte_vocabulary(vocabulary, tokens), text_of(merges)};
    return opened(&byte_pair_tokenizer, files, options);
}

static void the_lowest_rank_is_merged_first(void **state)
{
    static const char *const tokens[] = {"ab", "bc", "abc", NULL};
    struct tokenizer *bc_first =
        open_merges(tokens, "b c\na b\n", (struct tokenizer_options){0});
    struct tokenizer *ab_first = open_merges(tokens, "#version: 0.2\na b\nb c\nab c",
                                             (struct tokenizer_options){0});
    (void)state;
    assert_ids(bc_first, text_of("abcab"), 'a', 257, 256);
    assert_ids(ab_first, text_of("abcab"), 258, 256);
    tokenizer_close(bc_first);
    tokenizer_close(ab_first);
}

static void equal_ranks_are_merged_from_the_left(void **state)
{
    static const char *const tokens[] = {"aa", NULL};
    struct tokenizer *t = open_merges(tokens, "a a\r\n", (struct tokenizer_options){0});
    (void)state;
    assert_ids(t, text_of("aaa"), 256, 'a');
    assert_ids(t, text_of("aaaaa"), 256, 256, 'a');
    tokenizer_close(t);
}

static void no_merge_crosses_a_cut(void **state)
{
    static const char *const tokens[] = {"ab", "a\\u0120", "\\u0120b", "a1", NULL};
    struct tokenizer *t = open_merges(tokens, "a \xc4\xa0\na 1\n\xc4\xa0 b\n",
                                      (struct tokenizer_options){0});
    (void)state;
    assert_ids(t, text_of("a b"), 'a', 258);
    assert_ids(t, text_of("a1"), 'a', '1');
    tokenizer_close(t);
}

static void without_merges_the_ids_are_the_bytes(void **state)
{
    static const char *const tokens[] = {NULL};
    struct tokenizer *t = open_merges(tokens, "", (struct tokenizer_options){0});
    char bytes[256];
    int32_t ids[257];
    (void)state;
    assert_int_equal(tokenizer_vocabulary(t), 256);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(255 - i);
    assert_int_equal(
        tokenizer_encode(t, &(struct text){bytes, sizeof bytes}, 1, ids, 257, NULL),
        ST_OK);
    for (int i = 0; i < 256; i++)
        assert_int_equal(ids[i], 255 - i);
    assert_int_equal(ids[256], -1);
    tokenizer_close(t);
}

static void a_space_is_put_before_a_text_that_has_none(void **state)
{
    static const char *const tokens[] = {"\\u0120a", NULL};
    struct tokenizer *t = open_merges(tokens, "\xc4\xa0 a\n",
                                      (struct tokenizer_options){.prefix_space = true});
    (void)state;
    assert_ids(t, text_of("a a"), 256, 256);
    assert_ids(t, text_of(" a"), 256);
    assert_ids(t, text_of("\ta"), ' ', '\t', 'a');
    assert_ids(t, text_of(""), -1);
    tokenizer_close(t);
}

static void the_frame_is_that_of_roberta(void **state)
{
    static const char *const tokens[] = {"<s>", "</s>", NULL};
    struct tokenizer *t =
        open_merges(tokens, "", (struct tokenizer_options){.framed = true});
    struct text pair[] = {TEXT("a"), TEXT("b")};
    int32_t ids[8];
    (void)state;
    assert_ids(t, text_of("a"), 256, 'a', 257);
    assert_int_equal(tokenizer_frame_size(t, 2), 4);
    assert_int_equal(tokenizer_encode(t, pair, 2, ids, 8, NULL), ST_OK);
    assert_memory_equal(ids, ((int32_t[]){256, 'a', 257, 257, 'b', 257, -1, -1}),
                        sizeof ids);
    tokenizer_close(t);
}

/* Random merges of the letters a to d. */
enum { RULES = 60, RULE_SIZE_MAX = 8, WORD = 40 };

struct rule {
    char left[RULE_SIZE_MAX + 1], right[RULE_SIZE_MAX + 1];
};

struct rules {
    struct rule rules[RULES];
    char tokens[RULES][RULE_SIZE_MAX + 1]; /* beyond the bytes */
    size_t token_count;
};

static uint64_t next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return *state >> 33;
}

static void random_token(char to[RULE_SIZE_MAX + 1], const struct rules *rules,
                         uint64_t *seed)
{
    size_t which = next_word(seed) % (4 + rules->token_count);
    if (which < 4)
        snprintf(to, RULE_SIZE_MAX + 1, "%c", (int)('a' + which));
    else
        memcpy(to, rules->tokens[which - 4], RULE_SIZE_MAX + 1);
}

static bool add_rule(struct rules *rules, size_t place, uint64_t *seed)
{
    struct rule *rule = &rules->rules[place];
    char joined[2 * RULE_SIZE_MAX + 1];
    random_token(rule->left, rules, seed);
    random_token(rule->right, rules, seed);
    snprintf(joined, sizeof joined, "%s%s", rule->left, rule->right);
    if (strlen(joined) > RULE_SIZE_MAX)
        return false;
    for (size_t i = 0; i < place; i++)
        if (strcmp(rules->rules[i].left, rule->left) == 0 &&
            strcmp(rules->rules[i].right, rule->right) == 0)
            return false;
    for (size_t i = 0; i < rules->token_count; i++)
        if (strcmp(rules->tokens[i], joined) == 0)
            return true; /* another way to the same token */
    memcpy(rules->tokens[rules->token_count++], joined, RULE_SIZE_MAX + 1);
    return true;
}

/* The oracle: strings, and a look at every pair for each merge. */
static size_t merge_plainly(char parts[WORD][RULE_SIZE_MAX + 1], size_t count,
                            const struct rules *rules)
{
    for (;;) {
        size_t best = RULES, where = 0;
        for (size_t i = 0; i + 1 < count; i++)
            for (size_t r = 0; r < best; r++)
                if (strcmp(parts[i], rules->rules[r].left) == 0 &&
                    strcmp(parts[i + 1], rules->rules[r].right) == 0) {
                    best = r;
                    where = i;
                }
        if (best == RULES)
            return count;
        char joined[2 * RULE_SIZE_MAX + 2];
        snprintf(joined, sizeof joined, "%s%s", parts[where], parts[where + 1]);
        memcpy(parts[where], joined, sizeof parts[where]);
        memmove(parts[where + 1], parts[where + 2],
                (count - where - 2) * sizeof *parts);
        count--;
    }
}

static int32_t id_of(const char *token, const struct rules *rules)
{
    for (size_t i = 0; i < rules->token_count; i++)
        if (strcmp(rules->tokens[i], token) == 0)
            return (int32_t)(256 + i);
    assert_int_equal(strlen(token), 1);
    return token[0];
}

static void check_word(const struct tokenizer *t, const struct rules *rules,
                       uint64_t *seed)
{
    char parts[WORD][RULE_SIZE_MAX + 1] = {{0}}, word[WORD + 1];
    int32_t ids[WORD + 1];
    size_t size = 1 + next_word(seed) % WORD;
    for (size_t i = 0; i < size; i++)
        word[i] = parts[i][0] = (char)('a' + next_word(seed) % 4);
    size_t count = merge_plainly(parts, size, rules);
    assert_int_equal(
        tokenizer_encode(t, &(struct text){word, size}, 1, ids, WORD + 1, NULL), ST_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], id_of(parts[i], rules));
    assert_int_equal(ids[count], -1);
}

static void random_merges_are_made_as_one_by_one(void **state)
{
    uint64_t seed = 20;
    (void)state;
    for (int round = 0; round < 30; round++) {
        struct rules rules = {.token_count = 0};
        const char *tokens[RULES + 1] = {NULL};
        char merges[RULES * 2 * (RULE_SIZE_MAX + 1) + 1];
        size_t size = 0;
        for (size_t i = 0; i < RULES;) {
            if (!add_rule(&rules, i, &seed))
                continue;
            size += (size_t)snprintf(merges + size, sizeof merges - size, "%s %s\n",
                                     rules.rules[i].left, rules.rules[i].right);
            i++;
        }
        for (size_t i = 0; i < rules.token_count; i++)
            tokens[i] = rules.tokens[i];
        struct tokenizer *t =
            open_merges(tokens, merges, (struct tokenizer_options){0});
        for (int i = 0; i < 200; i++)
            check_word(t, &rules, &seed);
        tokenizer_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_rank_is_merged_first),
        cmocka_unit_test(equal_ranks_are_merged_from_the_left),
        cmocka_unit_test(no_merge_crosses_a_cut),
        cmocka_unit_test(without_merges_the_ids_are_the_bytes),
        cmocka_unit_test(a_space_is_put_before_a_text_that_has_none),
        cmocka_unit_test(the_frame_is_that_of_roberta),
        cmocka_unit_test(random_merges_are_made_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
