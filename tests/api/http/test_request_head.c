/* Goal: a request head passes only if every reader would read it alike. Method: each
 * refusal that request_head.h names, given whole and byte by byte, with the same
 * verdict. */
#include "tests/expect.h"

#include <string.h>

#include "api/http/request_head.h"
#include "api/limits.h"

#define HOST "Host: 127.0.0.1\r\n"
#define LINE "POST /v1/jobs HTTP/1.1\r\n"

/* Gives one byte more each time, as a slow client sends it. */
static enum status read_slowly(struct request_head *head, const char *bytes,
                               size_t size, struct error *error)
{
    enum status status = ST_OK;
    char *kept = malloc(size);
    assert_non_null(kept);
    memcpy(kept, bytes, size);
    *head = (struct request_head){0};
    for (size_t some = 1; some <= size && status == ST_OK && head->size == 0; some++) {
        char *exact = malloc(some); /* so that a sanitizer detects reads past the end */
        assert_non_null(exact);
        memcpy(exact, kept, some);
        status = request_head_read(head, exact, some, error);
        memcpy(kept, exact, some); /* blanks may have moved */
        free(exact);
    }
    free(kept);
    return status;
}

static void the_body_of_a_head_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint64_t length;
        bool chunked, head_only;
    } cases[] = {
        {"GET / HTTP/1.1\r\n" HOST "\r\n", 0, false, false},
        {"GET / HTTP/1.0\r\n\r\n", 0, false, false},
        {"HEAD /a?b=c HTTP/1.1\r\nhOST:x\r\n\r\n", 0, false, true},
        {LINE HOST "Content-Length: 0\r\n\r\n", 0, false, false},
        {LINE "content-length:17\r\n" HOST "\r\n", 17, false, false},
        {LINE HOST "Content-Length: \t999999999999999999\r\n\r\n", 999999999999999999,
         false, false},
        {LINE HOST "Transfer-Encoding: Chunked\r\n\r\n", 0, true, false},
        {LINE HOST "X:\r\nX: \xe9\ta b\t\r\nX-Y_Z!#$%&'*+.^`|~: :\r\n\r\n", 0, false,
         false},
        {LINE HOST "Content-Length: 5 \t \r\n\r\n", 5, false, false},
        {LINE HOST "Transfer-Encoding: chunked\t\r\n\r\n", 0, true, false},
        {LINE HOST "Accept: a\r\nIf-Match: *\r\nIf-None-Match: *\r\naccept: "
                   "b\r\nAccept-Encoding: gzip\r\nIf-None-Match: *\r\nIf-Match: *\r\n"
                   "Accept-Encoding: br\r\n\r\n",
         0, false, false},
        {"GET http://127.0.0.1/a HTTP/1.1\r\n" HOST "\r\n", 0, false, false},
        {"GET HTTPS://A:80 HTTP/1.1\r\nHost: a:80 \r\n\r\n", 0, false, false},
        {"GET http://a/ HTTP/1.0\r\n\r\n", 0, false, false},
        {LINE HOST "Cookie: a=b; c=d\r\nVia: x\r\nVia: y\r\n\r\n", 0, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request_head whole = {0}, slow;
        struct error error = {0};
        size_t size = strlen(cases[i].bytes);
        char bytes[512];
        assert_true(size < sizeof bytes);
        memcpy(bytes, cases[i].bytes, size);
        if (request_head_read(&whole, bytes, size, &error) != ST_OK ||
            read_slowly(&slow, cases[i].bytes, size, &error) != ST_OK)
            fail_msg("%s: %s", cases[i].bytes, error.text);
        assert_int_equal(whole.size, size);
        assert_int_equal(slow.size, size);
        assert_true(whole.length == cases[i].length);
        assert_int_equal(whole.chunked, cases[i].chunked);
        assert_int_equal(whole.head_only, cases[i].head_only);
    }
}

static void a_head_ends_where_it_ends(void **state)
{
    (void)state;
    char bytes[] = "GET / HTTP/1.1\r\n" HOST "\r\n\0\x01 rest";
    struct request_head head = {0};
    assert_int_equal(request_head_read(&head, bytes, sizeof bytes, NULL), ST_OK);
    assert_int_equal(head.size, strlen(bytes));
}

struct refused {
    const char *bytes; /* \x01 is NUL */
    const char *why;
    enum status status;
};

static const struct refused refused[] = {
    {"\r\nGET / HTTP/1.1\r\n", "first line", ST_INVALID},
    {" GET / HTTP/1.1\r\n", "first line", ST_INVALID},
    {"GET  / HTTP/1.1\r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET / \r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET /\r\n", "first line", ST_INVALID},
    {"GET\r\n", "first line", ST_INVALID},
    {"GET /  HTTP/1.1\r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET / HTTP/1.1 \r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET / HTTP/1.2\r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET / HTTP/2.0\r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET / http/1.1\r\n", "HTTP/1.1 and", ST_INVALID},
    {"GET /\tHTTP/1.1\r\n", "first line", ST_INVALID},
    {"G(T / HTTP/1.1\r\n", "first line", ST_INVALID},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n", "first line", ST_INVALID},
    {"GET http:127.0.0.1/ HTTP/1.1\r\n", "begin with /", ST_INVALID},
    {"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "another host", ST_INVALID},
    {"GET http://a/ HTTP/1.1\r\nHost: a:80\r\n\r\n", "another host", ST_INVALID},
    {"GET http://127.0.0.1.evil/ HTTP/1.1\r\n" HOST "\r\n", "another host", ST_INVALID},
    {"OPTIONS * HTTP/1.1\r\n", "begin with /", ST_INVALID},
    {"GET /a%2fb HTTP/1.1\r\n", "slash", ST_INVALID},
    {"GET /\x01 HTTP/1.1\r\n", "control", ST_INVALID},
    {"GET / HTTP/1.1\n", "without CR", ST_INVALID},
    {LINE HOST "X: y\n", "without CR", ST_INVALID},
    {LINE HOST "\n", "without CR", ST_INVALID},
    {LINE HOST "X: a\rb", "control", ST_INVALID},
    {LINE HOST "X: a\r\r\n", "control", ST_INVALID},
    {LINE "Host: 127.0.0.1\x01.evil\r\n", "control", ST_INVALID},
    {LINE HOST "Content-Length: 2\x01 9\r\n", "control", ST_INVALID},
    {LINE HOST "Content-Length\x01: 2\r\n", "control", ST_INVALID},
    {LINE HOST "X: \x7f\r\n", "control", ST_INVALID},
    {LINE HOST "X: \x1b[2J\r\n", "control", ST_INVALID},
    {LINE HOST "Content-Length:\r\n 51\r\n", "digits", ST_INVALID},
    {LINE HOST "X: a\r\n 51\r\n", "folded", ST_INVALID},
    {LINE HOST "Transfer-Encoding:\r\n chunked\r\n", "than chunked", ST_INVALID},
    {LINE " " HOST "\r\n", "folded", ST_INVALID},
    {LINE HOST "X: a\r\n\t\r\n", "folded", ST_INVALID},
    {LINE HOST "no colon\r\n", "a colon at once", ST_INVALID},
    {LINE HOST ": value\r\n", "a colon at once", ST_INVALID},
    {LINE HOST "Content-Length : 5\r\n", "a colon at once", ST_INVALID},
    {LINE HOST "X\tY: 5\r\n", "a colon at once", ST_INVALID},
    {LINE HOST "X\xe9: 5\r\n", "a colon at once", ST_INVALID},
    {LINE "\r\n", "needs a Host", ST_INVALID},
    {LINE HOST "Content-Length: \r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: +5\r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: -5\r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: 5,5\r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: 0x5\r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: 5 5\r\n", "digits", ST_INVALID},
    {LINE HOST "Content-Length: 1000000000000000000\r\n", "as large",
     ST_BODY_TOO_LARGE},
    {LINE HOST "Transfer-Encoding: gzip, chunked\r\n", "than chunked", ST_INVALID},
    {LINE HOST "Transfer-Encoding: chunkedx\r\n", "than chunked", ST_INVALID},
    {LINE HOST "Transfer-Encoding: identity\r\n", "than chunked", ST_INVALID},
    {LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", "beside",
     ST_INVALID},
    {LINE HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", "beside",
     ST_INVALID},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0", ST_INVALID},
};

static void an_ambiguous_head_is_refused_however_it_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *one = &refused[i];
        struct request_head whole = {0}, slow;
        struct error at_once = {0}, later = {0};
        size_t size = strlen(one->bytes);
        char bytes[256];
        assert_true(size < sizeof bytes);
        for (size_t j = 0; j < size; j++)
            bytes[j] = one->bytes[j] == '\x01' ? '\0' : one->bytes[j];
        enum status status = request_head_read(&whole, bytes, size, &at_once);
        read_slowly(&slow, bytes, size, &later);
        if (status != one->status || strstr(at_once.text, one->why) == NULL)
            fail_msg("%s: %s, not %s", one->bytes, at_once.text, one->why);
        assert_int_equal(later.status, one->status);
        assert_int_equal(whole.size, 0);
    }
}

static void a_field_that_is_read_and_no_list_stands_once(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } fields[] = {
        {"Host", "a"},
        {"content-length", "5"},
        {"TRANSFER-ENCODING", "chunked"},
        {"Content-Type", "application/json"},
        {"Connection", "close"},
        {"Expect", "100-continue"},
        {"Origin", "http://127.0.0.1"},
        {"Authorization", "Bearer a"},
        {"idempotency-Key", "a"},
        {"X-Request-Id", "a"},
        {"If-Range", "\"a\""},
        {"Range", "bytes=0-1"},
        {"upload-offset", "5"},
        {"Upload-Length", "7"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char bytes[256];
        struct request_head head = {0};
        struct error error = {0};
        const char *name = fields[i].name, *value = fields[i].value;
        int size = snprintf(bytes, sizeof bytes, LINE "%s: %s\r\nX: y\r\n%s: %s\r\n",
                            name, value, name, value);
        assert_int_equal(request_head_read(&head, bytes, (size_t)size, &error),
                         ST_INVALID);
        assert_non_null(strstr(error.text, "more than one"));
    }
}

/* Every reader skips blanks there (RFC 9110, 5.5), so none reads a different value. */
static void blanks_behind_a_value_are_moved_in_front_of_it(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {LINE "Host: a \r\n\r\n", LINE "Host:  a\r\n\r\n"},
        {LINE "Host:a\t \r\n\r\n", LINE "Host:  a\r\n\r\n"},
        {LINE "Host: a b \r\nX: y\t\r\n\r\n", LINE "Host:  a b\r\nX:  y\r\n\r\n"},
        {LINE "Host: a\r\nX: \t \r\n\r\n", LINE "Host: a\r\nX: \t \r\n\r\n"},
        {LINE "Host: a\r\nX:\r\n\r\n", LINE "Host: a\r\nX:\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[256];
        struct request_head head = {0};
        size_t size = strlen(cases[i].before);
        memcpy(bytes, cases[i].before, size + 1);
        assert_int_equal(request_head_read(&head, bytes, size, NULL), ST_OK);
        assert_int_equal(head.size, size);
        assert_string_equal(bytes, cases[i].after);
    }
}

/* Returns a head of size bytes, with fields of one letter before a long one. */
static char *large_head(size_t size, unsigned fields)
{
    char *bytes = malloc(size + 64), *at = bytes;
    assert_non_null(bytes);
    at += sprintf(at, "GET / HTTP/1.1\r\n" HOST);
    for (unsigned i = 2; i < fields; i++)
        at += sprintf(at, "a:\r\n");
    at += sprintf(at, "b:");
    memset(at, 'x', size - (size_t)(at - bytes));
    memcpy(bytes + size - 4, "\r\n\r\n", 4);
    return bytes;
}

static void a_head_may_be_so_large_and_have_so_many_parts(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        unsigned fields;
        enum status status;
    } cases[] = {
        {LIMIT_HEAD, 2, ST_OK},
        {LIMIT_HEAD + 1, 2, ST_HEAD_TOO_LARGE},
        {3 * LIMIT_HEAD, 2, ST_HEAD_TOO_LARGE},
        {LIMIT_HEAD, LIMIT_HEAD_PARTS, ST_OK},
        {LIMIT_HEAD, LIMIT_HEAD_PARTS + 1, ST_HEAD_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request_head whole = {0}, slow;
        struct error error = {0};
        char *bytes = large_head(cases[i].size, cases[i].fields);
        assert_int_equal(request_head_read(&whole, bytes, cases[i].size, &error),
                         cases[i].status);
        assert_int_equal(read_slowly(&slow, bytes, cases[i].size, &error),
                         cases[i].status);
        free(bytes);
    }
}

static void cookies_and_parameters_are_parts_too(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after;
        unsigned fields;
    } cases[] = {
        {"GET /?a", "&a", " HTTP/1.1\r\n" HOST "\r\n", 1},
        {"GET /?a", "&a", " HTTP/1.0\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\n" HOST "Cookie: a", ";a", "\r\n\r\n", 2},
        {"GET / HTTP/1.1\r\n" HOST "cookie: a", ",a", "\r\n\r\n", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned more = 0; more < 2; more++) {
            unsigned parts = LIMIT_HEAD_PARTS - cases[i].fields + more;
            char bytes[1024];
            struct request_head head = {0};
            int size = snprintf(bytes, sizeof bytes, "%s", cases[i].before);
            for (unsigned j = 0; j < parts; j++)
                size += snprintf(bytes + size, sizeof bytes - (size_t)size, "%s",
                                 cases[i].part);
            size += snprintf(bytes + size, sizeof bytes - (size_t)size, "%s",
                             cases[i].after);
            assert_int_equal(request_head_read(&head, bytes, (size_t)size, NULL),
                             more == 0 ? ST_OK : ST_HEAD_TOO_LARGE);
        }
}

static void a_first_line_without_end_is_refused_in_time(void **state)
{
    (void)state;
    enum { SIZE = LIMIT_URI + 100 };
    char *bytes = malloc(SIZE);
    struct request_head head = {0};
    assert_non_null(bytes);
    memset(bytes, 'x', SIZE);
    memcpy(bytes, "GET /", 5);
    assert_int_equal(request_head_read(&head, bytes, LIMIT_URI, NULL), ST_OK);
    assert_int_equal(request_head_read(&head, bytes, SIZE, NULL), ST_URI_TOO_LONG);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_of_a_head_is_known),
        cmocka_unit_test(a_head_ends_where_it_ends),
        cmocka_unit_test(an_ambiguous_head_is_refused_however_it_comes),
        cmocka_unit_test(a_field_that_is_read_and_no_list_stands_once),
        cmocka_unit_test(blanks_behind_a_value_are_moved_in_front_of_it),
        cmocka_unit_test(a_head_may_be_so_large_and_have_so_many_parts),
        cmocka_unit_test(cookies_and_parameters_are_parts_too),
        cmocka_unit_test(a_first_line_without_end_is_refused_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
