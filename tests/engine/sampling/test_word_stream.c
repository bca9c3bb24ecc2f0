/* Goal: a stream's words are those of its key and nonce, in order, for every reader.
 * Method: against the key stream itself; two nonces at the same time. */
#include "engine/sampling/word_stream.h"

#include <string.h>

#include "tests/expect.h"

enum { COUNT = 3 * WORD_STREAM_WORDS + 5 };

static void words_are_those_of_key_and_nonce(void **state)
{
    (void)state;
    static const struct noise_key key = {{9, 1, 7}};
    static const enum word_stream_nonce nonces[] = {NONCE_PARTITION,
                                                    NONCE_FIXED_SIZE_SUBSET};
    struct stream *stream = stream_create();
    for (size_t k = 0; k < 2; k++) {
        static uint64_t expected[COUNT];
        const struct stream_position from = {key.bytes, (uint64_t)nonces[k], 0};
        struct word_stream words;
        stream_read(stream, expected, sizeof expected, &from);
        word_stream_open(&words, &key, nonces[k]);
        for (size_t j = 0; j < COUNT; j++)
            assert_true(word_stream_next(&words) == expected[j]);
        word_stream_close(&words);
        assert_true(words.words[0] == 0 && words.stream == NULL);
    }
    stream_destroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_key_and_nonce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
