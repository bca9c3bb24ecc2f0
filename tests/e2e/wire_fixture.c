#include "tests/e2e/wire_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <curl/curl.h>

#include "tests/expect.h"

static int dial(unsigned port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Returns the value of a header in the lines of text[0..size), or NULL. */
static const char *header_of(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL && line < text + size;) {
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " ");
        line = memchr(line, '\n', size - (size_t)(line - text));
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

/* Returns the size of the answer that begins at text; 0 if it is not an answer or is
 * incomplete. A caller that sends HEAD has to allow for the missing body itself. */
static size_t answer_size(struct exchange *exchange, const char *text, size_t size)
{
    static const char problem[] = "application/problem+json";
    unsigned status = 0;
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL || sscanf(text, "HTTP/1.1 %3u ", &status) != 1)
        return 0;
    size_t head = (size_t)(end + 4 - text), body = 0;
    const char *length = header_of(text, head, "Content-Length");
    const char *type = header_of(text, head, "Content-Type");
    if (length != NULL)
        body = strtoul(length, NULL, 10);
    if (head + body > size)
        return 0;
    exchange->status = exchange->answers == 0 ? status : exchange->status;
    exchange->answers++;
    exchange->successes += status / 100 == 2;
    exchange->problems += type != NULL && strncmp(type, problem, strlen(problem)) == 0;
    return head + body;
}

static void count_answers(struct exchange *exchange)
{
    size_t at = 0, size = 1;
    while (at < exchange->size && size > 0) {
        size = answer_size(exchange, exchange->received + at, exchange->size - at);
        at += size;
    }
    exchange->whole = at == exchange->size;
}

static void send_all(int fd, const char *from, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
        if (sent <= 0)
            break; /* the daemon closed early; its answer is still unread */
        from += sent;
        size -= (size_t)sent;
    }
}

static void receive_all(struct exchange *exchange, int fd, int quiet_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (exchange->size + 1 < sizeof exchange->received &&
           poll(&ready, 1, quiet_ms) == 1) {
        ssize_t got = recv(fd, exchange->received + exchange->size,
                           sizeof exchange->received - 1 - exchange->size, 0);
        if (got <= 0) {
            exchange->closed = true;
            break;
        }
        exchange->size += (size_t)got;
    }
    close(fd);
    count_answers(exchange);
}

void wire_exchange(struct exchange *exchange, unsigned port, const void *bytes,
                   size_t size, int quiet_ms)
{
    *exchange = (struct exchange){0};
    int fd = dial(port);
    send_all(fd, bytes, size);
    receive_all(exchange, fd, quiet_ms);
}

bool wire_exchange_in_two(struct exchange *exchange, unsigned port, const char *head,
                          const char *body, int silent_ms, int quiet_ms)
{
    *exchange = (struct exchange){0};
    struct pollfd ready = {.fd = dial(port), .events = POLLIN};
    send_all(ready.fd, head, strlen(head));
    bool silent = poll(&ready, 1, silent_ms) == 0;
    send_all(ready.fd, body, strlen(body));
    receive_all(exchange, ready.fd, quiet_ms);
    return silent;
}

static CURL *dial_tls(const struct daemon *daemon)
{
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    curl_easy_setopt(curl, CURLOPT_URL, daemon->base);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_CAINFO, daemon->certificate);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    assert_int_equal(curl_easy_perform(curl), CURLE_OK);
    return curl;
}

void wire_exchange_tls(struct exchange *exchange, const struct daemon *daemon,
                       const void *bytes, size_t size, int quiet_ms)
{
    *exchange = (struct exchange){0};
    CURL *curl = dial_tls(daemon);
    curl_socket_t fd;
    assert_int_equal(curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &fd), CURLE_OK);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    CURLcode code = CURLE_OK;
    size_t done = 0;
    for (const char *from = bytes; size > 0 && code == CURLE_OK; size -= done) {
        code = curl_easy_send(curl, from, size, &done);
        from += done;
    }
    code = CURLE_AGAIN;
    while (exchange->size + 1 < sizeof exchange->received && !exchange->closed) {
        code = curl_easy_recv(curl, exchange->received + exchange->size,
                              sizeof exchange->received - 1 - exchange->size, &done);
        if (code == CURLE_AGAIN && poll(&ready, 1, quiet_ms) != 1)
            break;
        if (code == CURLE_OK)
            exchange->size += done;
        exchange->closed = code != CURLE_AGAIN && (code != CURLE_OK || done == 0);
    }
    curl_easy_cleanup(curl);
    count_answers(exchange);
}

bool wire_dribble(unsigned port, const char *head, size_t most)
{
    struct pollfd ready = {.events = POLLIN};
    bool closed = false;
    ready.fd = dial(port);
    send_all(ready.fd, head, strlen(head));
    for (size_t i = 0; i < most && !closed; i++) {
        char byte;
        closed = send(ready.fd, "x", 1, MSG_NOSIGNAL) != 1 ||
                 (poll(&ready, 1, 1000) == 1 && recv(ready.fd, &byte, 1, 0) <= 0);
    }
    close(ready.fd);
    return closed;
}
