#include "service/http/cached_response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/hash.h"
#include "service/http/compression.h"
#include "service/http/entity_tag.h"

static void header_add(struct MHD_Response *response, const char *name,
                       const char *value)
{
    CHECK(response != NULL &&
          MHD_add_response_header(response, name, value) == MHD_YES);
}

static void vary(struct MHD_Response *response, const struct cached_response *answer)
{
    if (answer->is_packed || compression_pays(answer->size))
        header_add(response, "Vary", "Accept-Encoding");
}

static void headers_add(struct MHD_Response *found,
                        const struct cached_response *answer)
{
    header_add(found, "Content-Type", "application/json");
    header_add(found, "X-Content-Type-Options", "nosniff");
    header_add(found, "ETag", answer->tag);
    header_add(found, "Cache-Control", "private, no-cache");
    if (!answer->terminal)
        header_add(found, "Retry-After", "2");
    if (answer->is_packed)
        header_add(found, "Content-Encoding", "gzip");
    vary(found, answer);
}

struct MHD_Response *cached_response_not_modified(const struct cached_response *answer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    header_add(response, "X-Content-Type-Options", "nosniff");
    header_add(response, "ETag", answer->tag);
    vary(response, answer);
    return response;
}

/* Makes the ready responses around the text, and takes ownership of it. */
static struct cached_response *compose(const struct cached_response *parts,
                                       char *text_take)
{
    struct cached_response *answer = malloc(sizeof *answer);
    CHECK(answer != NULL && text_take != NULL);
    *answer = *parts;
    answer->holders = 1;
    answer->text = text_take;
    answer->found =
        MHD_create_response_from_buffer(answer->size, text_take, MHD_RESPMEM_MUST_FREE);
    headers_add(answer->found, answer);
    answer->not_modified = cached_response_not_modified(answer);
    return answer;
}

struct cached_response *cached_response_create(char *text_take, uint64_t version,
                                               bool terminal)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    CHECK(text_take != NULL);
    struct cached_response parts = {
        .version = version, .terminal = terminal, .size = strlen(text_take)};
    sha256_of(digest, text_take, parts.size);
    sha256_render(hex, digest);
    snprintf(parts.tag, sizeof parts.tag, "\"%.32s\"", hex);
    return compose(&parts, text_take);
}

struct cached_response *cached_response_hold(struct cached_response *answer)
{
    atomic_fetch_add_explicit(&answer->holders, 1, memory_order_relaxed);
    return answer;
}

void cached_response_drop(void *dropped)
{
    struct cached_response *answer = dropped;
    if (answer == NULL ||
        atomic_fetch_sub_explicit(&answer->holders, 1, memory_order_acq_rel) > 1)
        return;
    cached_response_drop(atomic_load(&answer->packed));
    MHD_destroy_response(answer->found);
    MHD_destroy_response(answer->not_modified);
    free(answer);
}

/* Compresses the text; NULL if that saves nothing. */
static struct cached_response *pack(const struct cached_response *answer)
{
    struct cached_response parts = {
        .version = answer->version, .terminal = answer->terminal, .is_packed = true};
    char *packed = compression_pack(&parts.size, answer->text, answer->size);
    if (packed == NULL)
        return NULL;
    tag_pack(parts.tag, sizeof parts.tag, answer->tag);
    return compose(&parts, packed);
}

struct cached_response *cached_response_packed(struct cached_response *answer_take)
{
    struct cached_response *none = NULL;
    struct cached_response *packed = atomic_load(&answer_take->packed);
    if (packed == NULL && compression_pays(answer_take->size)) {
        packed = pack(answer_take);
        if (packed != NULL &&
            !atomic_compare_exchange_strong(&answer_take->packed, &none, packed)) {
            cached_response_drop(packed); /* another thread was first */
            packed = none;
        }
    }
    if (packed == NULL)
        return answer_take;
    cached_response_hold(packed);
    cached_response_drop(answer_take);
    return packed;
}

struct MHD_Response *cached_response_found(struct cached_response *answer)
{
    /* MHD never writes to the buffer. */
    union {
        const char *text;
        void *buffer;
    } body = {.text = answer->text};
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(
            answer->size, body.buffer, cached_response_drop,
            cached_response_hold(answer));
    headers_add(response, answer);
    return response;
}
