/* Goal: a caller of recv on a guarded socket reads only checked requests, in pieces of
 * any size, and never waits for bytes that have already arrived. Method: one end of a
 * socket pair behind a request guard, read as libmicrohttpd does. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tests/expect.h"
#include "service/http/request_guard.h"

#define GET  "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n"
#define BAD  "GET /livez HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"
#define OURS "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"

struct scene {
    int far, near; /* the client's end, and ours behind the guard */
    struct request_guard *gate;
    char read[1 << 16];
    size_t size;
};

static struct scene *begin(void)
{
    int ends[2];
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    scene->far = ends[0];
    scene->near = ends[1];
    scene->gate = request_guard_open(scene->near, NULL);
    assert_non_null(scene->gate);
    return scene;
}

static void end(struct scene *scene)
{
    request_guard_close(scene->gate);
    close(scene->far);
    close(scene->near);
    free(scene);
}

static void give(const struct scene *scene, const char *bytes, size_t size)
{
    assert_int_equal(send(scene->far, bytes, size, MSG_NOSIGNAL), size);
}

/* Reads like libmicrohttpd: continues as long as each read fills its buffer. */
static void read_on(struct scene *scene, size_t room)
{
    ssize_t got = (ssize_t)room;
    while (got == (ssize_t)room) {
        assert_true(scene->size + room <= sizeof scene->read);
        got = recv(scene->near, scene->read + scene->size, room, 0);
        assert_true(got > 0 || (got == -1 && errno == EAGAIN));
        scene->size += got > 0 ? (size_t)got : 0;
    }
}

static void assert_read(const struct scene *scene, const char *bytes)
{
    assert_int_equal(scene->size, strlen(bytes));
    assert_memory_equal(scene->read, bytes, strlen(bytes));
}

static void requests_pass_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t room = 1; room < 100; room++) {
        struct scene *scene = begin();
        give(scene, GET GET GET, 3 * strlen(GET));
        read_on(scene, room);
        assert_read(scene, GET GET GET);
        for (uint64_t number = 1; number <= 3; number++) {
            assert_true(request_guard_begin(scene->gate) == number);
            assert_int_equal(request_guard_verdict(scene->gate, number, NULL), ST_OK);
        }
        end(scene);
    }
}

static void a_head_is_kept_until_it_is_complete(void **state)
{
    (void)state;
    struct scene *scene = begin();
    for (size_t i = 0; i < strlen(GET); i++) {
        read_on(scene, 64);
        assert_int_equal(scene->size, 0);
        give(scene, GET + i, 1);
    }
    give(scene, GET, 10);
    read_on(scene, 16);
    assert_read(scene, GET);
    give(scene, &GET[10], strlen(GET) - 10);
    read_on(scene, 16);
    assert_read(scene, GET GET);
    end(scene);
}

static void a_body_passes_as_it_comes(void **state)
{
    (void)state;
    struct scene *scene = begin();
    char body[20000];
    memset(body, 'x', sizeof body);
    give(scene, POST, strlen(POST));
    give(scene, body, 9000);
    read_on(scene, 4096);
    assert_int_equal(scene->size, strlen(POST) + 9000);
    give(scene, body, 11000);
    give(scene, BAD, strlen(BAD));
    read_on(scene, 4096);
    assert_int_equal(scene->size, strlen(POST) + sizeof body + strlen(OURS));
    assert_memory_equal(scene->read + strlen(POST) + sizeof body, OURS, strlen(OURS));
    end(scene);
}

static void a_refused_request_is_answered_in_its_turn_and_is_the_last(void **state)
{
    (void)state;
    for (size_t room = 1; room < 100; room++) {
        struct scene *scene = begin();
        struct error error = {0};
        give(scene, GET BAD GET, 2 * strlen(GET) + strlen(BAD));
        read_on(scene, room);
        assert_read(scene, GET OURS);
        give(scene, GET, strlen(GET));
        read_on(scene, room);
        assert_read(scene, GET OURS);
        assert_int_equal(request_guard_verdict(scene->gate, 1, NULL), ST_OK);
        assert_int_equal(request_guard_verdict(scene->gate, 2, &error), ST_INVALID);
        assert_string_equal(error.text, "a folded header");
        end(scene);
    }
}

static void what_did_not_come_through_the_gate_is_not_believed(void **state)
{
    (void)state;
    struct scene *scene = begin();
    char past[64];
    assert_int_equal(request_guard_verdict(scene->gate, 1, NULL), ST_INTERNAL);
    give(scene, GET, strlen(GET));
    assert_int_equal(read(scene->near, past, sizeof past), strlen(GET));
    assert_int_equal(
        request_guard_verdict(scene->gate, request_guard_begin(scene->gate), NULL),
        ST_INTERNAL);
    assert_int_equal(request_guard_verdict(NULL, request_guard_begin(NULL), NULL),
                     ST_INTERNAL);
    end(scene);
}

static void a_socket_without_a_gate_is_read_as_ever(void **state)
{
    (void)state;
    struct scene *scene = begin();
    char bytes[64];
    assert_int_equal(send(scene->near, BAD, strlen(BAD), MSG_NOSIGNAL), strlen(BAD));
    assert_int_equal(recv(scene->far, bytes, sizeof bytes, MSG_PEEK), strlen(BAD));
    assert_int_equal(recv(scene->far, bytes, sizeof bytes, 0), strlen(BAD));
    assert_memory_equal(bytes, BAD, strlen(BAD));
    assert_int_equal(recv(scene->far, bytes, sizeof bytes, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_null(request_guard_open(1 << 20, NULL));
    end(scene);
}

static void the_end_of_a_connection_is_seen(void **state)
{
    (void)state;
    struct scene *scene = begin();
    give(scene, GET "GET /li", strlen(GET) + 7);
    read_on(scene, 4096);
    assert_int_equal(shutdown(scene->far, SHUT_WR), 0);
    assert_int_equal(recv(scene->near, scene->read, 4096, 0), 0);
    end(scene);
}

/* After a read that did not fill its buffer, libmicrohttpd waits for an edge-triggered
 * event of the socket. */
static void an_end_that_came_with_the_last_bytes_is_announced(void **state)
{
    (void)state;
    static const struct {
        const char *sent;
        size_t passes;
    } cases[] = {
        {POST "abc", sizeof POST - 1 + 3}, /* in the middle of a body */
        {GET "GET /li", sizeof GET - 1},   /* in the middle of a head */
        {GET, sizeof GET - 1},             /* after a whole request */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *scene = begin();
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, scene->near, &event), 0);
        give(scene, cases[i].sent, strlen(cases[i].sent));
        assert_int_equal(shutdown(scene->far, SHUT_WR), 0);
        assert_int_equal(epoll_wait(epoll, &event, 1, 0), 1);
        read_on(scene, 4096);
        assert_int_equal(scene->size, cases[i].passes);
        assert_int_equal(epoll_wait(epoll, &event, 1, 0), 1);
        assert_int_equal(recv(scene->near, scene->read, 4096, 0), 0);
        assert_int_equal(send(scene->near, "answer", 6, MSG_NOSIGNAL), 6);
        close(epoll);
        end(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_pass_in_pieces_of_any_size),
        cmocka_unit_test(a_head_is_kept_until_it_is_complete),
        cmocka_unit_test(a_body_passes_as_it_comes),
        cmocka_unit_test(a_refused_request_is_answered_in_its_turn_and_is_the_last),
        cmocka_unit_test(what_did_not_come_through_the_gate_is_not_believed),
        cmocka_unit_test(a_socket_without_a_gate_is_read_as_ever),
        cmocka_unit_test(the_end_of_a_connection_is_seen),
        cmocka_unit_test(an_end_that_came_with_the_last_bytes_is_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
