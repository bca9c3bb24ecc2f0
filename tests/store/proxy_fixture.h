/*
 * proxy_fixture.h - a proxy between a store and its server, which cuts the connection
 * at COMMITs: before the server receives the COMMIT, or after the server has answered
 * and before the store receives the answer. The first COMMIT of a connection passes. A
 * repeated transaction comes on a new connection, and a store gives up a transaction
 * that was cut POSTGRES_TRIES times. The proxy may also cut nothing, or go silent at
 * one COMMIT and cut nothing more: then the connection stays open, and either the store
 * never receives the answer, or the server receives neither the request nor the end of
 * the client. Include after postgres_fixture.h.
 */
#ifndef TESTS_STORE_PROXY_FIXTURE_H
#define TESTS_STORE_PROXY_FIXTURE_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { PROXY_PAIRS = 16, PROXY_EVERY = 3 };

enum proxy_fault { PROXY_CUTS, PROXY_CALM, PROXY_KEEPS_ANSWER, PROXY_KEEPS_QUESTION };

struct proxy_pair {
    int client, server; /* -1: none */
    bool silent;        /* drops all data */
    bool committed;     /* its first COMMIT has passed */
    bool deaf;          /* drops the server's next answer */
};

struct proxy {
    char folder[40], target[80];
    int listener, stop[2];
    struct proxy_pair pairs[PROXY_PAIRS];
    _Atomic enum proxy_fault fault;
    atomic_uint commits, cuts_before, cuts_after;
    atomic_uint left;    /* silent connections that the client has closed */
    atomic_uint cancels; /* cancel requests */
    pthread_t thread;
};

static inline struct sockaddr_un proxy_address(const char *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", folder);
    return address;
}

static inline void proxy_cut(struct proxy_pair *pair)
{
    if (pair->client >= 0)
        close(pair->client);
    if (pair->server >= 0)
        close(pair->server);
    *pair = (struct proxy_pair){.client = -1, .server = -1};
}

static inline void proxy_accept(struct proxy *proxy)
{
    struct sockaddr_un address = proxy_address(proxy->target);
    int client = accept(proxy->listener, NULL, NULL);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(client >= 0 && server >= 0);
    size_t at = 0;
    while (at < PROXY_PAIRS &&
           (proxy->pairs[at].client >= 0 || proxy->pairs[at].server >= 0))
        at++;
    assert_true(at < PROXY_PAIRS);
    proxy->pairs[at] = (struct proxy_pair){.client = client, .server = server};
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0)
        proxy_cut(&proxy->pairs[at]);
}

/* A store sends COMMIT as a separate query. */
static inline bool proxy_is_commit(const char *words, ssize_t size)
{
    return size == 12 && memcmp(words, "Q\0\0\0\013COMMIT", 12) == 0;
}

static inline bool proxy_is_cancel(const char *words, ssize_t size)
{
    return size == 16 && memcmp(words, "\0\0\0\020\004\322\026\056", 8) == 0;
}

/* Data of a silent pair is still read and dropped, until the connection ends. */
static inline void proxy_drop(struct proxy *proxy, struct proxy_pair *pair, bool ask,
                              ssize_t size)
{
    int *end = ask ? &pair->client : &pair->server;
    if (size > 0)
        return;
    proxy->left += ask;
    close(*end);
    *end = -1;
    if (pair->client < 0 && pair->server < 0)
        *pair = (struct proxy_pair){.client = -1, .server = -1};
}

/* Returns false if the COMMIT must not reach the server. */
static inline bool proxy_commit(struct proxy *proxy, struct proxy_pair *pair)
{
    enum proxy_fault fault = atomic_load(&proxy->fault);
    if (fault != PROXY_CUTS) {
        pair->silent = fault != PROXY_CALM;
        atomic_store(&proxy->fault, PROXY_CALM);
        return fault != PROXY_KEEPS_QUESTION;
    }
    if (!pair->committed) {
        pair->committed = true;
        return true;
    }
    unsigned number = ++proxy->commits;
    if (number % (2 * PROXY_EVERY) == PROXY_EVERY) {
        proxy->cuts_before++;
        proxy_cut(pair);
        return false;
    }
    if (number % (2 * PROXY_EVERY) == 0) {
        proxy->cuts_after++;
        pair->deaf = true;
    }
    return true;
}

static inline void proxy_pass(struct proxy *proxy, struct proxy_pair *pair, bool ask)
{
    char words[65536];
    ssize_t size = read(ask ? pair->client : pair->server, words, sizeof words);
    if (pair->silent) {
        proxy_drop(proxy, pair, ask, size);
        return;
    }
    proxy->cancels += ask && proxy_is_cancel(words, size);
    if (size <= 0 || pair->deaf) {
        proxy_cut(pair);
        return;
    }
    if (ask && proxy_is_commit(words, size) && !proxy_commit(proxy, pair))
        return;
    for (ssize_t sent = 0; sent < size;) {
        ssize_t now = send(ask ? pair->server : pair->client, words + sent,
                           (size_t)(size - sent), MSG_NOSIGNAL);
        if (now <= 0) {
            proxy_cut(pair);
            return;
        }
        sent += now;
    }
}

static inline void *proxy_run(void *context)
{
    struct proxy *proxy = context;
    for (;;) {
        struct pollfd all[2 + 2 * PROXY_PAIRS] = {{proxy->stop[0], POLLIN, 0},
                                                  {proxy->listener, POLLIN, 0}};
        for (size_t i = 0; i < PROXY_PAIRS; i++) {
            all[2 + 2 * i] = (struct pollfd){proxy->pairs[i].client, POLLIN, 0};
            all[3 + 2 * i] = (struct pollfd){proxy->pairs[i].server, POLLIN, 0};
        }
        assert_true(poll(all, 2 + 2 * PROXY_PAIRS, -1) > 0);
        if (all[0].revents != 0)
            return NULL;
        for (size_t i = 0; i < PROXY_PAIRS; i++) {
            if (all[2 + 2 * i].revents != 0)
                proxy_pass(proxy, &proxy->pairs[i], true);
            else if (all[3 + 2 * i].revents != 0)
                proxy_pass(proxy, &proxy->pairs[i], false);
        }
        if (all[1].revents != 0)
            proxy_accept(proxy);
    }
}

static inline void proxy_open(struct proxy *proxy, const struct postgres_server *server)
{
    *proxy = (struct proxy){.folder = "/tmp/epsilond-test-XXXXXX"};
    assert_non_null(mkdtemp(proxy->folder));
    snprintf(proxy->target, sizeof proxy->target, "%s", server->folder);
    for (size_t i = 0; i < PROXY_PAIRS; i++)
        proxy->pairs[i] = (struct proxy_pair){.client = -1, .server = -1};
    struct sockaddr_un address = proxy_address(proxy->folder);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&address, sizeof address),
                     0);
    assert_int_equal(listen(proxy->listener, PROXY_PAIRS), 0);
    assert_int_equal(pipe(proxy->stop), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, proxy_run, proxy), 0);
}

static inline void proxy_close(struct proxy *proxy)
{
    assert_int_equal(write(proxy->stop[1], "", 1), 1);
    pthread_join(proxy->thread, NULL);
    for (size_t i = 0; i < PROXY_PAIRS; i++)
        proxy_cut(&proxy->pairs[i]);
    close(proxy->listener);
    close(proxy->stop[0]);
    close(proxy->stop[1]);
    unlink(proxy_address(proxy->folder).sun_path);
    rmdir(proxy->folder);
}

#endif
