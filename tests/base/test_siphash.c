/* Goal: the hash is SipHash-2-4. Method: values of its authors' reference (appendix A
 * of the paper, and vectors.h of the reference code), with key and data 0, 1, 2, ... */
#include "base/siphash.h"

#include "tests/expect.h"

static const struct siphash_key counted = {
    {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

static void the_values_are_those_of_the_reference(void **state)
{
    (void)state;
    uint8_t data[15];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    assert_int_equal(siphash(&counted, data, 0), UINT64_C(0x726fdb47dd0e0e31));
    assert_int_equal(siphash(&counted, data, 8), UINT64_C(0x93f5f5799a932462));
    assert_int_equal(siphash(&counted, data, 15), UINT64_C(0xa129ca6149be45e5));
}

static void another_key_is_another_hash(void **state)
{
    (void)state;
    const struct siphash_key other = {{counted.words[0] ^ 1, counted.words[1]}};
    assert_int_not_equal(siphash(&counted, "points", 6), siphash(&other, "points", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_values_are_those_of_the_reference),
        cmocka_unit_test(another_key_is_another_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
