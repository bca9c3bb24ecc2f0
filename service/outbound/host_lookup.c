/* getaddrinfo may wait for name servers much longer than a stop of the daemon may take,
 * so a thread of the C library resolves the name, and is left to itself if the caller no
 * longer waits. */
#define _GNU_SOURCE /* getaddrinfo_a */
#include "service/outbound/host_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

enum { SLICE_NS = 50000000 }; /* how often a cancellation is noticed */

struct question { /* what the C library's thread reads and writes */
    struct gaicb call;
    struct addrinfo hints;
    char host[256];
};

static struct question *ask(const char *host)
{
    struct question *question = calloc(1, sizeof *question);
    CHECK(question != NULL && strlen(host) < sizeof question->host);
    memcpy(question->host, host, strlen(host) + 1);
    question->hints.ai_socktype = SOCK_STREAM;
    question->call.ar_name = question->host;
    question->call.ar_request = &question->hints;
    struct gaicb *calls[] = {&question->call};
    if (getaddrinfo_a(GAI_NOWAIT, calls, 1, NULL) == 0)
        return question;
    free(question);
    return NULL;
}

/* Returns whether the answer came in time. */
static bool await(const struct host_lookup *lookup, struct question *question)
{
    const struct gaicb *const calls[] = {&question->call};
    const struct timespec slice = {.tv_nsec = SLICE_NS};
    while (gai_error(&question->call) == EAI_INPROGRESS) {
        if (atomic_load(lookup->cancel) || clock_monotonic_ns() >= lookup->deadline_ns)
            return false;
        gai_suspend(calls, 1, &slice);
    }
    return true;
}

/* Frees the question, unless a thread still works on it: then it stays for good. */
static void forget(struct question *question)
{
    if (gai_error(&question->call) == EAI_INPROGRESS &&
        gai_cancel(&question->call) != EAI_CANCELED)
        return;
    if (question->call.ar_result != NULL)
        freeaddrinfo(question->call.ar_result);
    free(question);
}

static void add(const struct host_lookup *lookup, struct host_found *found,
                const struct addrinfo *info)
{
    struct host_address address;
    char text[INET6_ADDRSTRLEN];
    if (found->count == HOST_LOOKUP_MAX ||
        !host_address_read(&address, info->ai_addr) ||
        !host_address_is_allowed(&address, lookup->plain, lookup->listed) ||
        getnameinfo(info->ai_addr, info->ai_addrlen, text, sizeof text, NULL, 0,
                    NI_NUMERICHOST) != 0)
        return;
    memcpy(found->texts[found->count++], text, sizeof text);
}

void host_lookup_run(const struct host_lookup *lookup, struct host_found *found)
{
    *found = (struct host_found){0};
    struct question *question = ask(lookup->host);
    if (question == NULL)
        return;
    if (await(lookup, question) && gai_error(&question->call) == 0)
        for (const struct addrinfo *info = question->call.ar_result; info != NULL;
             info = info->ai_next)
            add(lookup, found, info);
    forget(question);
}
