/* Goal: no key serves two steps, and a later state does not reveal an earlier key.
 * Method: the ratchet against its definition; two sources from the kernel. */
#include "engine/noise/noise_key.h"

#include <string.h>

#include "tests/expect.h"

static void the_ratchet_is_its_definition(void **state)
{
    (void)state;
    struct noise_key seed, key, pair[2];
    for (int k = 0; k < STREAM_KEY_SIZE; k++)
        seed.bytes[k] = (uint8_t)(3 * k + 1);
    struct noise_source *source = noise_source_open(&seed);
    struct stream *stream = stream_create();
    for (int step = 0; step < 5; step++) {
        stream_read(stream, pair, sizeof pair,
                    &(struct stream_position){.key = seed.bytes, .nonce = UINT64_MAX});
        noise_source_next(source, &key);
        assert_memory_equal(&key, &pair[0], sizeof key);
        assert_memory_not_equal(&key, &seed, sizeof key);
        seed = pair[1];
    }
    stream_destroy(stream);
    noise_source_close(source);
}

static void two_sources_share_nothing(void **state)
{
    (void)state;
    struct noise_key a, b;
    struct noise_source *one = noise_source_open(NULL), *two = noise_source_open(NULL);
    noise_source_next(one, &a);
    noise_source_next(two, &b);
    assert_memory_not_equal(&a, &b, sizeof a);
    noise_source_close(one);
    noise_source_close(two);
    noise_source_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ratchet_is_its_definition),
        cmocka_unit_test(two_sources_share_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
