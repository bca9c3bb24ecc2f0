#include "tests/e2e/wire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/expect.h"

static int dial(const struct daemon *daemon)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void count_answers(struct exchange *exchange)
{
    for (const char *at = exchange->received; (at = strstr(at, "HTTP/1.")) != NULL;
         at += 7) {
        if (at[7] == '\0' || at[8] != ' ')
            continue;
        exchange->successes += at[9] == '2';
        if (exchange->answers++ == 0)
            exchange->status = (unsigned)strtoul(at + 9, NULL, 10);
    }
}

void wire_exchange(struct exchange *exchange, const struct daemon *daemon,
                   const void *bytes, size_t size, int quiet_ms)
{
    *exchange = (struct exchange){0};
    int fd = dial(daemon);
    const char *from = bytes;
    while (size > 0) {
        ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
        if (sent <= 0)
            break; /* the daemon closed early; what it said is still to be read */
        from += sent;
        size -= (size_t)sent;
    }
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
