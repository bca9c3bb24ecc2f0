/* Goal: the bytes of a connection pass as long as they can be read in only one way, and
 * not a byte further. Method: streams cut in two at every place, and given byte by
 * byte. */
#include "tests/expect.h"

#include <string.h>

#include "api/http/framing.h"

#define GET     "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST    "POST /v1/jobs HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

struct flow { /* simulates a reader of the connection */
    struct framing framing;
    char kept[4096], passed[4096];
    size_t kept_size, passed_size;
};

static void give(struct flow *flow, const char *bytes, size_t size)
{
    memcpy(flow->kept + flow->kept_size, bytes, size);
    flow->kept_size += size;
    size_t passed = framing_pass(&flow->framing, flow->kept, flow->kept_size);
    assert_true(passed <= flow->kept_size);
    memcpy(flow->passed + flow->passed_size, flow->kept, passed);
    flow->passed_size += passed;
    flow->kept_size -= passed;
    memmove(flow->kept, flow->kept + passed, flow->kept_size);
}

struct stream {
    const char *good, *bad; /* what passes, and what follows; \x01 is NUL */
    const char *stand_in;   /* NULL: nothing is refused */
    uint64_t requests;
};

static const struct stream streams[] = {
    {GET GET, "", NULL, 2},
    {GET, "GET /livez HTTP/1.1\r\nHost: a\r\n", NULL, 1},
    {POST "Content-Length: 4\r\n\r\nab\ncd"
          "GET / HTTP/1.0\r\n\r\n",
     "", NULL, 2},
    {CHUNKED "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n" GET, "", NULL, 2},
    {CHUNKED "1f\r\n0123456789012345678901234567890\r\n0\r\n\r\n", "", NULL, 1},
    {"", "GET /\x01 HTTP/1.1\r\n\r\n" GET, "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
     1},
    {GET, "HEAD /.. HTTP/1.1\r\n" GET, "HEAD * HTTP/1.1\r\nHost: localhost\r\n\r\n", 2},
    {GET, "\r\n" GET, "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 2},
    {"", POST "Content-Length:\r\n 51\r\n\r\n" GET,
     "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 1},
    {CHUNKED, "2;a=b\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, " 2\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "2 \r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "2\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "0x2\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "-2\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "2\r{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED, "0000000000000002\r\n{}\r\n0\r\n\r\n" GET, "0\r\n\r\n", 1},
    {CHUNKED "2\r\n{}", "}\r\n0\r\n\r\n" GET, "\r\n0\r\n\r\n", 1},
    {CHUNKED "2\r\n{}", "\n0\r\n\r\n" GET, "\r\n0\r\n\r\n", 1},
    {GET CHUNKED "0\r\n", "X: y\r\n\r\n" GET, "\r\n", 2},
    {GET CHUNKED "0\r\n", GET, "\r\n", 2},
};

static size_t unmask(char *bytes, const struct stream *stream)
{
    size_t size = (size_t)sprintf(bytes, "%s%s", stream->good, stream->bad);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\x01')
            bytes[i] = '\0';
    return size;
}

static void assert_flow(const struct flow *flow, const struct stream *stream)
{
    const char *stand_in = framing_stand_in(&flow->framing);
    if (flow->passed_size != strlen(stream->good) ||
        memcmp(flow->passed, stream->good, flow->passed_size) != 0)
        fail_msg("passed %.*s of %s%s", (int)flow->passed_size, flow->passed,
                 stream->good, stream->bad);
    assert_true(flow->framing.requests == stream->requests);
    if (stream->stand_in == NULL) {
        assert_null(stand_in);
        return;
    }
    assert_non_null(stand_in);
    assert_string_equal(stand_in, stream->stand_in);
    assert_int_equal(flow->framing.refusal.status, ST_INVALID);
    assert_true(flow->framing.refusal.text[0] != '\0');
}

static void what_passes_does_not_depend_on_how_it_comes(void **state)
{
    (void)state;
    struct flow *flow = malloc(sizeof *flow);
    assert_non_null(flow);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        char bytes[1024];
        size_t size = unmask(bytes, &streams[i]);
        for (size_t cut = 0; cut <= size; cut++) {
            memset(flow, 0, sizeof *flow);
            give(flow, bytes, cut);
            give(flow, bytes + cut, size - cut);
            assert_flow(flow, &streams[i]);
        }
        memset(flow, 0, sizeof *flow);
        for (size_t j = 0; j < size; j++)
            give(flow, bytes + j, 1);
        assert_flow(flow, &streams[i]);
    }
    free(flow);
}

static void after_a_refusal_nothing_passes(void **state)
{
    (void)state;
    struct framing framing = {0};
    char feed[] = "\n", get[] = GET;
    assert_int_equal(framing_pass(&framing, feed, 1), 0);
    assert_non_null(framing_stand_in(&framing));
    assert_int_equal(framing_pass(&framing, get, strlen(get)), 0);
    assert_int_equal(framing.requests, 1);
}

static void a_head_passes_whole_or_not_at_all(void **state)
{
    (void)state;
    struct framing framing = {0};
    char get[] = GET;
    for (size_t size = 0; size < strlen(get); size++)
        assert_int_equal(framing_pass(&framing, get, size), 0);
    assert_int_equal(framing.requests, 0);
    assert_int_equal(framing_pass(&framing, get, strlen(get)), strlen(get));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_passes_does_not_depend_on_how_it_comes),
        cmocka_unit_test(after_a_refusal_nothing_passes),
        cmocka_unit_test(a_head_passes_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
