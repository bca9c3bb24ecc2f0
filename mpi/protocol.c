#include "mpi/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

static ssize_t read_some(char *to, size_t size)
{
    ssize_t got;
    do
        got = read(STDIN_FILENO, to, size);
    while (got < 0 && errno == EINTR);
    return got;
}

static enum status gone(struct error *error)
{
    return error_set(error, ST_CANCELLED, "the daemon is gone");
}

/* line = the next line, without its newline. */
static enum status take_line(struct protocol *talk, char line[RANK_LINE_SIZE],
                             struct error *error)
{
    char *end;
    while ((end = talk->filled > 0 ? memchr(talk->read, '\n', talk->filled) : NULL) ==
           NULL) {
        if (talk->filled == sizeof talk->read)
            return error_set(error, ST_INVALID, "what came is no line");
        ssize_t got =
            read_some(talk->read + talk->filled, sizeof talk->read - talk->filled);
        if (got <= 0)
            return gone(error);
        talk->filled += (size_t)got;
    }
    size_t length = (size_t)(end - talk->read);
    memcpy(line, talk->read, length);
    line[length] = '\0';
    talk->filled -= length + 1;
    memmove(talk->read, end + 1, talk->filled);
    return ST_OK;
}

static enum status take_bytes(struct protocol *talk, char *to, size_t size,
                              struct error *error)
{
    size_t here = talk->filled < size ? talk->filled : size;
    memcpy(to, talk->read, here);
    talk->filled -= here;
    memmove(talk->read, talk->read + here, talk->filled);
    while (here < size) {
        ssize_t got = read_some(to + here, size - here);
        if (got <= 0)
            return gone(error);
        here += (size_t)got;
    }
    return ST_OK;
}

enum status protocol_plan(struct protocol *talk, char **text, size_t *size,
                          struct error *error)
{
    char line[RANK_LINE_SIZE];
    size_t bytes = 0;
    enum status status = take_line(talk, line, error);
    if (status == ST_OK)
        status = rank_head_parse(&bytes, line, error);
    if (status != ST_OK)
        return status;
    char *read = malloc(bytes + 1);
    if (read == NULL)
        return error_set(error, ST_NO_MEMORY, "no room for the plan");
    status = take_bytes(talk, read, bytes, error);
    if (status != ST_OK) {
        free(read);
        return status;
    }
    *text = read;
    *size = bytes;
    return ST_OK;
}

enum status protocol_order(struct protocol *talk, struct rank_order *order,
                           struct error *error)
{
    char line[RANK_LINE_SIZE];
    enum status status = take_line(talk, line, error);
    return status == ST_OK ? rank_order_parse(order, line, error) : status;
}

bool protocol_is_over(const struct protocol *talk)
{
    struct pollfd entry = {.fd = STDIN_FILENO, .events = POLLIN};
    return talk->filled == 0 && poll(&entry, 1, 0) > 0 &&
           (entry.revents & POLLHUP) != 0 && (entry.revents & POLLIN) == 0;
}

void protocol_report(const struct rank_report *report)
{
    char *text = rank_report_render(report);
    printf("%s\n", text);
    fflush(stdout);
    free(text);
}
