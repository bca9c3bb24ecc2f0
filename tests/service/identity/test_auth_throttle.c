/* Goal: an address must wait after ten wrong keys in a minute, and no other address is
 * affected; the size of the table does not depend on the number of addresses. */
#include "service/identity/auth_throttle.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "api/limits.h"
#include "tests/expect.h"

static const int64_t second = INT64_C(1000000000);

static bool four(struct auth_throttle *wrong, uint32_t address, int64_t now_ns)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(address);
    from.sin_port = htons((uint16_t)now_ns); /* the port is ignored */
    return auth_throttle_add(wrong, (const struct sockaddr *)(const void *)&from,
                             now_ns);
}

static bool six(struct auth_throttle *wrong, const char *address, int64_t now_ns)
{
    struct sockaddr_in6 from = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, address, &from.sin6_addr), 1);
    return auth_throttle_add(wrong, (const struct sockaddr *)(const void *)&from,
                             now_ns);
}

static void the_eleventh_within_a_minute_is_one_too_many(void **state)
{
    (void)state;
    struct auth_throttle *wrong = auth_throttle_create();
    for (int i = 0; i < LIMIT_WRONG_KEYS; i++)
        assert_false(four(wrong, 0x7f000001, i * second));
    assert_true(four(wrong, 0x7f000001, 10 * second));
    assert_true(four(wrong, 0x7f000001, 59 * second));
    assert_false(four(wrong, 0x7f000002, 59 * second));
    assert_false(four(wrong, 0x7f000001, 60 * second));
    auth_throttle_destroy(wrong);
}

static void addresses_of_one_network_of_ipv6_are_one(void **state)
{
    (void)state;
    struct auth_throttle *wrong = auth_throttle_create();
    for (int i = 0; i < LIMIT_WRONG_KEYS; i++)
        assert_false(six(wrong, i % 2 == 0 ? "2001:db8::1" : "2001:db8::ffff", 0));
    assert_true(six(wrong, "2001:db8::77", 0));
    assert_false(six(wrong, "2001:db8:0:1::1", 0));
    auth_throttle_destroy(wrong);
}

/* Ten thousand addresses fill every place; the next address is still watched. */
static void a_flood_of_addresses_leaves_room_for_the_next(void **state)
{
    (void)state;
    struct auth_throttle *wrong = auth_throttle_create();
    for (uint32_t i = 0; i < 10000; i++)
        assert_false(four(wrong, 0x0a000000 + i, i));
    for (int i = 0; i < LIMIT_WRONG_KEYS; i++)
        assert_false(four(wrong, 0x7f000001, 10000 + i));
    assert_true(four(wrong, 0x7f000001, 20000));
    auth_throttle_destroy(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_eleventh_within_a_minute_is_one_too_many),
        cmocka_unit_test(addresses_of_one_network_of_ipv6_are_one),
        cmocka_unit_test(a_flood_of_addresses_leaves_room_for_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
