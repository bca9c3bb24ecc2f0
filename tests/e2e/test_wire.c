/* Goal: raw bytes: too many, too slow, several requests at once, and clients that
 * disconnect. (test_smuggling.c has those that could be read in two ways.) */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/wire_fixture.h"

/* An answered exchange ends when the daemon closes, however busy the machine is; but
 * within less than the ten seconds that headers may take, so that the answer, not a
 * deadline, ends it. */
enum { CLOSE_MS = 8000 };

#define HOST  "Host: 127.0.0.1\r\n"
#define CLOSE "Connection: close\r\n"

static void headers_and_targets_have_limits(void **state)
{
    struct stage *stage = *state;
    enum { SIZE = 200 << 10 };
    struct exchange *exchange = malloc(sizeof *exchange);
    char *bytes = malloc(SIZE);
    assert_true(exchange != NULL && bytes != NULL);
    int head = snprintf(bytes, SIZE, "GET /livez HTTP/1.1\r\n" HOST "X: ");
    memset(bytes + head, 'x', (size_t)(SIZE - head - 4));
    memcpy(bytes + SIZE - 4, "\r\n\r\n", 4);
    wire_exchange(exchange, stage->daemon.port, bytes, SIZE, CLOSE_MS);
    assert_int_equal(exchange->status, 431);
    assert_true(exchange->whole && exchange->closed && exchange->problems == 1);
    assert_non_null(strstr(exchange->received, "head_too_large"));
    head = snprintf(bytes, SIZE, "GET /v1/datasets?x=");
    memset(bytes + head, 'x', 9000);
    int size = head + 9000;
    size += snprintf(bytes + size, 100, " HTTP/1.1\r\n" HOST "\r\n");
    wire_exchange(exchange, stage->daemon.port, bytes, (size_t)size, CLOSE_MS);
    assert_int_equal(exchange->status, 414);
    assert_true(exchange->whole && exchange->closed && exchange->problems == 1);
    assert_non_null(strstr(exchange->received, "uri_too_long"));
    free(bytes);
    free(exchange);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct stage *stage = *state;
    const char bytes[] = "GET /livez HTTP/1.1\r\n" HOST "\r\n"
                         "GET /v1/datasets HTTP/1.1\r\n" HOST "\r\n"
                         "GET /v1/version HTTP/1.1\r\n" HOST CLOSE "\r\n";
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    wire_exchange(exchange, stage->daemon.port, bytes, strlen(bytes), CLOSE_MS);
    assert_int_equal(exchange->answers, 3);
    assert_int_equal(exchange->status, 200);
    assert_true(exchange->closed);
    free(exchange);
}

/* Forms to which RFC 9110 and 9112 give one meaning: an absolute target, letters that
 * are percent-encoded without need, blanks after a value, a list in two lines. */
static void what_the_standards_give_one_meaning_is_taken(void **state)
{
    static const struct {
        const char *bytes;
        unsigned status;
    } cases[] = {
        {"GET http://127.0.0.1/livez HTTP/1.1\r\n" HOST CLOSE "\r\n", 200},
        {"GET HTTP://LOCALHOST:80/livez? HTTP/1.1\r\nHost: localhost:80\r\n" CLOSE
         "\r\n",
         200},
        {"GET http://127.0.0.1/v1/datasets?page_size=1 HTTP/1.1\r\n" HOST CLOSE "\r\n",
         200},
        {"GET http://127.0.0.1 HTTP/1.1\r\n" HOST CLOSE "\r\n", 302},
        {"GET http://example.org/livez HTTP/1.1\r\nHost: example.org\r\n" CLOSE "\r\n",
         200}, /* a route that any host may ask for */
        {"GET http://example.org/v1/jobs HTTP/1.1\r\nHost: example.org\r\n" CLOSE
         "\r\n",
         403},
        {"GET /%6C%69vez HTTP/1.1\r\n" HOST CLOSE "\r\n", 200},
        {"GET /%76%31/%64atasets HTTP/1.1\r\n" HOST CLOSE "\r\n", 200},
        {"GET /v1%2fdatasets HTTP/1.1\r\n" HOST CLOSE "\r\n", 400},
        {"GET /v1/jobs%3Aestimate HTTP/1.1\r\n" HOST CLOSE "\r\n", 404},
        {"GET /livez HTTP/1.1\r\nHost: 127.0.0.1 \t \r\nConnection: close \r\n\r\n",
         200},
        {"POST /v1/datasets:check HTTP/1.1\r\n" HOST
         "Content-Type: application/json \r\nContent-Length: 2 \t\r\n" CLOSE "\r\n{}",
         400},
        {"POST /v1/datasets/none:import HTTP/1.1\r\n" HOST
         "Transfer-Encoding: chunked \r\n" CLOSE "\r\n2\r\n{}\r\n0\r\n\r\n",
         404},
        {"GET /v1/datasets HTTP/1.1\r\n" HOST CLOSE "Accept: text/html\r\n"
         "Accept: application/json\r\n\r\n",
         200},
        {"GET /livez HTTP/1.1\r\n" HOST CLOSE "If-None-Match: \"a\"\r\n"
         "If-None-Match: *\r\n\r\n",
         304},
    };
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wire_exchange(exchange, stage->daemon.port, cases[i].bytes,
                      strlen(cases[i].bytes), CLOSE_MS);
        if (exchange->status != cases[i].status || exchange->answers != 1 ||
            !exchange->closed)
            fail_msg("%s: %u\n%s", cases[i].bytes, exchange->status,
                     exchange->received);
    }
    free(exchange);
}

static void clients_that_go_away_while_they_wait_do_no_harm(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(2));
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    char bytes[256];
    snprintf(bytes, sizeof bytes, "GET /v1/jobs/%s?wait=30 HTTP/1.1\r\n" HOST "\r\n",
             job);
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    for (int i = 0; i < 40; i++)
        wire_exchange(exchange, stage->daemon.port, bytes, strlen(bytes), 1);
    free(exchange);
    cancel(client, job);
    assert_string_equal(reply_text(await_end(client, job), "state"), "CANCELLED");
    assert_status(client_get(client, "/readyz"), 200);
}

static void an_early_refusal_reads_no_body(void **state)
{
    struct stage *stage = *state;
    const char bytes[] = "PUT /v1/datasets/nowhere/files/data HTTP/1.1\r\n" HOST
                         "Content-Length: 10000000000\r\n"
                         "Expect: 100-continue\r\n\r\n";
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    wire_exchange(exchange, stage->daemon.port, bytes, strlen(bytes), CLOSE_MS);
    assert_int_equal(exchange->status, 404);
    assert_true(exchange->closed);
    free(exchange);
}

/* A client would lose an answer that is sent before its body: the connection is reset
 * when the body arrives. A proxy may pass on Expect and yet send the body at once, as
 * Caddy does. */
static void a_refusal_waits_for_a_short_body(void **state)
{
    static const struct {
        const char *head;
        unsigned status;
    } cases[] = {
        {"POST /v1/nowhere HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n", 404},
        {"POST /v1/jobs:estimate HTTP/1.1\r\n" HOST "Content-Type: text/html\r\n"
         "Content-Length: 2\r\n\r\n",
         415},
        {"POST /v1/jobs:estimate HTTP/1.1\r\n" HOST "Origin: https://evil.example\r\n"
         "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n",
         403},
        {"GET /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n", 413},
        {"POST /v1/nowhere HTTP/1.1\r\n" HOST
         "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
         404},
    };
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool expects = strstr(cases[i].head, "Expect") != NULL, silent;
        silent = wire_exchange_in_two(exchange, stage->daemon.port, cases[i].head, "{}",
                                      200, CLOSE_MS);
        assert_int_equal(silent, !expects);
        const char *answer = exchange->received;
        if (expects) {
            assert_memory_equal(answer, go_on, sizeof go_on - 1);
            answer += sizeof go_on - 1;
        }
        assert_int_equal(strtoul(answer + strlen("HTTP/1.1 "), NULL, 10),
                         cases[i].status);
        assert_true(exchange->whole && exchange->closed);
    }
    free(exchange);
}

static void a_client_that_sends_its_headers_too_slowly_is_dropped(void **state)
{
    struct stage *stage = *state;
    /* Within 25 s, so the time-out of an idle connection (30 s) cannot be what ends
     * it. */
    assert_true(wire_dribble(stage->daemon.port, "GET /livez HTTP/1.1\r\nX: ", 25));
}

static void the_daemon_serves_on_after_all_that(void **state)
{
    struct stage *stage = *state;
    assert_status(client_get(&stage->client, "/readyz"), 200);
    assert_false(daemon_logged(&stage->daemon, "ERROR: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_and_targets_have_limits),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(what_the_standards_give_one_meaning_is_taken),
        cmocka_unit_test(clients_that_go_away_while_they_wait_do_no_harm),
        cmocka_unit_test(an_early_refusal_reads_no_body),
        cmocka_unit_test(a_refusal_waits_for_a_short_body),
        cmocka_unit_test(a_client_that_sends_its_headers_too_slowly_is_dropped),
        cmocka_unit_test(the_daemon_serves_on_after_all_that),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
