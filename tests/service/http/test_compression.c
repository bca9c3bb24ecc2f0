/* Goal: a compressed body unpacks to the same bytes, is smaller, and is sent only to
 * clients that accept it; a body that would not become smaller stays as it is. */
#include "service/http/compression.h"

#include <string.h>
#include <zlib.h>

#include "tests/expect.h"

static void what_is_packed_unpacks_to_the_same(void **state)
{
    enum { SIZE = 70001, GZIP_ALONE = 16 + 15 };
    char *text = malloc(SIZE), *again = malloc(SIZE + 1);
    size_t packed_size;
    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "{\"id\":1,2}"[(i * i / 7) % 10];
    char *packed = compression_pack(&packed_size, text, SIZE);
    assert_non_null(packed);
    assert_true(packed_size < SIZE);
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)packed_size,
                       .next_out = (Bytef *)again,
                       .avail_out = SIZE + 1};
    assert_int_equal(inflateInit2(&stream, GZIP_ALONE), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, SIZE);
    assert_memory_equal(again, text, SIZE);
    inflateEnd(&stream);
    free(packed);
    free(text);
    free(again);
}

static void what_gets_no_smaller_is_left(void **state)
{
    char noise[4096];
    size_t unused;
    uint64_t x = 88172645463325252u;
    (void)state;
    for (size_t i = 0; i < sizeof noise; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        noise[i] = (char)(x >> 32);
    }
    assert_null(compression_pack(&unused, noise, sizeof noise));
    assert_null(compression_pack(&unused, "{}", 2));
}

static void it_pays_neither_for_little_nor_for_much(void **state)
{
    (void)state;
    assert_false(compression_pays(0));
    assert_false(compression_pays(PACKED_SIZE_MIN - 1));
    assert_true(compression_pays(PACKED_SIZE_MIN));
    assert_true(compression_pays(PACKED_SIZE_MAX));
    assert_false(compression_pays(PACKED_SIZE_MAX + 1));
}

static void it_is_wanted_where_gzip_weighs_as_much_as_the_text(void **state)
{
    static const struct {
        const char *codings;
        bool wanted;
    } cases[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"gzip, deflate, br, zstd", true},
        {"*", true},
        {"gzip;q=0", false},
        {"gzip;q=0, *", false},
        {"*;q=0", false},
        {"identity;q=0", false},
        {"identity", false},
        {"deflate, br", false},
        {"gzip;q=0.5, identity", false},
        {"gzip;q=0.5, identity;q=0.4", true},
        {"gzip;q=1.0, identity; q=0.5, *;q=0", true},
        {"br;q=1.0, gzip;q=0.001", true},
        {"gzip;q=2", false},
        {"gzipped", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (compression_is_wanted(cases[i].codings) != cases[i].wanted)
            fail_msg("case %zu: %s", i, cases[i].codings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks_to_the_same),
        cmocka_unit_test(what_gets_no_smaller_is_left),
        cmocka_unit_test(it_pays_neither_for_little_nor_for_much),
        cmocka_unit_test(it_is_wanted_where_gzip_weighs_as_much_as_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
