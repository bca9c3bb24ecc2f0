#include "service/identity/key_admin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "api/http/roles.h"
#include "api/limits.h"
#include "api/requests/key_request.h"
#include "api/views/key_view.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/audit/audit_trail.h"
#include "service/identity/access_keys.h"
#include "service/process/daemon_state.h"

const char key_admin_usage[] =
    "usage: epsilond key create --owner NAME --role ROLE [--project NAME]\n"
    "                           [--expires DAYS] [--scopes A,B] --data-dir DIR\n"
    "       epsilond key list --data-dir DIR\n"
    "       epsilond key revoke ID --data-dir DIR\n"
    "roles: analyst, data_owner, privacy_officer, operator, auditor\n";

static int fail(enum status status, const char *detail, FILE *out)
{
    bool is_ours = status == ST_IO || status == ST_CORRUPT;
    fprintf(out, "epsilond key: %s\n%s", detail, is_ours ? "" : key_admin_usage);
    return is_ours ? EX_TEMPFAIL : EX_USAGE;
}

/* --- create --- */

static bool read_days(uint64_t *days, const char *text)
{
    char *end;
    *days = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && *days >= 1 &&
           *days <= LIMIT_KEY_DAYS;
}

/* Reads one option; returns a text that says what is wrong with it, or NULL. */
static const char *read_option(struct key_request *request, const char *name,
                               const char *value)
{
    struct principal *principal = &request->principal;
    if (strcmp(name, "--owner") == 0) {
        if (!principal_name_is_good(value) || person_equal(value, principal_local.name))
            return "--owner must be 1 to 63 letters, digits or . _ @ + -, and not "
                   "local";
        snprintf(principal->name, sizeof principal->name, "%s", value);
    } else if (strcmp(name, "--project") == 0) {
        if (!project_name_is_good(value))
            return "--project must be 1 to 63 lower-case letters, digits or . _ -";
        snprintf(principal->project, sizeof principal->project, "%s", value);
    } else if (strcmp(name, "--role") == 0) {
        if (!role_parse(&principal->role, value))
            return "--role is none of the roles";
    } else if (strcmp(name, "--scopes") == 0) {
        if (!key_scopes_parse(&principal->scopes, value))
            return "--scopes must be scopes with commas between them";
    } else if (strcmp(name, "--expires") == 0) {
        if (!read_days(&request->days, value))
            return "--expires must be a number of days from 1 to 3650";
    } else {
        return "an option is unknown";
    }
    return NULL;
}

static const char *read_request(struct key_request *request, int count,
                                const char *const *words)
{
    *request = (struct key_request){.days = LIMIT_KEY_DAYS_DEFAULT};
    snprintf(request->principal.project, sizeof request->principal.project, "%s",
             principal_local.project);
    for (int i = 0; i < count; i += 2) {
        const char *wrong = i + 1 < count ? read_option(request, words[i], words[i + 1])
                                          : "an option has no value";
        if (wrong != NULL)
            return wrong;
    }
    if (request->principal.name[0] == '\0')
        return "--owner is required";
    return request->principal.role == ROLE_NOBODY ? "--role is required" : NULL;
}

/* Appends to the audit trail what the host has done to a key. */
static enum status tell(struct store_tx *tx, const char *action, const char *id,
                        const struct principal *principal, struct error *error)
{
    char detail[ACCESS_KEY_DETAIL_SIZE];
    access_key_detail(detail, principal);
    const struct audit_row act = {
        .second = clock_wall_s(),
        .actor = principal_local.name,
        .key = "",
        .project = principal->project,
        .via = via_name(VIA_CLI),
        .address = "",
        .action = action,
        .object = id,
        .result = "ok",
        .code = "",
        .request = "",
        .detail = detail,
    };
    return audit_trail_append(tx, &act, error);
}

static enum status make(struct daemon_state *context, const struct key_request *request,
                        struct access_key_made *made, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = access_keys_add(context->keys, tx, request, made, error);
    if (status == ST_OK)
        status = tell(tx, "key.create", made->id, &request->principal, error);
    return store_end(tx, status, error);
}

static int create(struct daemon_state *context, int count, const char *const *words,
                  FILE *out)
{
    struct key_request request;
    struct access_key_made made;
    struct error error = {0};
    const char *wrong = read_request(&request, count, words);
    if (wrong != NULL)
        return fail(ST_INVALID, wrong, out);
    enum status status = make(context, &request, &made, &error);
    if (status != ST_OK)
        return fail(status, error.text, out);
    log_event(LOG_INFO, "key_created", "key", made.id, "owner", request.principal.name,
              "project", request.principal.project, "role",
              role_name(request.principal.role), (char *)NULL);
    fprintf(out, "%s\n", made.text);
    hash_zero(&made, sizeof made);
    return EX_OK;
}

/* --- list, revoke --- */

void key_admin_print(FILE *out, const struct access_key *key, int64_t now_ms)
{
    char expires[CLOCK_TEXT_SIZE];
    clock_render(expires, key->expire_ms);
    fprintf(out, "%s  %-7s  %s  %-15s  %s  %s\n", key->id,
            key_state(now_ms, key->expire_ms, key->revoke_ms), expires,
            role_name(key->principal.role), key->principal.project,
            key->principal.name);
}

static int list(struct daemon_state *context, FILE *out)
{
    size_t count = access_keys_count(context->keys);
    int64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < count; i++) {
        struct access_key key;
        access_keys_at(context->keys, i, &key);
        key_admin_print(out, &key, now_ms);
    }
    return EX_OK;
}

static enum status end(struct daemon_state *context, const char *id,
                       struct error *error)
{
    struct access_key key;
    struct store_tx *tx = NULL;
    if (!access_keys_find(context->keys, id, &key))
        return error_set(error, ST_NOT_FOUND, "there is no such key");
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = access_keys_revoke(context->keys, tx, id, error);
    if (status == ST_OK)
        status = tell(tx, "key.revoke", id, &key.principal, error);
    return store_end(tx, status, error);
}

static int revoke(struct daemon_state *context, const char *id, FILE *out)
{
    struct error error = {0};
    enum status status = end(context, id, &error);
    if (status != ST_OK)
        return fail(status, error.text, out);
    log_event(LOG_INFO, "key_revoked", "key", id, (char *)NULL);
    fprintf(out, "%s is revoked\n", id);
    return EX_OK;
}

int key_admin_run(struct daemon_state *context, int count, const char *const *words,
                  FILE *out)
{
    const char *verb = count > 0 ? words[0] : "";
    if (strcmp(verb, "create") == 0)
        return create(context, count - 1, words + 1, out);
    if (strcmp(verb, "list") == 0 && count == 1)
        return list(context, out);
    if (strcmp(verb, "revoke") == 0 && count == 2)
        return revoke(context, words[1], out);
    return fail(ST_INVALID, "create, list or revoke ID", out);
}
