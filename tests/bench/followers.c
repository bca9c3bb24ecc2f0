/*
 * followers - many clients of one event stream in one thread, as cheap as a client can
 * be: it opens all streams, then reads and discards what arrives until its standard
 * input ends.
 *
 *   followers PORT PATH COUNT
 *
 * It prints "open" when all have the beginning of an answer, and at the end the number
 * of bytes received and of streams that were still open.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, ROOM = 64 << 10 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int follow(uint16_t port, const char *path)
{
    char text[512], byte;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int size =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    if (send(client, text, (size_t)size, 0) != size || recv(client, &byte, 1, 0) != 1)
        fail("ask");
    return client;
}

int main(int argc, char **argv)
{
    static char bytes[ROOM];
    if (argc != 4)
        return 64;
    int count = atoi(argv[3]), alive = count, poll = epoll_create1(0);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    struct epoll_event input = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
    epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &input);
    for (int i = 0; i < count; i++) {
        struct epoll_event one = {.events = EPOLLIN};
        one.data.fd = follow((uint16_t)atoi(argv[1]), argv[2]);
        epoll_ctl(poll, EPOLL_CTL_ADD, one.data.fd, &one);
    }
    puts("open");
    fflush(stdout);
    unsigned long long total = 0;
    for (bool over = false; !over;) {
        struct epoll_event ready[EVENTS];
        int found = epoll_wait(poll, ready, EVENTS, -1);
        for (int i = 0; i < found; i++) {
            int from = ready[i].data.fd;
            over = over || from == STDIN_FILENO;
            if (from == STDIN_FILENO)
                continue;
            ssize_t got = recv(from, bytes, sizeof bytes, 0);
            total += got > 0 ? (unsigned long long)got : 0;
            if (got <= 0) {
                close(from);
                alive--;
            }
        }
    }
    printf("%llu bytes, %d open\n", total, alive);
    return 0;
}
