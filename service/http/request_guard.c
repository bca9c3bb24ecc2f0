/* How it works: libmicrohttpd reads a socket by recv, which is defined at the end of
 * this file. Bytes are read from the socket straight into the library's buffer, and
 * api/http/framing says how many of them may pass. The rest, which begins something
 * that is not complete (half of a head), goes into `kept`. From then on bytes are read
 * after what is kept, until framing passes all of it and `kept` is empty again. So a
 * request that arrives in one piece, as nearly all do, is never copied.
 *
 * When framing refuses something, the library gets framing's stand-in as if the client
 * had sent it, and everything after that is read and dropped. The library then asks us
 * to answer a request that begins properly, and request_guard_verdict tells the
 * session what was wrong with the real one. */
#include "service/http/request_guard.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/http/framing.h"
#include "base/check.h"

enum {
    GATES_MAX = 16384,     /* descriptors; there are fewer connections (server.c) */
    DROPPED_MAX = 1 << 18, /* bytes dropped at once after a refusal */
};

struct request_guard {
    int socket;
    gnutls_session_t tls; /* NULL: the socket has the request itself */
    uint64_t begun;       /* requests that the library has begun */
    struct framing framing;
    char *kept; /* bytes read and not passed on; the first `passed` of them may go */
    size_t kept_size, kept_capacity, passed;
};

/* The gates, indexed by descriptor. This is the program's one variable that is not
 * reached through an argument, because recv has no argument for it. */
static _Atomic(struct request_guard *) gates[GATES_MAX];

struct request_guard *request_guard_open(int socket, gnutls_session_t tls)
{
    if (socket < 0 || socket >= GATES_MAX)
        return NULL;
    struct request_guard *gate = calloc(1, sizeof *gate);
    CHECK(gate != NULL);
    gate->socket = socket;
    gate->tls = tls;
    atomic_store(&gates[socket], gate);
    return gate;
}

void request_guard_close(struct request_guard *gate)
{
    if (gate == NULL)
        return;
    atomic_store(&gates[gate->socket], NULL);
    free(gate->kept);
    free(gate);
}

uint64_t request_guard_begin(struct request_guard *gate)
{
    return gate != NULL ? ++gate->begun : 0;
}

enum status request_guard_verdict(const struct request_guard *gate, uint64_t number,
                                  struct error *error)
{
    if (gate == NULL || number > gate->framing.requests)
        return error_set(error, ST_INTERNAL, "the request's bytes were not checked");
    if (framing_stand_in(&gate->framing) == NULL || number < gate->framing.requests)
        return ST_OK;
    return error_set(error, gate->framing.refusal.status, "%s",
                     gate->framing.refusal.text);
}

/* --- bytes that are read and not passed on yet --- */

/* Returns a pointer to room for `more` bytes after what is kept. */
static char *kept_room(struct request_guard *gate, size_t more)
{
    if (gate->kept_capacity - gate->kept_size < more) {
        gate->kept_capacity = gate->kept_size + more;
        gate->kept = realloc(gate->kept, gate->kept_capacity);
        CHECK(gate->kept != NULL);
    }
    return gate->kept + gate->kept_size;
}

static void keep(struct request_guard *gate, const char *bytes, size_t size)
{
    if (size == 0)
        return;
    memcpy(kept_room(gate, size), bytes, size);
    gate->kept_size += size;
}

/* Moves what may pass to to[0..room), and returns its size. */
static size_t hand_on(struct request_guard *gate, char *to, size_t room)
{
    size_t size = gate->passed < room ? gate->passed : room;
    if (size == 0)
        return 0;
    memcpy(to, gate->kept, size);
    gate->passed -= size;
    gate->kept_size -= size;
    memmove(gate->kept, gate->kept + size, gate->kept_size);
    if (gate->kept_size == 0) {
        free(gate->kept);
        gate->kept = NULL;
        gate->kept_capacity = 0;
    }
    return size;
}

/* Replaces everything that has not passed by the stand-in. */
static void take_stand_in(struct request_guard *gate)
{
    const char *stand_in = framing_stand_in(&gate->framing);
    gate->kept_size = gate->passed;
    keep(gate, stand_in, strlen(stand_in));
    gate->passed = gate->kept_size;
}

/* --- reading --- */

/* Reads what a client sent, decrypted. Fails as recv does; with TLS, as
 * gnutls_record_recv does, of which gnutls_record_recv_seq is a variant. */
static ssize_t read_source(const struct request_guard *gate, void *to, size_t room)
{
    unsigned char number[8]; /* of the record; not used */
    if (gate->tls != NULL)
        return gnutls_record_recv_seq(gate->tls, to, room, number);
    return recvfrom(gate->socket, to, room, 0, NULL, NULL);
}

static void drop_the_rest(const struct request_guard *gate)
{
    char dropped[4096];
    size_t total = 0;
    ssize_t got = 1;
    while (got > 0 && total < DROPPED_MAX) {
        got = read_source(gate, dropped, sizeof dropped);
        total += got > 0 ? (size_t)got : 0;
    }
}

/* Reads when nothing is kept: straight into to[0..room), as far as it may pass. */
static ssize_t read_direct(struct request_guard *gate, char *to, size_t room,
                           size_t *taken)
{
    ssize_t got = read_source(gate, to, room);
    if (got <= 0)
        return got;
    *taken = framing_pass(&gate->framing, to, (size_t)got);
    keep(gate, to + *taken, (size_t)got - *taken);
    return got;
}

/* Reads when the beginning of something is kept: appends to it, and then passes on what
 * may pass. */
static ssize_t read_kept(struct request_guard *gate, char *to, size_t room,
                         size_t *taken)
{
    ssize_t got = read_source(gate, kept_room(gate, room), room);
    if (got <= 0)
        return got;
    gate->kept_size += (size_t)got;
    gate->passed = framing_pass(&gate->framing, gate->kept, gate->kept_size);
    *taken = hand_on(gate, to, room);
    return got;
}

/* Makes the socket readable once more. After libmicrohttpd was given less than it had
 * room for, it waits for the next change of the socket. An end of the stream that came
 * together with the last bytes is no further change, and would be noticed only at the
 * next time-out. */
static void announce_end(const struct request_guard *gate)
{
    shutdown(gate->socket, SHUT_RD);
}

/* Reads once, and appends to what was given already. Returns what read_source
 * returned. */
static ssize_t read_once(struct request_guard *gate, char *to, size_t room,
                         size_t *given)
{
    size_t taken = 0;
    ssize_t got = gate->kept_size == 0
                      ? read_direct(gate, to + *given, room - *given, &taken)
                      : read_kept(gate, to + *given, room - *given, &taken);
    *given += taken;
    if (framing_stand_in(&gate->framing) != NULL) {
        take_stand_in(gate);
        *given += hand_on(gate, to + *given, room - *given);
    }
    return got;
}

static bool has_ended(const struct request_guard *gate, ssize_t got)
{
    bool waits = gate->tls != NULL
                     ? got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED
                     : errno == EAGAIN || errno == EINTR;
    return got == 0 || (got < 0 && !waits);
}

/* Reads as recv does, until the room is full or the socket has no more: libmicrohttpd
 * takes a result smaller than the room as a sign that the socket is empty. */
static ssize_t gate_read(struct request_guard *gate, char *to, size_t room)
{
    size_t given = hand_on(gate, to, room);
    ssize_t got = 1;
    while (got > 0 && given < room && framing_stand_in(&gate->framing) == NULL)
        got = read_once(gate, to, room, &given);
    if (got <= 0 && given == 0)
        return got;
    if (got <= 0 && has_ended(gate, got))
        announce_end(gate);
    if (framing_stand_in(&gate->framing) != NULL && gate->kept_size == 0)
        drop_the_rest(gate);
    if (given > 0)
        return (ssize_t)given;
    errno = EAGAIN;
    return gate->tls != NULL ? GNUTLS_E_AGAIN : -1;
}

static struct request_guard *gate_of(int socket)
{
    return socket >= 0 && socket < GATES_MAX ? atomic_load(&gates[socket]) : NULL;
}

/* Replaces the system's recv. libmicrohttpd passes no flags; flags are only for sockets
 * without a gate, and for GnuTLS, which reads encrypted bytes. */
ssize_t recv(int socket, void *to, size_t room, int flags)
{
    struct request_guard *gate = gate_of(socket);
    return gate != NULL && gate->tls == NULL
               ? gate_read(gate, to, room)
               : recvfrom(socket, to, room, flags, NULL, NULL);
}

/* Replaces GnuTLS's function, by which libmicrohttpd reads decrypted bytes. */
ssize_t gnutls_record_recv(gnutls_session_t session, void *to, size_t room)
{
    unsigned char number[8];
    struct request_guard *gate = gate_of(gnutls_transport_get_int(session));
    return gate != NULL && gate->tls == session
               ? gate_read(gate, to, room)
               : gnutls_record_recv_seq(session, to, room, number);
}
