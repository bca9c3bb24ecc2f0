#include "api/requests/key_request.h"

#include <stdio.h>
#include <string.h>

#include "api/limits.h"

static void read_name(char out[PRINCIPAL_NAME_SIZE], struct json_node node,
                      bool (*is_good)(const char *text), const char *allowed)
{
    const char *text = json_read_text(node);
    if (is_good(text))
        snprintf(out, PRINCIPAL_NAME_SIZE, "%s", text);
    else
        json_refuse(node, "must be 1 to 63 %s, the first a letter or digit", allowed);
}

static void read_owner(struct principal *principal, struct json_node node)
{
    read_name(principal->name, node, principal_name_is_good,
              "letters, digits or . _ @ + -");
    if (principal_equal(principal, &principal_local))
        json_refuse(node, "\"local\" is whoever asks without a key");
}

static void read_role(struct principal *principal, struct json_node node)
{
    if (!role_parse(&principal->role, json_read_text(node)))
        json_refuse(node, "must be analyst, data_owner, privacy_officer, operator or "
                          "auditor");
}

static void read_scopes(struct principal *principal, struct json_node node)
{
    if (!json_present(node))
        return;
    size_t count = json_read_array(node, 0, SCOPE_COUNT - 1); /* each scope once */
    for (size_t i = 0; i < count; i++) {
        enum scope scope;
        struct json_node element = json_element(&node, i);
        if (scope_parse(&scope, json_read_text(element)))
            principal->scopes |= SCOPE_BIT(scope);
        else
            json_refuse(element, "must be a scope, such as budgets:audit");
    }
}

static void read_members(struct key_request *request, struct json_node root)
{
    struct principal *principal = &request->principal;
    struct json_node days = json_member(&root, "days");
    struct json_node policy = json_member(&root, "policy");
    json_read_object(root, (const char *const[]){"owner", "project", "role", "scopes",
                                                 "days", "policy", NULL});
    read_owner(principal, json_member(&root, "owner"));
    read_name(principal->project, json_member(&root, "project"), project_name_is_good,
              "lower-case letters, digits or . _ -");
    read_role(principal, json_member(&root, "role"));
    read_scopes(principal, json_member(&root, "scopes"));
    request->days = LIMIT_KEY_DAYS_DEFAULT;
    if (json_present(days))
        request->days = json_read_count(days, 1, LIMIT_KEY_DAYS);
    if (json_present(policy))
        key_policy_read(&request->policy, policy);
}

enum status key_request_parse(struct key_request *request, struct json_text body,
                              struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct key_request read = {0};
    if (json_reader_open(&reader, &root, body, error) == ST_OK)
        read_members(&read, root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *request = read;
    return status;
}

/* A key's maker gets its secret, so a new key must not reach further than its maker,
 * scope by scope. */
static enum status check_reach(const struct principal *made,
                               const struct principal *minter, struct error *error)
{
    if (minter->via == VIA_CLI)
        return ST_OK;
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++) {
        const enum scope scope = (enum scope)i;
        const enum reach own = principal_reach(minter, scope);
        if (role_reach(made->role, scope) > own)
            return error_set_at(error, ST_FORBIDDEN, "/role",
                                "a %s reaches further with %s than this key: make the "
                                "key on the host, by epsilond key create",
                                role_name(made->role), scope_name(scope));
        if (principal_reach(made, scope) > own)
            return error_set_at(error, ST_FORBIDDEN, "/scopes",
                                "this key gives no scope that it does not have, such "
                                "as %s",
                                scope_name(scope));
    }
    return ST_OK;
}

static enum status check_kind(const struct key_request *request,
                              const struct principal *minter, struct error *error)
{
    static const uint64_t grants =
        SCOPE_BIT(SCOPE_GRANTS_PROPOSE) | SCOPE_BIT(SCOPE_GRANTS_APPROVE);
    const struct principal *made = &request->principal;
    if (key_policy_limits(&request->policy) &&
        (principal_scopes(made) & SCOPE_BIT(SCOPE_KEYS_ADMIN)) != 0)
        return error_set_at(error, ST_INVALID, "/policy",
                            "who makes keys could make one without it");
    if (minter->via == VIA_CLI)
        return ST_OK;
    if ((made->scopes & grants) != 0)
        return error_set_at(error, ST_FORBIDDEN, "/scopes",
                            "keys with grants:... are made on the host: epsilond key "
                            "create");
    if ((principal_scopes(made) & grants) != 0)
        return error_set_at(error, ST_FORBIDDEN, "/role",
                            "a %s has grants:..., and keys with it are made on the "
                            "host: epsilond key create",
                            role_name(made->role));
    if (principal_reach(minter, SCOPE_KEYS_ADMIN) != REACH_EVERYWHERE &&
        strcmp(made->project, minter->project) != 0)
        return error_set_at(error, ST_FORBIDDEN, "/project",
                            "this key makes keys of its own project only");
    return ST_OK;
}

enum status key_request_check(const struct key_request *request,
                              const struct principal *minter, struct error *error)
{
    enum status status = check_kind(request, minter, error);
    return status == ST_OK ? check_reach(&request->principal, minter, error) : status;
}

enum status key_request_check_policy(const struct key_request *request,
                                     const struct principal *changer,
                                     struct error *error)
{
    enum status status = check_kind(request, changer, error);
    if (status != ST_OK ||
        principal_reach(changer, SCOPE_KEYS_ADMIN) == REACH_EVERYWHERE)
        return status;
    return check_reach(&request->principal, changer, error);
}

bool key_scopes_parse(uint64_t *scopes, const char *text)
{
    uint64_t read = 0;
    while (*text != '\0') {
        char name[32];
        enum scope scope;
        size_t length = strcspn(text, " ,");
        if (length >= sizeof name)
            return false;
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (!scope_parse(&scope, name))
            return false;
        read |= SCOPE_BIT(scope);
        text += length;
        text += *text != '\0';
    }
    *scopes = read;
    return true;
}

void key_scopes_render(char text[KEY_SCOPES_SIZE], uint64_t scopes)
{
    text[0] = '\0';
    for (unsigned i = SCOPE_EVERYBODY + 1; i < SCOPE_COUNT; i++) {
        size_t used = strlen(text);
        if ((scopes & SCOPE_BIT(i)) != 0)
            snprintf(text + used, KEY_SCOPES_SIZE - used, "%s%s", used > 0 ? " " : "",
                     scope_name((enum scope)i));
    }
}
