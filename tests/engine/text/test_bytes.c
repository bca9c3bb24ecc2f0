/* Goal: a text's ids are its bytes, as many as there is room for. Method: all bytes, and
 * rows that are too short. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"

#include "tests/engine/text/tokenizer_fixture.h"

static void every_byte_is_its_own_id(void **state)
{
    struct tokenizer *t = opened(&bytes_tokenizer, NULL, (struct tokenizer_options){0});
    char bytes[256];
    int32_t ids[258];
    (void)state;
    assert_int_equal(tokenizer_vocabulary(t), 256);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    assert_int_equal(
        tokenizer_encode(t, &(struct text){bytes, sizeof bytes}, 1, ids, 258, NULL),
        ST_OK);
    for (int i = 0; i < 258; i++)
        assert_int_equal(ids[i], i < 256 ? i : -1);
    tokenizer_close(t);
}

static void a_long_text_is_cut_and_an_empty_one_has_no_id(void **state)
{
    struct tokenizer *t = opened(&bytes_tokenizer, NULL, (struct tokenizer_options){0});
    struct text text = text_of("\xc3\xa9z");
    int32_t ids[2];
    (void)state;
    assert_int_equal(tokenizer_encode(t, &text, 1, ids, 2, NULL), ST_OK);
    assert_int_equal(ids[0], 0xC3);
    assert_int_equal(ids[1], 0xA9);
    assert_ids(t, text_of(""), -1);
    tokenizer_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_its_own_id),
        cmocka_unit_test(a_long_text_is_cut_and_an_empty_one_has_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
