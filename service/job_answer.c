#include "service/job_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "base/check.h"

static void header_add(struct MHD_Response *response, const char *name,
                       const char *value)
{
    CHECK(response != NULL &&
          MHD_add_response_header(response, name, value) == MHD_YES);
}

static void headers_add(struct MHD_Response *found, const struct job_answer *answer)
{
    header_add(found, "Content-Type", "application/json");
    header_add(found, "X-Content-Type-Options", "nosniff");
    header_add(found, "ETag", answer->tag);
    header_add(found, "Cache-Control", "private, no-cache");
    if (!answer->terminal)
        header_add(found, "Retry-After", "2");
}

struct MHD_Response *job_answer_not_modified(const struct job_answer *answer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    header_add(response, "X-Content-Type-Options", "nosniff");
    header_add(response, "ETag", answer->tag);
    return response;
}

struct job_answer *job_answer_create(char *text_take, const char *nonce,
                                     uint64_t version, bool terminal)
{
    struct job_answer *answer = malloc(sizeof *answer);
    CHECK(answer != NULL && text_take != NULL);
    *answer = (struct job_answer){.holders = 1,
                                  .version = version,
                                  .terminal = terminal,
                                  .size = strlen(text_take),
                                  .text = text_take};
    snprintf(answer->tag, sizeof answer->tag, "\"%.16s-%llu\"", nonce,
             (unsigned long long)version);
    answer->found =
        MHD_create_response_from_buffer(answer->size, text_take, MHD_RESPMEM_MUST_FREE);
    headers_add(answer->found, answer);
    answer->not_modified = job_answer_not_modified(answer);
    return answer;
}

struct job_answer *job_answer_hold(struct job_answer *answer)
{
    atomic_fetch_add_explicit(&answer->holders, 1, memory_order_relaxed);
    return answer;
}

void job_answer_drop(void *dropped)
{
    struct job_answer *answer = dropped;
    if (answer == NULL ||
        atomic_fetch_sub_explicit(&answer->holders, 1, memory_order_acq_rel) > 1)
        return;
    MHD_destroy_response(answer->found);
    MHD_destroy_response(answer->not_modified);
    free(answer);
}

struct MHD_Response *job_answer_found(struct job_answer *answer)
{
    /* MHD never writes to the buffer. */
    union {
        const char *text;
        void *buffer;
    } body = {.text = answer->text};
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(
            answer->size, body.buffer, job_answer_drop, job_answer_hold(answer));
    headers_add(response, answer);
    return response;
}
