#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/requests/key_request.h"
#include "base/clock.h"
#include "base/hash.h"
#include "service/access/access.h"
#include "service/access/known_names.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/http/pagination.h"
#include "service/http/stale_read_retry.h"
#include "service/identity/access_keys.h"
#include "service/identity/key_text.h"
#include "service/process/daemon_state.h"

static const int64_t rotation_ms = INT64_C(24) * 3600 * 1000;

/* For access checks, a key belongs to the project that it is for. */
static enum status find(struct daemon_state *context, const struct request *request,
                        struct access_key *key, struct error *error)
{
    struct access_question question = handler_question(request);
    bool found = access_keys_find(context->keys, request->match.id, key);
    return access_check_thing(
        &question, "key", request->match.id,
        found ? &(struct access_object){key->principal.project, key->principal.name}
              : &(struct access_object){0},
        error);
}

/* --- making --- */

/* Replies with the whole text of a new key: no later request can read it again. */
static void reply_made(struct daemon_state *context, struct request *request,
                       struct access_key_made *made)
{
    struct access_key key;
    access_keys_find(context->keys, made->id, &key);
    reply_json(&request->reply, MHD_HTTP_CREATED, key_text(context, &key, made->text));
    reply_header_add(&request->reply, "Location", "/v1/keys/%s", made->id);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
}

/* Appends to the audit trail what is done to a key, and whose key it is. */
static enum status tell(struct daemon_state *context, const struct request *request,
                        struct store_tx *tx, const char *id,
                        const struct principal *principal, struct error *error)
{
    struct audit_event act;
    char detail[ACCESS_KEY_DETAIL_SIZE];
    access_key_detail(detail, principal);
    audit_event_begin(&act, context, request);
    act.row.object = id;
    act.row.detail = detail;
    return audit_trail_append(tx, &act.row, error);
}

/* Makes a key. If old is not NULL, the key of that id ends a day from now. */
static enum status make(struct daemon_state *context, const struct request *request,
                        const struct key_request *asked, const char *old,
                        struct access_key_made *made, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = stale_read_retry_open(context, request, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = access_keys_add(context->keys, tx, asked, made, error);
    if (status == ST_OK && old != NULL)
        status = access_keys_shorten(context->keys, tx, old,
                                     clock_wall_ms() + rotation_ms, error);
    if (status == ST_OK)
        status = tell(context, request, tx, made->id, &asked->principal, error);
    return store_end(tx, status, error);
}

enum status handle_key_create(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct key_request asked;
    struct access_key_made made;
    enum status status = key_request_parse(&asked, request_text(request), error);
    if (status == ST_OK)
        status = key_request_check(&asked, &request->caller.principal, error);
    if (status == ST_OK)
        status = known_names_check_new(context, &request->caller.principal,
                                       asked.principal.name, error);
    if (status == ST_OK)
        status = make(context, request, &asked, NULL, &made, error);
    if (status == ST_OK)
        reply_made(context, request, &made);
    hash_zero(&made, sizeof made);
    return status;
}

/* The new key is valid for as long as the old one was when it was made. */
enum status handle_key_rotate(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    enum { MS_PER_DAY = 86400000 };
    struct access_key key;
    struct access_key_made made;
    enum status status = find(context, request, &key, error);
    if (status != ST_OK)
        return status;
    if (!access_key_is_good(&key, clock_wall_ms()))
        return error_set(error, ST_KEY_ENDED, "it was revoked or has expired");
    const struct key_request asked = {
        .principal = key.principal,
        .days = (uint64_t)(key.expire_ms - key.create_ms + MS_PER_DAY - 1) / MS_PER_DAY,
        .policy = key.policy,
    };
    status = key_request_check(&asked, &request->caller.principal, error);
    if (status == ST_OK)
        status = known_names_check_rotation(context, &request->caller.principal, &key,
                                            error);
    if (status == ST_OK)
        status = make(context, request, &asked, key.id, &made, error);
    if (status == ST_OK)
        reply_made(context, request, &made);
    hash_zero(&made, sizeof made);
    return status;
}

/* --- reading, ending --- */

enum status handle_key_get(struct daemon_state *context, struct request *request,
                           struct error *error)
{
    struct access_key key;
    enum status status = find(context, request, &key, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, key_text(context, &key, NULL));
    return ST_OK;
}

enum status handle_key_revoke(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct access_key key;
    struct store_tx *tx = NULL;
    const struct access_question question = handler_question(request);
    enum status status = find(context, request, &key, error);
    if (status == ST_OK && principal_is_everywhere(&key.principal) &&
        !access_is_everywhere(&question))
        status = error_set(error, ST_FORBIDDEN, "its bearer reaches other projects");
    if (status == ST_OK)
        status = stale_read_retry_open(context, request, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = access_keys_revoke(context->keys, tx, key.id, error);
    if (status == ST_OK)
        status = tell(context, request, tx, key.id, &key.principal, error);
    status = store_end(tx, status, error);
    if (status == ST_OK && access_keys_find(context->keys, key.id, &key))
        reply_json(&request->reply, MHD_HTTP_OK, key_text(context, &key, NULL));
    return status;
}

struct key_list {
    struct access_question question; /* whether an item is listed */
    const struct daemon_state *context;
};

static bool key_seen(void *context, size_t place)
{
    struct access_key key;
    const struct key_list *list = context;
    access_keys_at(list->context->keys, place, &key);
    return access_sees(&list->question, &(struct access_object){key.principal.project,
                                                                key.principal.name});
}

static char *key_line(void *context, size_t place)
{
    struct access_key key;
    const struct key_list *list = context;
    access_keys_at(list->context->keys, place, &key);
    return key_text(list->context, &key, NULL);
}

/* The list has no ETag: a key expires without any change of the store. */
enum status handle_key_list(struct daemon_state *context, struct request *request,
                            struct error *error)
{
    static const char *const orders[] = {"desc", "asc", NULL};
    unsigned order = 0;
    struct key_list list = {handler_question(request), context};
    struct pagination_source source = {
        .name = "keys",
        .count = access_keys_count(context->keys),
        .seen = key_seen,
        .text = key_line,
        .context = &list,
    };
    if (query_choice(&order, "order", request_query(request, "order"), orders, error) !=
        ST_OK)
        return ST_INVALID;
    source.ascending = order == 1;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    return pagination_reply(request, &source, error);
}
