/* Goal: nothing is sent to an address that may not be called, neither through a name
 * that resolves to it nor through a redirect; and no answer takes more memory or time
 * than allowed. Method: real servers on 127.0.0.1, which is allowed, and on 127.0.0.2,
 * which is not and counts connections; and a resolver in this program, which libcurl
 * finds before the C library's, since symbols of the program come first. */
#include "tests/expect.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "service/outbound/transfers.h"

/* --- the resolver --- */

enum { TURNS_MAX = 4 };

static struct {
    atomic_uint turn;                 /* each transfer resolves on its own thread */
    uint32_t addresses[TURNS_MAX][2]; /* of each turn, in order; 0: no more */
} answers;

static struct addrinfo *make_info(uint32_t address, uint16_t port,
                                  struct addrinfo *next)
{
    struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
    struct sockaddr_in *to = (struct sockaddr_in *)(info + 1);
    assert_non_null(info);
    *to = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_port = htons(port),
                               .sin_addr.s_addr = htonl(address)};
    *info = (struct addrinfo){.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_protocol = IPPROTO_TCP,
                              .ai_addrlen = sizeof *to,
                              .ai_addr = (struct sockaddr *)to,
                              .ai_next = next};
    return info;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    const uint32_t *addresses = answers.addresses[answers.turn++ % TURNS_MAX];
    uint16_t port = (uint16_t)strtoul(service, NULL, 10);
    (void)node;
    (void)hints;
    if (addresses[0] == 0)
        return EAI_NONAME;
    *result = make_info(addresses[0], port,
                        addresses[1] != 0 ? make_info(addresses[1], port, NULL) : NULL);
    return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
    while (info != NULL) {
        struct addrinfo *next = info->ai_next;
        free(info);
        info = next;
    }
}

/* --- servers --- */

struct server {
    int socket;
    uint16_t port;
    _Atomic(const char *) answer; /* NULL: none */
    atomic_size_t repeats;        /* of "x", after the answer */
    atomic_uint served;
    pthread_t thread;
};

static void answer(struct server *server, int connection)
{
    char chunk[4096];
    const char *text = server->answer;
    size_t repeats = server->repeats;
    size_t head = 0;
    while (head < sizeof chunk - 1) {
        ssize_t got = recv(connection, chunk + head, sizeof chunk - 1 - head, 0);
        if (got <= 0)
            return;
        head += (size_t)got;
        chunk[head] = '\0';
        if (strstr(chunk, "\r\n\r\n") != NULL)
            break;
    }
    if (text == NULL) {
        while (recv(connection, chunk, sizeof chunk, 0) > 0)
            continue;
        return;
    }
    send(connection, text, strlen(text), MSG_NOSIGNAL);
    memset(chunk, 'x', sizeof chunk);
    for (size_t sent = 0; sent < repeats; sent += sizeof chunk)
        if (send(connection, chunk, sizeof chunk, MSG_NOSIGNAL) < 0)
            return;
}

static void *serve(void *argument)
{
    struct server *server = argument;
    int connection;
    while ((connection = accept(server->socket, NULL, NULL)) >= 0) {
        atomic_fetch_add(&server->served, 1);
        answer(server, connection);
        close(connection);
    }
    return NULL;
}

/* Returns false if another program has the port. */
static bool open_server(struct server *server, uint32_t address, uint16_t port,
                        const char *text)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(address)};
    socklen_t size = sizeof to;
    *server = (struct server){.answer = text};
    server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server->socket, (struct sockaddr *)&to, sizeof to) != 0) {
        close(server->socket);
        return false;
    }
    assert_int_equal(listen(server->socket, 8), 0);
    assert_int_equal(getsockname(server->socket, (struct sockaddr *)&to, &size), 0);
    server->port = ntohs(to.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
    return true;
}

static void close_server(struct server *server)
{
    shutdown(server->socket, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->socket);
}

/* --- transfers --- */

enum { ALLOWED = 0x7f000001, FORBIDDEN = 0x7f000002, BODY_MAX = 65536 };

static const char empty[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

struct scene {
    struct server allowed, forbidden; /* at the same port */
    struct transfer_rules rules;
    char url[64];
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    memset(&answers, 0, sizeof answers);
    assert_true(open_server(&scene->allowed, ALLOWED, 0, empty));
    while (!open_server(&scene->forbidden, FORBIDDEN, scene->allowed.port, empty)) {
        close_server(&scene->allowed); /* for another port */
        assert_true(open_server(&scene->allowed, ALLOWED, 0, empty));
    }
    scene->rules.ca_file = "";
    host_address_list_parse(&scene->rules.allowed, "127.0.0.1", NULL);
    snprintf(scene->url, sizeof scene->url, "http://turns.test:%u/a",
             scene->allowed.port);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    close_server(&scene->allowed);
    close_server(&scene->forbidden);
    free(scene);
    return 0;
}

static struct transfer_request request_of(const struct scene *scene)
{
    return (struct transfer_request){.url = scene->url,
                                     .answer_max = BODY_MAX,
                                     .connect_ms = 20000,
                                     .whole_ms = 20000};
}

static struct transfer_result run(const struct scene *scene,
                                  const struct transfer_request *request)
{
    struct transfer *transfer = transfer_create(&scene->rules, request);
    struct transfer_result result = transfer_run(transfer);
    transfer_destroy(transfer);
    return result;
}

static void expect(struct transfer_result result, enum transfer_end ends,
                   unsigned status)
{
    assert_string_equal(transfer_end_name(result.end), transfer_end_name(ends));
    assert_int_equal(result.status, status);
}

static void a_name_is_checked_by_what_it_resolves_to(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    answers.addresses[0][0] = FORBIDDEN;
    expect(run(scene, &request), TRANSFER_UNREACHABLE, 0);
    assert_int_equal(scene->forbidden.served, 0);
}

static void a_name_that_changes_is_checked_each_time(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    answers.addresses[0][0] = ALLOWED;
    answers.addresses[1][0] = FORBIDDEN;
    expect(run(scene, &request), TRANSFER_ANSWERED, 204);
    expect(run(scene, &request), TRANSFER_UNREACHABLE, 0);
    assert_int_equal(scene->allowed.served, 1);
    assert_int_equal(scene->forbidden.served, 0);
}

static void of_several_addresses_the_allowed_ones_are_called(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    answers.addresses[0][0] = FORBIDDEN;
    answers.addresses[0][1] = ALLOWED;
    expect(run(scene, &request), TRANSFER_ANSWERED, 204);
    assert_int_equal(scene->allowed.served, 1);
    assert_int_equal(scene->forbidden.served, 0);
}

static void a_name_that_is_none_reads_like_one_that_is_forbidden(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    expect(run(scene, &request), TRANSFER_UNREACHABLE, 0);
}

/* Even if the operator allows other addresses. */
static void http_goes_to_loopback_alone(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    host_address_list_parse(&scene->rules.allowed, "192.0.2.0/24,127.0.0.1", NULL);
    answers.addresses[0][0] = 0xc0000201;
    expect(run(scene, &request), TRANSFER_UNREACHABLE, 0);
}

static void a_redirection_is_an_answer(void **state)
{
    struct scene *scene = *state;
    char away[128];
    const struct transfer_request request = request_of(scene);
    snprintf(away, sizeof away,
             "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:%u/\r\n"
             "Content-Length: 0\r\n\r\n",
             scene->forbidden.port);
    scene->allowed.answer = away;
    answers.addresses[0][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_ANSWERED, 302);
    assert_int_equal(scene->forbidden.served, 0);
}

static void a_redirection_that_is_followed_is_checked(void **state)
{
    struct scene *scene = *state;
    char away[128];
    struct transfer_request request = request_of(scene);
    request.redirects_max = 3;
    snprintf(away, sizeof away,
             "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:%u/\r\n"
             "Connection: close\r\n\r\n",
             scene->forbidden.port);
    scene->allowed.answer = away;
    answers.addresses[0][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_UNREACHABLE, 0);
    assert_int_equal(scene->forbidden.served, 0);
    scene->allowed.answer = "HTTP/1.1 302 Found\r\nLocation: file:///etc/hostname\r\n"
                            "Connection: close\r\n\r\n";
    answers.turn = 0;
    expect(run(scene, &request), TRANSFER_REDIRECTED, 0);
    scene->allowed.answer = "HTTP/1.1 302 Found\r\nLocation: /a\r\n"
                            "Connection: close\r\n\r\n";
    answers.turn = 0;
    for (int i = 0; i < TURNS_MAX; i++)
        answers.addresses[i][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_REDIRECTED, 0);
}

static void what_does_not_speak_http_is_called_so(void **state)
{
    struct scene *scene = *state;
    static const char *const greetings[] = {
        "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.example.org ESMTP\r\n", "\x15\x03\x03\n",
        "+OK ready\r\n", "plain words\r\n\r\n"};
    for (size_t redirects = 0; redirects < 2; redirects++)
        for (size_t i = 0; i < sizeof greetings / sizeof *greetings; i++) {
            struct transfer_request request = request_of(scene);
            request.redirects_max = (unsigned)redirects;
            scene->allowed.answer = greetings[i];
            answers.turn = 0;
            answers.addresses[0][0] = ALLOWED;
            expect(run(scene, &request), TRANSFER_NOT_HTTP, 0);
        }
}

static bool take(void *context, const void *data, size_t size)
{
    (void)data;
    *(size_t *)context += size;
    return true;
}

static void an_endless_body_is_cut(void **state)
{
    struct scene *scene = *state;
    size_t taken = 0;
    struct transfer_request request = request_of(scene);
    scene->allowed.answer = "HTTP/1.1 200 OK\r\n\r\n";
    scene->allowed.repeats = 1 << 30;
    answers.addresses[0][0] = answers.addresses[1][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_ANSWERED, 200);
    request.wanted = 200;
    request.take = take;
    request.context = &taken;
    expect(run(scene, &request), TRANSFER_TOO_LARGE, 0);
    assert_true(taken <= BODY_MAX);
}

static void an_endless_head_is_cut(void **state)
{
    struct scene *scene = *state;
    const struct transfer_request request = request_of(scene);
    scene->allowed.answer = "HTTP/1.1 200 OK\r\nX-More: ";
    scene->allowed.repeats = 1 << 30;
    answers.addresses[0][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_TOO_LARGE, 0);
}

static void no_answer_is_not_waited_for(void **state)
{
    struct scene *scene = *state;
    struct transfer_request request = request_of(scene);
    scene->allowed.answer = NULL;
    request.whole_ms = 100;
    answers.addresses[0][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_TOO_SLOW, 0);
}

static void a_proxy_of_the_environment_is_not_used(void **state)
{
    struct scene *scene = *state;
    char proxy[64];
    const struct transfer_request request = request_of(scene);
    snprintf(proxy, sizeof proxy, "http://127.0.0.2:%u", scene->forbidden.port);
    setenv("http_proxy", proxy, 1);
    setenv("ALL_PROXY", proxy, 1);
    answers.addresses[0][0] = ALLOWED;
    expect(run(scene, &request), TRANSFER_ANSWERED, 204);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    assert_int_equal(scene->forbidden.served, 0);
}

static void several_run_at_once(void **state)
{
    enum { COUNT = 4 };
    struct scene *scene = *state;
    struct transfers *transfers = transfers_create();
    struct transfer *all[COUNT], *ended;
    struct transfer_result result;
    const struct transfer_request request = request_of(scene);
    for (int i = 0; i < COUNT; i++) {
        answers.addresses[i][0] = ALLOWED;
        all[i] = transfer_create(&scene->rules, &request);
        transfers_add(transfers, all[i]);
    }
    for (int left = COUNT; left > 0;) {
        transfers_wait(transfers, 20000);
        while ((ended = transfers_ended(transfers, &result)) != NULL) {
            expect(result, TRANSFER_ANSWERED, 204);
            transfer_destroy(ended);
            left--;
        }
    }
    transfers_wake(transfers);
    transfers_wait(transfers, 1000000);
    transfers_destroy(transfers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_name_is_checked_by_what_it_resolves_to),
        TEST(a_name_that_changes_is_checked_each_time),
        TEST(of_several_addresses_the_allowed_ones_are_called),
        TEST(a_name_that_is_none_reads_like_one_that_is_forbidden),
        TEST(http_goes_to_loopback_alone),
        TEST(a_redirection_is_an_answer),
        TEST(a_redirection_that_is_followed_is_checked),
        TEST(what_does_not_speak_http_is_called_so),
        TEST(an_endless_body_is_cut),
        TEST(an_endless_head_is_cut),
        TEST(no_answer_is_not_waited_for),
        TEST(a_proxy_of_the_environment_is_not_used),
        TEST(several_run_at_once),
    };
    transfer_library_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
