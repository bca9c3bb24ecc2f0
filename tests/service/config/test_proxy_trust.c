/* Goal: a proxy is trusted only at the addresses that are configured. */
#include "service/config/proxy_trust.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/expect.h"

static bool holds(const char *trust, const char *peer)
{
    struct proxy_trust read;
    struct sockaddr_storage storage = {.ss_family = AF_UNIX};
    struct sockaddr_in *four = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;
    assert_int_equal(proxy_trust_parse(&read, trust, NULL), ST_OK);
    if (strcmp(peer, "unix") != 0) {
        storage.ss_family = strchr(peer, ':') != NULL ? AF_INET6 : AF_INET;
        assert_int_equal(inet_pton(storage.ss_family, peer,
                                   storage.ss_family == AF_INET6
                                       ? (void *)&six->sin6_addr
                                       : (void *)&four->sin_addr),
                         1);
    }
    return proxy_trust_holds(&read, (struct sockaddr *)&storage);
}

static void a_network_holds_its_addresses_and_no_others(void **state)
{
    (void)state;
    assert_true(holds("10.1.2.3", "10.1.2.3"));
    assert_false(holds("10.1.2.3", "10.1.2.2"));
    assert_true(holds("10.1.0.0/16", "10.1.255.255"));
    assert_false(holds("10.1.0.0/16", "10.2.0.0"));
    assert_true(holds("10.16.0.0/12", "10.31.255.255"));
    assert_false(holds("10.16.0.0/12", "10.32.0.0"));
    assert_false(holds("10.16.0.0/12", "10.15.255.255"));
    assert_true(holds("0.0.0.0/0", "192.0.2.1"));
    assert_false(holds("0.0.0.0/0", "::1"));
    assert_false(holds("0.0.0.0/0", "unix"));
    assert_true(holds("::1", "::1"));
    assert_false(holds("::1", "::2"));
    assert_true(holds("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(holds("2001:db8::/33", "2001:db8:8000::1"));
    assert_false(holds("::/0", "127.0.0.1"));
}

static void unix_is_whoever_opened_the_socket(void **state)
{
    (void)state;
    assert_true(holds("unix", "unix"));
    assert_false(holds("unix", "127.0.0.1"));
    assert_false(holds("unix", "::1"));
}

static void nobody_is_trusted_unless_it_is_said(void **state)
{
    (void)state;
    const struct proxy_trust nobody = {0};
    struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    assert_false(proxy_trust_holds(&nobody, (struct sockaddr *)&peer));
    peer.ss_family = AF_UNSPEC;
    assert_false(proxy_trust_holds(&nobody, (struct sockaddr *)&peer));
}

static void what_is_no_network_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",           "Unix",         "10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/",
        "10.1.0.0/8", "10.1.0.1/16",  "10.1/16",     "::/129",      "2001:db8::1/64",
        "localhost",  "10.1.0.0/16x", "10.1.0.0 ",   "/16",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct proxy_trust trust = {.family = AF_UNIX};
        struct error error = {0};
        assert_int_equal(proxy_trust_parse(&trust, wrong[i], &error), ST_INVALID);
        assert_int_equal(trust.family, AF_UNIX);
        assert_non_null(strstr(error.text, "neither unix nor a network"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_holds_its_addresses_and_no_others),
        cmocka_unit_test(unix_is_whoever_opened_the_socket),
        cmocka_unit_test(nobody_is_trusted_unless_it_is_said),
        cmocka_unit_test(what_is_no_network_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
