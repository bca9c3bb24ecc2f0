/* Goal: a request that two parsers could read differently gets one problem and a closed
 * connection, and a request that is hidden in it or after it is never run. Method: the
 * same bytes are sent over TLS too, and to nginx as a reverse proxy of the daemon
 * (deploy/nginx): nothing passes nginx that is refused without it, except for what
 * nginx itself corrects. Further, thousands of heads with a few bytes changed at
 * random: every answer is one that the daemon defines.
 *
 * The hidden request would register a dataset: afterwards there is none of that
 * name. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/front_fixture.h"
#include "tests/e2e/identity_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/wire_fixture.h"

/* An answered exchange ends when the daemon closes, however busy the machine is; but
 * within less than the ten seconds that headers may take, so that the answer, not a
 * deadline, ends it. A reverse proxy may wait for a body that does not come. */
enum { CLOSE_MS = 8000, FRONT_MS = 1000, BYTES_MAX = 8192 };

/* In these texts ~ is a NUL, @R the hidden request, @L its size and @X its size in
 * hexadecimal; @J is a body that registers the same dataset, @B its size, and @I the
 * dataset's id. */
#define ECHO     "Marker: is-not-to-be-repeated\r\n"
#define HOST     "Host: 127.0.0.1\r\n" ECHO
#define JSON     "Content-Type: application/json\r\n"
#define ESTIMATE "POST /v1/jobs:estimate HTTP/1.1\r\n" HOST JSON
#define CHUNKED  ESTIMATE "Transfer-Encoding: chunked\r\n\r\n"
#define CREATE   "POST /v1/datasets HTTP/1.1\r\n"
#define BODY     "Content-Length: @B\r\n\r\n@J"
#define LIST     "GET /v1/datasets HTTP/1.1\r\n"
#define LAST     "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"

struct crafted {
    const char *what, *bytes;
    bool mended; /* nginx corrects it: it may be answered like a valid request */
};

static const struct crafted crafted[] = {
    /* --- where the body begins and ends --- */
    {"a folded length", ESTIMATE "Content-Length:\r\n @L\r\n\r\n@R", false},
    {"a folded length, by a tab", ESTIMATE "Content-Length:\r\n\t@L\r\n\r\n@R", false},
    {"a length folded in two", ESTIMATE "Content-Length: 0\r\n @L\r\n\r\n@R", false},
    {"folded chunks beside a length",
     ESTIMATE "Content-Length: @L\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n@R",
     false},
    {"a length, folded onto another header",
     ESTIMATE "X: y\r\n Content-Length: @L\r\n\r\n@R", false},
    {"a folded first header",
     "POST /v1/jobs:estimate HTTP/1.1\r\n Content-Length: @L\r\n" HOST "\r\n@R", false},
    {"length and chunks",
     ESTIMATE "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n@R",
     false},
    {"chunks and length",
     ESTIMATE "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n@R",
     false},
    {"two lengths", ESTIMATE "Content-Length: 4\r\nContent-Length: @L\r\n\r\n{  }@R",
     false},
    {"one length twice", ESTIMATE "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}@R",
     false},
    {"a NUL in a length", ESTIMATE "Content-Length: 2~ 9\r\n\r\n{}@R", false},
    {"a NUL before a length", ESTIMATE "Content-Length: ~@L\r\n\r\n@R", false},
    {"a NUL in a header's name", ESTIMATE "Content-Length~: @L\r\n\r\n@R", false},
    {"an empty length", ESTIMATE "Content-Length:\r\n\r\n@R", false},
    {"a negative length", ESTIMATE "Content-Length: -5\r\n\r\n@R", false},
    {"a signed length", ESTIMATE "Content-Length: +5\r\n\r\n{  } @R", false},
    {"a list of lengths", ESTIMATE "Content-Length: 5,5\r\n\r\n{  } @R", false},
    {"a length in hexadecimal", ESTIMATE "Content-Length: 0x@X\r\n\r\n@R", false},
    {"a length over 2^64", ESTIMATE "Content-Length: 100000000000000000000\r\n\r\n@R",
     false},
    {"a blank before the colon", ESTIMATE "Content-Length : @L\r\n\r\n@R", false},
    {"gzip, chunked", ESTIMATE "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n@R",
     false},
    {"an unknown coding", ESTIMATE "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n@R",
     false},
    {"chunked twice",
     ESTIMATE "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
              "0\r\n\r\n@R",
     false},
    {"chunks in HTTP/1.0",
     "POST /v1/jobs:estimate HTTP/1.0\r\n" HOST JSON
     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n@R",
     false},
    {"a body on GET", LIST HOST "Content-Length: @L\r\n\r\n@R", false},
    /* --- chunks --- */
    {"a chunk with an extension", CHUNKED "@X;a=b\r\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size after a blank", CHUNKED " @X\r\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size before a blank", CHUNKED "@X \r\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size with 0x", CHUNKED "0x@X\r\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size that ends in LF", CHUNKED "@X\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size without digits", CHUNKED "\r\n@R\r\n0\r\n\r\n", false},
    {"a chunk's size over 2^64", CHUNKED "10000000000000002\r\n{}\r\n0\r\n\r\n@R",
     false},
    {"a chunk longer than its size", CHUNKED "2\r\n{}0\r\n\r\n@R", false},
    {"a chunk that ends in LF", CHUNKED "@X\r\n@R\n0\r\n\r\n", false},
    {"trailers", CHUNKED "0\r\nContent-Length: @L\r\n\r\n@R", true},
    /* --- values that end too early, or occur twice --- */
    {"a NUL in Host",
     CREATE "Host: 127.0.0.1~.evil\r\n" JSON "Idempotency-Key: @I\r\n" BODY, false},
    {"a NUL in Origin",
     CREATE HOST JSON "Idempotency-Key: @I\r\nOrigin: http://127.0.0.1~.evil\r\n" BODY,
     false},
    {"a NUL in a key", CREATE HOST JSON "Idempotency-Key: @I~b\r\n" BODY, false},
    {"a NUL in a type",
     CREATE HOST "Content-Type: application/json~\r\nIdempotency-Key: @I\r\n" BODY,
     false},
    {"two hosts", CREATE HOST "Host: evil\r\n" JSON "Idempotency-Key: @I\r\n" BODY,
     false},
    {"two origins",
     CREATE HOST JSON "Origin: http://127.0.0.1\r\nOrigin: http://evil\r\n"
                      "Idempotency-Key: @I\r\n" BODY,
     false},
    {"two keys", CREATE HOST JSON "Idempotency-Key: @I\r\nIdempotency-Key: b\r\n" BODY,
     false},
    {"two types",
     CREATE HOST JSON "Content-Type: text/plain\r\nIdempotency-Key: @I\r\n" BODY,
     false},
    {"two request ids", LIST HOST "X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n@R",
     false},
    {"two ranges", LIST HOST "Range: bytes=0-1\r\nRange: bytes=2-3\r\n\r\n@R", false},
    {"a folded header", LIST HOST "X: a\r\n b\r\n\r\n@R", false},
    {"a bell in a value", LIST HOST "X: a\ab\r\n\r\n@R", false},
    {"a lone CR in a value", LIST HOST "X: a\rContent-Length: @L\r\n\r\n@R", false},
    /* --- the request line, and line ends --- */
    {"no host", LIST "\r\n@R", false},
    {"lines that end in LF", "GET /v1/datasets HTTP/1.1\nHost: 127.0.0.1\n\n@R", true},
    {"one line that ends in LF", LIST "Host: 127.0.0.1\n\r\n@R", true},
    {"an empty line in front", "\r\n" LIST HOST "\r\n@R", true},
    {"a blank in front", " " LIST HOST "\r\n@R", false},
    {"HTTP/0.9", "GET /v1/datasets\r\n@R", false},
    {"HTTP/1.2", "GET /v1/datasets HTTP/1.2\r\n" HOST "\r\n@R", true},
    {"HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n@R", false},
    {"HTTP/3.9", "GET /livez HTTP/3.9\r\n" HOST "\r\n@R", false},
    {"an absolute target of another host",
     "GET http://evil/v1/datasets HTTP/1.1\r\n" HOST "\r\n@R", true},
    {"an absolute target with a user",
     "GET http://127.0.0.1@evil/v1/datasets HTTP/1.1\r\n" HOST "\r\n@R", true},
    {"an asterisk", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"a NUL in the path", "GET /v1/datasets~/x HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"an encoded NUL", "GET /v1/datasets%00 HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"an encoded LF", "GET /v1/datasets?state=%0a HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"an encoded slash", "GET /v1%2Fdatasets HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"encoded dots and slashes",
     "GET /v1/models/..%2f..%2fepsilond.db/content HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"dots", "GET /v1/jobs/../datasets HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"encoded dots", "GET /v1/jobs/%2e%2e/datasets HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"two slashes", "GET /v1//datasets HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"no UTF-8", "GET /v1/datasets/%ff HTTP/1.1\r\n" HOST "\r\n@R", false},
    {"bytes that are not ASCII", "GET /v1/datasets/\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n@R",
     false},
};

enum { CRAFTED = sizeof crafted / sizeof *crafted };

struct bytes {
    char text[BYTES_MAX];
    size_t size;
};

static void add(struct bytes *bytes, const char *text)
{
    size_t size = strlen(text);
    assert_true(bytes->size + size < sizeof bytes->text);
    memcpy(bytes->text + bytes->size, text, size);
    bytes->size += size;
}

/* Fills in the pattern as it is sent; the hidden request names the dataset id. */
static void fill(struct bytes *bytes, const char *pattern, const char *id)
{
    char body[512], request[1024], size[32];
    snprintf(body, sizeof body,
             "{\"id\":\"%s\",\"format\":\"csv\",\"task\":\"classification\","
             "\"classes\":2,\"header\":false,\"columns\":["
             "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]},"
             "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"0\",\"1\"]}],"
             "\"privacy\":\"public\"}",
             id);
    snprintf(request, sizeof request,
             CREATE "Host: 127.0.0.1\r\n" JSON "Idempotency-Key: %s\r\n"
                    "Content-Length: %zu\r\n\r\n%s",
             id, strlen(body), body);
    bytes->size = 0;
    for (const char *at = pattern; *at != '\0'; at++) {
        char one[2] = {*at, '\0'};
        const char *what = one;
        if (*at == '@') {
            at++;
            snprintf(size, sizeof size, *at == 'X' ? "%zx" : "%zu",
                     *at == 'B' ? strlen(body) : strlen(request));
            what = *at == 'R' ? request : *at == 'J' ? body : *at == 'I' ? id : size;
        }
        add(bytes, what);
        if (*at == '~')
            bytes->text[bytes->size - 1] = '\0';
    }
}

static bool was_registered(struct client *client, const char *id)
{
    long status = client_get(client, "/v1/datasets/%s", id)->status;
    assert_true(status == 200 || status == 404);
    return status == 200;
}

static void show(const struct crafted *one, const struct exchange *exchange, bool ran)
{
    print_error("%s: %u answers, %u of them problems, first %u, %s%s%s\n%.600s\n",
                one->what, exchange->answers, exchange->problems, exchange->status,
                exchange->closed ? "closed" : "left open",
                exchange->whole ? "" : ", other bytes", ran ? ", RUN" : "",
                exchange->received);
}

/* Sent by itself, the hidden request is run; otherwise the other tests would prove
 * nothing. */
static void what_is_hidden_would_be_run_alone(void **state)
{
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    fill(bytes, LIST HOST "\r\n@R" LAST, "in-order");
    wire_exchange(exchange, stage->daemon.port, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->answers, 3);
    assert_int_equal(exchange->successes, 3);
    assert_true(was_registered(&stage->client, "in-order"));
    fill(bytes, CREATE HOST JSON "Idempotency-Key: body\r\n" BODY LAST, "body");
    wire_exchange(exchange, stage->daemon.port, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->status, 201);
    assert_true(was_registered(&stage->client, "body"));
    free(bytes);
    free(exchange);
}

/* Sends each request by itself, with ids that begin with prefix, and counts those that
 * get anything but one problem. */
static unsigned send_each(struct client *client, const char *prefix)
{
    const struct daemon *daemon = client->daemon;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    unsigned wrong = 0;
    for (size_t i = 0; i < CRAFTED; i++) {
        char id[32];
        snprintf(id, sizeof id, "%s-%zu", prefix, i);
        fill(bytes, crafted[i].bytes, id);
        if (daemon->certificate != NULL)
            wire_exchange_tls(exchange, daemon, bytes->text, bytes->size, CLOSE_MS);
        else
            wire_exchange(exchange, daemon->port, bytes->text, bytes->size, CLOSE_MS);
        bool ran = was_registered(client, id);
        if (!ran && exchange->answers == 1 && exchange->problems == 1 &&
            exchange->whole && exchange->closed && exchange->status >= 400 &&
            exchange->status < 500 && strstr(exchange->received, "<html") == NULL &&
            strstr(exchange->received, "repeated") == NULL)
            continue;
        show(&crafted[i], exchange, ran);
        wrong++;
    }
    free(bytes);
    free(exchange);
    return wrong;
}

static void each_gets_one_problem_and_hides_nothing(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(send_each(&stage->client, "direct"), 0);
}

static void by_tls_each_gets_the_same(void **state)
{
    struct daemon daemon;
    struct client client;
    struct identity identity;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    (void)state;
    daemon_init(&daemon);
    client_init(&client, &daemon);
    identity_make(&identity, daemon.directory, "daemon");
    daemon_start(&daemon, (const char *const[]){"--tls-cert", identity.certificate,
                                                "--tls-key", identity.key, NULL});
    fill(bytes, LIST HOST "\r\n@R" LAST, "in-order");
    wire_exchange_tls(exchange, &daemon, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->answers, 3);
    assert_int_equal(exchange->successes, 3);
    assert_true(was_registered(&client, "in-order"));
    assert_int_equal(send_each(&client, "by-tls"), 0);
    assert_false(daemon_logged(&daemon, "bytes were not checked"));
    free(bytes);
    free(exchange);
    client_fini(&client);
    daemon_fini(&daemon);
}

/* Valid requests before it are answered first, then this one. */
static void what_came_before_is_answered_first(void **state)
{
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    fill(bytes,
         LIST HOST "\r\n" ESTIMATE "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
                   "0\r\n\r\n" LIST HOST "\r\n" LIST HOST "X: a\r\n b\r\n\r\n@R",
         "behind");
    wire_exchange(exchange, stage->daemon.port, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->answers, 4);
    assert_int_equal(exchange->successes, 2);
    assert_int_equal(exchange->problems, 2);
    assert_true(exchange->whole && exchange->closed);
    assert_non_null(strstr(exchange->received, "a folded header"));
    assert_false(was_registered(&stage->client, "behind"));
    free(bytes);
    free(exchange);
}

/* A chunked upload with an invalid chunk leaves no file. */
static void an_upload_cut_short_is_no_file(void **state)
{
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    assert_status(declare_points(&stage->client, "cut", SAMPLE_PUBLIC), 201);
    fill(bytes,
         "PUT /v1/datasets/cut/files/data HTTP/1.1\r\n" HOST
         "Transfer-Encoding: chunked\r\n\r\n9\r\n.1,.2,no\n\r\n9;\r\n@R",
         "behind");
    wire_exchange(exchange, stage->daemon.port, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->status, 400);
    assert_true(exchange->answers == 1 && exchange->problems == 1 && exchange->closed);
    assert_problem(client_act(&stage->client, "/v1/datasets/cut:import"), 422,
                   "import_failed");
    assert_false(was_registered(&stage->client, "behind"));
    free(bytes);
    free(exchange);
}

static void a_head_request_is_refused_without_a_body(void **state)
{
    struct stage *stage = *state;
    const char bytes[] = "HEAD /livez HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n";
    struct exchange *exchange = malloc(sizeof *exchange);
    assert_non_null(exchange);
    wire_exchange(exchange, stage->daemon.port, bytes, strlen(bytes), CLOSE_MS);
    assert_memory_equal(exchange->received, "HTTP/1.1 400", 12);
    assert_true(exchange->closed);
    assert_memory_equal(exchange->received + exchange->size - 4, "\r\n\r\n", 4);
    free(exchange);
}

static void behind_a_front_nothing_more_is_taken(void **state)
{
    struct stage *stage = *state;
    struct front front;
    if (!front_start(&front, FRONT_NGINX, &stage->daemon))
        skip(); /* front_start has given the reason */
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    fill(bytes, LIST HOST "\r\n@R", "fronted");
    add(bytes, LAST);
    wire_exchange(exchange, front.port, bytes->text, bytes->size, CLOSE_MS);
    assert_int_equal(exchange->answers, 3);
    assert_int_equal(exchange->successes, 3);
    assert_true(was_registered(&stage->client, "fronted"));
    unsigned wrong = 0;
    for (size_t i = 0; i < CRAFTED; i++) {
        /* If a proxy parses the first request as the daemon would, what follows is an
         * ordinary second request and not hidden. Only what may be a body must not be
         * run. */
        bool follows = strncmp(crafted[i].bytes, "POST", 4) != 0 || crafted[i].mended;
        char id[32];
        snprintf(id, sizeof id, "fronted-%zu", i);
        fill(bytes, crafted[i].bytes, id);
        add(bytes, LAST);
        wire_exchange(exchange, front.port, bytes->text, bytes->size, FRONT_MS);
        bool ran = was_registered(&stage->client, id);
        if ((!ran || follows) && (exchange->status / 100 != 2 || crafted[i].mended))
            continue;
        show(&crafted[i], exchange, ran);
        wrong++;
    }
    free(bytes);
    free(exchange);
    front_stop(&front);
    assert_int_equal(wrong, 0);
}

/* --- at random --- */

enum { MUTANTS = 2000, QUIET_MS = 200 }; /* some wait for a body that never comes */

static uint64_t next(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Removes some bytes at a random position and inserts a few others. */
static void mutate(struct bytes *bytes, uint64_t *seed)
{
    static const char *const pieces[] = {"",
                                         "\r\n",
                                         "\n",
                                         "\r",
                                         " ",
                                         "\t",
                                         ":",
                                         "~",
                                         "%2F",
                                         "%00",
                                         "%",
                                         "\x7f",
                                         "\xff",
                                         "HTTP/1.1",
                                         ",",
                                         ";",
                                         "0",
                                         "9",
                                         "..",
                                         "//",
                                         "\r\n ",
                                         "\r\n\r\n",
                                         "Content-Length: 3\r\n",
                                         "Transfer-Encoding: chunked\r\n",
                                         "Host: evil\r\n",
                                         "X: y\r\n",
                                         "Expect: 100-continue\r\n",
                                         "Cookie: a=b;c\r\n"};
    const char *piece = pieces[next(seed) % (sizeof pieces / sizeof *pieces)];
    size_t put = strlen(piece), at = next(seed) % (bytes->size + 1);
    size_t cut = next(seed) % 4 == 0 ? next(seed) % 12 : next(seed) % 2;
    cut = cut < bytes->size - at ? cut : bytes->size - at;
    assert_true(bytes->size + put < sizeof bytes->text);
    memmove(bytes->text + at + put, bytes->text + at + cut, bytes->size - at - cut);
    memcpy(bytes->text + at, piece, put);
    if (*piece == '~')
        bytes->text[at] = '\0';
    bytes->size += put - cut;
}

static void every_answer_to_random_bytes_is_one_of_ours(void **state)
{
    static const char *const starts[] = {
        "GET /livez HTTP/1.1\r\n" HOST "Accept: */*\r\n\r\n",
        LIST HOST "Connection: keep-alive\r\n\r\n" LIST HOST "\r\n",
        ESTIMATE "Content-Length: 2\r\n\r\n{}" LIST HOST "\r\n",
        CHUNKED "2\r\n{}\r\n0\r\n\r\n" LIST HOST "\r\n",
        "GET /v1/jobs?page_size=1 HTTP/1.0\r\n" HOST "Cookie: a=b; c=d\r\n\r\n",
    };
    struct stage *stage = *state;
    struct exchange *exchange = malloc(sizeof *exchange);
    struct bytes *bytes = malloc(sizeof *bytes);
    assert_true(exchange != NULL && bytes != NULL);
    uint64_t seed = 1;
    unsigned wrong = 0, problems = 0, successes = 0;
    for (unsigned i = 0; i < MUTANTS; i++) {
        fill(bytes, starts[next(&seed) % (sizeof starts / sizeof *starts)], "none");
        for (uint64_t left = 1 + next(&seed) % 3; left > 0; left--)
            mutate(bytes, &seed);
        add(bytes, LAST);
        wire_exchange(exchange, stage->daemon.port, bytes->text, bytes->size, QUIET_MS);
        problems += exchange->problems;
        successes += exchange->successes;
        if ((exchange->whole || !exchange->closed) &&
            strstr(exchange->received, "<html") == NULL &&
            strstr(exchange->received, "repeated") == NULL)
            continue;
        print_error("%.*s\n--- is answered by\n%s\n", (int)bytes->size, bytes->text,
                    exchange->received);
        wrong++;
    }
    free(bytes);
    free(exchange);
    assert_int_equal(wrong, 0);
    assert_true(problems > MUTANTS / 4 && successes > MUTANTS / 4);
}

static void the_daemon_serves_on_after_all_that(void **state)
{
    struct stage *stage = *state;
    assert_status(client_get(&stage->client, "/readyz"), 200);
    assert_false(daemon_logged(&stage->daemon, "ERROR: "));
    assert_false(daemon_logged(&stage->daemon, "bytes were not checked"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_hidden_would_be_run_alone),
        cmocka_unit_test(each_gets_one_problem_and_hides_nothing),
        cmocka_unit_test(by_tls_each_gets_the_same),
        cmocka_unit_test(what_came_before_is_answered_first),
        cmocka_unit_test(an_upload_cut_short_is_no_file),
        cmocka_unit_test(a_head_request_is_refused_without_a_body),
        cmocka_unit_test(behind_a_front_nothing_more_is_taken),
        cmocka_unit_test(every_answer_to_random_bytes_is_one_of_ours),
        cmocka_unit_test(the_daemon_serves_on_after_all_that),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
