/* Goal: a side digest is the SHA-256 of all parts in their order, for any number of
 * parts, and a part may be changed as soon as the next call has returned. Method:
 * libcrypto's digest of the same bytes in one call; two buffers that are overwritten in
 * turn, as the writer of a matrix does. */
#include "engine/data/side_digest.h"

#include <string.h>

#include "tests/expect.h"

enum { PART = 70001, PARTS = 40 };

static void parts_are_digested_in_their_order(void **state)
{
    (void)state;
    for (size_t parts = 0; parts <= PARTS; parts = 2 * parts + 1) {
        static uint8_t buffers[2][PART], all[PARTS * PART];
        uint8_t sha256[SHA256_SIZE], expected[SHA256_SIZE];
        struct side_digest *digest = side_digest_create();
        size_t size = 0;
        for (size_t k = 0; k < parts; k++) {
            size_t part = k % 5 == 4 ? 0 : k % 5 == 3 ? 7 : PART - k;
            memset(buffers[k % 2], (int)(17 * k + 1), PART);
            memcpy(all + size, buffers[k % 2], part);
            side_digest_add(digest, buffers[k % 2], part);
            size += part;
        }
        if (parts % 2 == 1) {
            side_digest_wait(digest);
            memset(buffers, 0, sizeof buffers);
        }
        side_digest_finish(digest, sha256);
        side_digest_destroy(digest);
        sha256_of(expected, all, size);
        assert_memory_equal(sha256, expected, sizeof sha256);
    }
}

static void a_digest_may_be_left_unfinished(void **state)
{
    (void)state;
    static const uint8_t part[PART];
    struct side_digest *digest = side_digest_create();
    side_digest_add(digest, part, sizeof part);
    side_digest_destroy(digest);
    side_digest_destroy(side_digest_create());
    side_digest_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_digested_in_their_order),
        cmocka_unit_test(a_digest_may_be_left_unfinished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
