/* Goal: no reserved address counts as public. Method: the first and last address of
 * each block of the registries, as Python's ipaddress and RFC 6890 list them, and the
 * public addresses next to them. */
#include "tests/expect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "service/outbound/host_address.h"

static struct host_address of(const char *text)
{
    struct host_address address;
    if (!host_address_parse(&address, text))
        fail_msg("no address: %s", text);
    return address;
}

static void what_is_set_aside_is_not_public(void **state)
{
    static const char *const texts[] = {"0.0.0.0",
                                        "0.255.255.255",
                                        "10.0.0.0",
                                        "10.255.255.255",
                                        "100.64.0.0",
                                        "100.127.255.255",
                                        "127.0.0.1",
                                        "127.255.255.255",
                                        "169.254.0.0",
                                        "169.254.169.254",
                                        "172.16.0.0",
                                        "172.31.255.255",
                                        "192.0.0.0",
                                        "192.0.0.255",
                                        "192.0.2.1",
                                        "192.88.99.1",
                                        "192.168.0.0",
                                        "192.168.255.255",
                                        "198.18.0.0",
                                        "198.19.255.255",
                                        "198.51.100.1",
                                        "203.0.113.1",
                                        "224.0.0.1",
                                        "239.255.255.255",
                                        "240.0.0.0",
                                        "255.255.255.255",
                                        "::",
                                        "::1",
                                        "::ffff:127.0.0.1",
                                        "::ffff:10.0.0.1",
                                        "::ffff:169.254.169.254",
                                        "::7f00:1",
                                        "64:ff9b::a00:1",
                                        "64:ff9b:1::1",
                                        "100::1",
                                        "2001::1",
                                        "2001:10::1",
                                        "2001:20::1",
                                        "2001:1ff:ffff::1",
                                        "2001:db8::1",
                                        "2002:7f00:1::",
                                        "3fff::1",
                                        "3fff:fff:ffff::1",
                                        "4000::1",
                                        "5f00::1",
                                        "fc00::1",
                                        "fd00::1",
                                        "fdff:ffff::1",
                                        "fe80::1",
                                        "febf::1",
                                        "fec0::1",
                                        "ff02::1",
                                        "ffff::1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct host_address address = of(texts[i]);
        if (host_address_is_public(&address))
            fail_msg("public: %s", texts[i]);
    }
}

static void what_lies_beside_it_is_public(void **state)
{
    static const char *const texts[] = {"1.0.0.0",
                                        "9.255.255.255",
                                        "11.0.0.0",
                                        "100.63.255.255",
                                        "100.128.0.0",
                                        "126.255.255.255",
                                        "128.0.0.0",
                                        "169.253.255.255",
                                        "169.255.0.0",
                                        "172.15.255.255",
                                        "172.32.0.0",
                                        "192.0.1.0",
                                        "192.167.255.255",
                                        "192.169.0.0",
                                        "198.17.255.255",
                                        "198.20.0.0",
                                        "223.255.255.255",
                                        "93.184.216.34",
                                        "::ffff:93.184.216.34",
                                        "2000::1",
                                        "2001:200::1",
                                        "2001:db7:ffff::1",
                                        "2001:db9::1",
                                        "2003::1",
                                        "2606:4700::1111",
                                        "3ffe::1",
                                        "3fff:1000::1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct host_address address = of(texts[i]);
        if (!host_address_is_public(&address))
            fail_msg("not public: %s", texts[i]);
    }
}

static void a_list_holds_its_blocks_and_nothing_else(void **state)
{
    static const struct {
        const char *text;
        bool held;
    } cases[] = {
        {"127.0.0.1", true},  {"127.0.0.2", false}, {"10.1.0.0", true},
        {"10.1.7.255", true}, {"10.1.8.0", false},  {"::ffff:10.1.0.1", true},
        {"fd00::1", true},    {"fe00::1", false},   {"fcff::", false},
        {"::1", false},
    };
    struct host_address_list list;
    (void)state;
    assert_int_equal(
        host_address_list_parse(&list, "127.0.0.1,10.1.0.0/21,fd00::/8", NULL), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct host_address address = of(cases[i].text);
        if (host_address_list_holds(&list, &address) != cases[i].held)
            fail_msg("%s", cases[i].text);
    }
    assert_true(host_address_list_has_loopback(&list));
    assert_int_equal(host_address_list_parse(&list, "0.0.0.0/0", NULL), ST_OK);
    assert_false(host_address_list_has_loopback(&list));
    const struct host_address four = of("8.8.8.8"), six = of("2606:4700::1111");
    assert_true(host_address_list_holds(&list, &four));
    assert_false(host_address_list_holds(&list, &six));
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        ",",
        "127.0.0.1,",
        "127.0.0.1/33",
        "::1/129",
        "127.0.0.1/",
        "127.0.0.1/-1",
        "127.0.0.1/8x",
        "localhost",
        "127.1",
        "[::1]",
        " 127.0.0.1",
        "1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,"
        "1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1"};
    struct host_address_list list = {.count = 7};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (host_address_list_parse(&list, texts[i], NULL) != ST_INVALID)
            fail_msg("taken: \"%s\"", texts[i]);
    assert_int_equal(list.count, 7);
}

static void a_socket_address_is_the_address_as_text(void **state)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr other = {.sa_family = AF_UNIX};
    struct host_address read, expected = of("10.1.2.3");
    (void)state;
    inet_pton(AF_INET, "10.1.2.3", &four.sin_addr);
    assert_true(host_address_read(&read, (struct sockaddr *)&four));
    assert_memory_equal(&read, &expected, sizeof read);
    inet_pton(AF_INET6, "::ffff:10.1.2.3", &six.sin6_addr);
    assert_true(host_address_read(&read, (struct sockaddr *)&six));
    assert_memory_equal(&read, &expected, sizeof read);
    assert_false(host_address_read(&read, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_aside_is_not_public),
        cmocka_unit_test(what_lies_beside_it_is_public),
        cmocka_unit_test(a_list_holds_its_blocks_and_nothing_else),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(a_socket_address_is_the_address_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
