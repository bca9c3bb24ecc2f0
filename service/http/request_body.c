#include "service/http/request_body.h"

#include <stdlib.h>
#include <string.h>

#include "service/http/admission.h"
#include "service/http/sessions.h"
#include "service/process/daemon_state.h"

enum { BODY_STEP = 16 << 10 };

/* Returns how many bytes the body will have, if its sender says so, and otherwise the
 * maximum. */
static uint64_t body_size_announced(const struct request *request, uint64_t max)
{
    const char *length = request_header(request, "Content-Length");
    return length != NULL ? strtoull(length, NULL, 10) : max;
}

/* Returns the capacity for size more bytes and a NUL: twice as much as before, but no
 * more than the body can reach. */
static size_t body_capacity_for(const struct request *request, size_t size,
                                uint64_t max)
{
    size_t needed = request->body_size + size + 1;
    size_t wanted = 2 * request->body_capacity + BODY_STEP;
    uint64_t most = body_size_announced(request, max) + 1;
    if (wanted > most)
        wanted = (size_t)most;
    return wanted > needed ? wanted : needed;
}

enum status request_body_append(struct request *request, struct sessions *sessions,
                                const char *data, size_t size, struct error *error)
{
    uint64_t max =
        admission_body_max(request->match.route->body, sessions->context->config);
    if (size > max - request->body_size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the body may have at most %llu bytes",
                         (unsigned long long)max);
    if (request->body_capacity - request->body_size <= size) {
        size_t more = body_capacity_for(request, size, max) - request->body_capacity;
        if (!sessions_take(sessions, more))
            return error_set(error, ST_QUEUE_FULL, "too many bodies are being read");
        char *body = realloc(request->body, request->body_capacity + more);
        if (body == NULL) {
            sessions_exchange(sessions, 0, more);
            return error_set(error, ST_NO_MEMORY, "no memory for the body");
        }
        request->body = body;
        request->body_capacity += more;
    }
    memcpy(request->body + request->body_size, data, size);
    request->body_size += size;
    request->body[request->body_size] = '\0';
    return ST_OK;
}

void request_body_exchange(struct request *request, struct sessions *sessions,
                           uint64_t reply_bytes)
{
    uint64_t body_bytes = request->body_capacity;
    request_forget_body(request);
    sessions_exchange(sessions, reply_bytes, body_bytes);
}
