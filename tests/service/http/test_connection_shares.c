/* Goal: the connections of each network are counted until they are given back, and no
 * network's count depends on another's. Method: more networks than the table has
 * sets. */
#include "service/http/connection_shares.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

#include "tests/expect.h"

enum { NETWORKS = 3000 };

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un local;
};

static union address four(uint32_t number)
{
    return (union address){
        .four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(number)}};
}

static union address six(const char *text)
{
    union address address = {.six = {.sin6_family = AF_INET6}};
    assert_int_equal(inet_pton(AF_INET6, text, &address.six.sin6_addr), 1);
    return address;
}

static void each_network_is_counted_by_itself(void **state)
{
    static struct connection_share *taken[NETWORKS][2];
    struct connection_shares *shares = connection_shares_create();
    (void)state;
    for (uint32_t i = 0; i < NETWORKS; i++) {
        const union address one = four(0x7f000000 + i);
        assert_int_equal(connection_shares_count(shares, &one.any), 0);
        for (size_t j = 0; j < 1 + i % 2; j++)
            taken[i][j] = connection_share_take(shares, &one.any);
    }
    for (uint32_t i = 0; i < NETWORKS; i++) {
        const union address one = four(0x7f000000 + i);
        assert_int_equal(connection_shares_count(shares, &one.any), 1 + i % 2);
        for (size_t j = 0; j < 1 + i % 2; j++)
            connection_share_give_back(shares, taken[i][j]);
        assert_int_equal(connection_shares_count(shares, &one.any), 0);
    }
    connection_shares_destroy(shares);
    connection_shares_destroy(NULL);
}

static void what_one_customer_is_given_is_one_network(void **state)
{
    struct connection_shares *shares = connection_shares_create();
    const union address first = six("2001:db8:0:1::1"),
                        second = six("2001:db8:0:1:f::2"),
                        other = six("2001:db8:0:2::1");
    const union address local = {.local = {.sun_family = AF_UNIX}};
    (void)state;
    struct connection_share *one = connection_share_take(shares, &first.any);
    struct connection_share *two = connection_share_take(shares, &second.any);
    struct connection_share *three = connection_share_take(shares, &local.any);
    assert_int_equal(connection_shares_count(shares, &first.any), 2);
    assert_int_equal(connection_shares_count(shares, &other.any), 0);
    assert_int_equal(connection_shares_count(shares, &local.any), 1);
    connection_share_give_back(shares, one);
    assert_int_equal(connection_shares_count(shares, &second.any), 1);
    connection_share_give_back(shares, two);
    connection_share_give_back(shares, three);
    connection_shares_destroy(shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_network_is_counted_by_itself),
        cmocka_unit_test(what_one_customer_is_given_is_one_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
