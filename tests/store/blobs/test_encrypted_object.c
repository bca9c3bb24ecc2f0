/* Goal: a chunk decrypts only at its own position of its own object, and an object's
 * name and length reveal next to nothing. Method: encrypted chunks are changed,
 * truncated and swapped. */
#include "store/blobs/encrypted_object.h"

#include <string.h>

#include "base/hash.h"
#include "tests/expect.h"

#define GIB ((uint64_t)1 << 30)
static const uint64_t two_and_a_bit = 2 * (uint64_t)SEALED_CHUNK_SIZE + 12345;

static void sizes_and_places_are_those_of_the_drawing(void **state)
{
    (void)state;
    static const struct {
        enum sealed_padding padding;
        uint64_t size, object;
        size_t chunks;
    } known[] = {
        {SEALED_STEPS, 0, 16, 1},
        {SEALED_STEPS, 1, 262144 + 16, 1},
        {SEALED_STEPS, 262144, 262144 + 16, 1},
        {SEALED_STEPS, 262145, 524288 + 16, 1},
        {SEALED_STEPS, 8388608, 8388608 + 16, 1},
        {SEALED_STEPS, 8388609, 8388608 + 262144 + 32, 2},
        {SEALED_STEPS, 16 * GIB, 16 * GIB + 2048 * 16, 2048},
        {SEALED_DOUBLED, 0, 262144 + 16, 1},
        {SEALED_DOUBLED, 262144, 262144 + 16, 1},
        {SEALED_DOUBLED, 524289, 1048576 + 16, 1},
        {SEALED_DOUBLED, 8388609, 16777216 + 32, 2},
        {SEALED_DOUBLED, 16777217, 33554432 + 64, 4}, /* two hold only zeros */
        {SEALED_DOUBLED, 128 * GIB - 1, 128 * GIB + 16384 * 16, 16384},
        {SEALED_DOUBLED, 128 * GIB + 1, 128 * GIB + 4 * GIB + 16896 * 16, 16896},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct encrypted_object object;
        encrypted_object_make(&object, known[i].size, known[i].padding);
        size_t chunks = encrypted_object_chunks(&object);
        assert_int_equal(chunks, known[i].chunks);
        assert_int_equal(encrypted_object_size(&object), known[i].object);
        uint64_t sum = 0, plain = 0, own = 0;
        for (size_t c = 0; c < chunks; c++) {
            const struct sealed_chunk chunk = encrypted_object_chunk(&object, c);
            assert_int_equal(chunk.offset, sum);
            assert_int_equal(chunk.plain_offset, plain);
            assert_int_equal(chunk.size, chunk.plain_size + 16);
            assert_true(chunk.own_size <= chunk.plain_size);
            sum += chunk.size;
            plain += chunk.plain_size;
            own += chunk.own_size;
        }
        assert_int_equal(sum, known[i].object);
        assert_int_equal(own, known[i].size);
    }
}

static void names_are_drawn_and_keys_are_nobody_elses(void **state)
{
    (void)state;
    struct encrypted_object one, two;
    encrypted_object_make(&one, 5, SEALED_STEPS);
    encrypted_object_make(&two, 5, SEALED_STEPS);
    assert_int_equal(strlen(one.name), 32);
    assert_int_equal(strspn(one.name, "0123456789abcdef"), 32);
    assert_string_not_equal(one.name, two.name);
    assert_memory_not_equal(one.key, two.key, sizeof one.key);
}

struct sealed { /* all chunks, each in its own buffer */
    struct encrypted_object object;
    uint8_t *chunks[3];
};

static void seal_all(struct sealed *sealed)
{
    for (size_t c = 0; c < 3; c++) {
        const struct sealed_chunk chunk = encrypted_object_chunk(&sealed->object, c);
        sealed->chunks[c] = malloc(chunk.size);
        assert_non_null(sealed->chunks[c]);
        for (size_t i = 0; i < chunk.plain_size; i++)
            sealed->chunks[c][i] = (uint8_t)(i * 31 + c);
        encrypted_object_seal(&sealed->object, c, sealed->chunks[c]);
    }
}

static bool opens(const struct encrypted_object *object, size_t index,
                  const uint8_t *bytes)
{
    size_t size = encrypted_object_chunk(object, index).size;
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = encrypted_object_open(object, index, copy);
    free(copy);
    return opened;
}

static void a_chunk_opens_in_its_own_place_alone(void **state)
{
    (void)state;
    struct sealed one, two;
    encrypted_object_make(&one.object, two_and_a_bit, SEALED_STEPS);
    two.object = one.object;
    seal_all(&one);
    seal_all(&two);
    assert_int_equal(encrypted_object_chunks(&one.object), 3);
    for (size_t c = 0; c < 3; c++) /* encrypting again gives the same bytes */
        assert_memory_equal(one.chunks[c], two.chunks[c],
                            encrypted_object_chunk(&one.object, c).size);
    assert_true(opens(&one.object, 0, one.chunks[0]));
    assert_true(opens(&one.object, 1, one.chunks[1]));
    assert_true(opens(&one.object, 2, one.chunks[2]));
    assert_false(opens(&one.object, 0, one.chunks[1])); /* swapped */
    assert_false(opens(&one.object, 1, one.chunks[0]));
    struct encrypted_object other = one.object;
    other.size--; /* truncated */
    assert_false(opens(&other, 0, one.chunks[0]));
    assert_false(opens(&other, 2, one.chunks[2]));
    other = one.object;
    other.size = 2 * (uint64_t)SEALED_CHUNK_SIZE; /* without the last chunk */
    assert_false(opens(&other, 1, one.chunks[1]));
    other = one.object;
    other.name[0] = other.name[0] == '0' ? '1' : '0'; /* of another object */
    assert_false(opens(&other, 0, one.chunks[0]));
    other = one.object;
    other.key[31] ^= 1;
    assert_false(opens(&other, 0, one.chunks[0]));
    size_t last = encrypted_object_chunk(&one.object, 2).size;
    for (size_t i = 0; i < last; i += i < 64 || i > last - 64 ? 1 : 4099) {
        one.chunks[2][i] ^= 0x10;
        assert_false(opens(&one.object, 2, one.chunks[2]));
        one.chunks[2][i] ^= 0x10;
    }
    for (size_t c = 0; c < 3; c++) {
        free(one.chunks[c]);
        free(two.chunks[c]);
    }
}

/* If both chunks had the same nonce, the same key stream would encrypt them. */
static void equal_chunks_do_not_look_alike(void **state)
{
    (void)state;
    struct encrypted_object object;
    encrypted_object_make(&object, two_and_a_bit, SEALED_STEPS);
    size_t size = encrypted_object_chunk(&object, 0).size;
    uint8_t *one = calloc(1, size), *two = calloc(1, size);
    assert_true(one != NULL && two != NULL);
    encrypted_object_seal(&object, 0, one);
    encrypted_object_seal(&object, 1, two);
    for (size_t i = 0; i + 16 <= size; i += 4096)
        assert_memory_not_equal(one + i, two + i, 16);
    free(one);
    free(two);
}

static void check_key(enum sealed_padding padding)
{
    struct encrypted_object object, found;
    uint8_t digests[SHA256_SIZE] = {0}, operator_key[CIPHER_KEY_SIZE] = {9};
    encrypted_object_make(&object, 77, padding);
    struct blob_row row = {"uploads/a.data", object.name, 77, digests, 1, {0}, 0};
    encrypted_object_wrap(&object, row.name, operator_key, row.wrapped);
    assert_true(encrypted_object_unwrap(&found, &row, operator_key));
    assert_string_equal(found.name, object.name);
    assert_memory_equal(found.key, object.key, sizeof found.key);
    assert_int_equal(found.size, 77);
    assert_int_equal(found.padding, padding);
    struct blob_row other = row;
    other.name = "uploads/b.data";
    assert_false(encrypted_object_unwrap(&found, &other, operator_key));
    other = row;
    other.object = "00000000000000000000000000000000";
    assert_false(encrypted_object_unwrap(&found, &other, operator_key));
    other = row;
    other.chunk_count = 2;
    assert_false(encrypted_object_unwrap(&found, &other, operator_key));
    for (size_t i = 0; i < sizeof row.wrapped; i++) {
        row.wrapped[i] ^= 1;
        assert_false(encrypted_object_unwrap(&found, &row, operator_key));
        row.wrapped[i] ^= 1;
    }
    operator_key[0]++;
    assert_false(encrypted_object_unwrap(&found, &row, operator_key));
}

static void a_key_unwraps_for_its_blob_and_object_alone(void **state)
{
    (void)state;
    check_key(SEALED_STEPS);
    check_key(SEALED_DOUBLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_places_are_those_of_the_drawing),
        cmocka_unit_test(names_are_drawn_and_keys_are_nobody_elses),
        cmocka_unit_test(a_chunk_opens_in_its_own_place_alone),
        cmocka_unit_test(equal_chunks_do_not_look_alike),
        cmocka_unit_test(a_key_unwraps_for_its_blob_and_object_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
